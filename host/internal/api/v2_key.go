package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

type v2Key struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Hint    string     `json:"hint" jsonschema:"its first characters"`
	User    string     `json:"user" jsonschema:"in whose name it acts"`
	Scopes  []string   `json:"scopes" jsonschema:"what it may do: read, run, edit, admin, host, metrics; none means everything"`
	Rate    int64      `json:"rate" jsonschema:"requests per minute; 0 is the host's own limit"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"`
	Key     string     `json:"key,omitempty" jsonschema:"the key itself, in the answer that makes it"`

	TokensPerDay int64 `json:"tokens_per_day" jsonschema:"model tokens on one day, UTC; 0 is the host's own limit"`
	TokensToday  int64 `json:"tokens_today" jsonschema:"model tokens that it has used today"`
}

type v2Keys struct {
	Items []v2Key `json:"items"`
}

type v2KeyInput struct {
	Name    string     `json:"name,omitempty"`
	Scopes  []string   `json:"scopes,omitempty" jsonschema:"what it may do: read, run, edit, admin, host, metrics; none means what the caller may do"`
	Rate    int64      `json:"rate,omitempty" jsonschema:"requests per minute; 0 is the host's own limit"`
	Expires *time.Time `json:"expires,omitempty"`

	TokensPerDay int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC; 0 is the host's own limit"`
}

type v2EmbedToken struct {
	Token string `json:"token"`
}

func v2KeyOf(k store.Key, text string, used int64) v2Key {
	out := v2Key{
		ID: k.ID, Name: k.Name, Hint: k.Hint, User: k.User, Scopes: k.Scopes, Rate: k.Rate, Created: time.UnixMilli(k.CreateTime).UTC(), Key: text,
		TokensPerDay: k.TokensPerDay, TokensToday: used,
	}
	if out.Scopes == nil {
		out.Scopes = []string{}
	}
	if k.ExpireTime > 0 {
		at := time.UnixMilli(k.ExpireTime).UTC()
		out.Expires = &at
	}
	return out
}

func (a *API) v2ListKeys(c *call) error {
	keys, err := a.cfg.Store.Keys(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	used, err := a.usedToday(c, c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Keys{Items: make([]v2Key, len(keys))}
	for i, k := range keys {
		out.Items[i] = v2KeyOf(k, "", used[k.Caller()])
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2CreateKey(c *call) error {
	return c.newKey(c.who.tenant, c.who.user, c.newScopes)
}

// mostRate is the highest rate a key can be given, in requests per minute.
const mostRate = 1_000_000

func checkRate(perMinute int64) error {
	if perMinute < 0 || perMinute > mostRate {
		return badArgument("rate must be between 0 and %d requests per minute", mostRate)
	}
	return nil
}

// newKey makes the key of a body and shows it.
func (c *call) newKey(tenant, user string, scopes func() ([]string, error)) error {
	var in v2KeyInput
	if err := c.decode(&in); err != nil {
		return err
	}
	k := store.Key{Tenant: tenant, User: user, Name: in.Name, Rate: in.Rate, TokensPerDay: in.TokensPerDay}
	if err := checkRate(in.Rate); err != nil {
		return err
	}
	if in.Expires != nil {
		if in.Expires.Before(time.Now()) {
			return badArgument("expires must lie ahead")
		}
		k.ExpireTime = in.Expires.UnixMilli()
	}
	var err error
	if k.Scopes, err = scopes(); err != nil {
		return err
	}
	k, text, err := c.a.cfg.Store.CreateKey(c.ctx(), k, "")
	if err != nil {
		return err
	}
	c.json(http.StatusCreated, v2KeyOf(k, text, 0))
	return nil
}

func (a *API) v2DeleteKey(c *call) error {
	err := a.cfg.Store.DeleteKey(c.ctx(), c.who.tenant, c.params["key"])
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("key")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) v2Token(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	b, err := a.cfg.Store.BetaFor(c.ctx(), c.who.tenant, v.ID)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2EmbedToken{b.Text})
	return nil
}

func (a *API) v2DeleteToken(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	err = a.cfg.Store.DeleteBeta(c.ctx(), c.who.tenant, v.ID)
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("token")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
