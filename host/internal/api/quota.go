package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/store"
)

// codeUsedUp says that no model tokens are left for today, in the word that
// OpenAI's clients know.
const codeUsedUp = "insufficient_quota"

// usedUp is the answer to who has no model tokens left, and says when there are
// some again; nil for other errors.
func usedUp(err error) error {
	var used *quota.UsedUp
	if !errors.As(err, &used) {
		return nil
	}
	wait := tooMany(used.After, used.Error())
	return errors.Join(&status{wait.status, codeUsedUp, wait.message}, wait)
}

// v2Tokens is what somebody may use of models and has used today.
type v2Tokens struct {
	PerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"the quota; missing means none"`
	Today  int64  `json:"tokens_today" jsonschema:"prompts and answers together, as providers report them"`
}

type v2Usage struct {
	Caller   v2Tokens  `json:"caller" jsonschema:"the key or login that asks"`
	Tenant   v2Tokens  `json:"tenant" jsonschema:"all callers of the tenant together"`
	ResetsAt time.Time `json:"resets_at" jsonschema:"when the next day begins, UTC"`
}

// v2Usage answers what the caller may still use.
func (a *API) v2Usage(c *call) error {
	var out v2Usage
	for _, of := range []struct {
		caller string
		to     *v2Tokens
	}{{c.who.rateID, &out.Caller}, {"", &out.Tenant}} {
		state, next, err := a.cfg.Quota.State(c.ctx(), c.who.tenant, of.caller)
		if err != nil {
			return err
		}
		out.ResetsAt, of.to.Today = next, state.Used
		if state.Quota > 0 {
			of.to.PerDay = &state.Quota
		}
	}
	c.json(http.StatusOK, out)
	return nil
}

// usedToday is what the callers of a tenant have used, after what this host has
// counted is written.
func (a *API) usedToday(c *call, tenant string) (map[string]int64, error) {
	if err := a.cfg.Quota.Flush(); err != nil {
		return nil, err
	}
	return a.cfg.Store.CallerTokens(c.ctx(), tenant, a.cfg.Quota.Today())
}

type v2KeyLimits struct {
	Rate         *int64 `json:"rate,omitempty" jsonschema:"requests per minute; 0 is the host's own limit"`
	TokensPerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC; 0 is the host's own limit"`
}

// v2LimitKey changes what a key may use. It counts within seconds.
func (a *API) v2LimitKey(c *call) error {
	var in v2KeyLimits
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Rate != nil {
		if err := checkRate(*in.Rate); err != nil {
			return err
		}
	}
	k, err := a.cfg.Store.SetKeyLimits(c.ctx(), c.who.tenant, c.params["key"], in.Rate, in.TokensPerDay)
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("key")
	}
	if err != nil {
		return err
	}
	used, err := a.usedToday(c, c.who.tenant)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2KeyOf(k, "", used[k.Caller()]))
	return nil
}

type v2TenantLimits struct {
	TokensPerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC, of all its keys together; 0 means any"`
}

// v2LimitTenant changes what a tenant may use.
func (a *API) v2LimitTenant(c *call) error {
	var in v2TenantLimits
	if err := c.decode(&in); err != nil {
		return err
	}
	t, err := c.tenant()
	if err == nil && in.TokensPerDay != nil {
		t, err = a.cfg.Store.SetTenantTokens(c.ctx(), t.ID, *in.TokensPerDay)
	}
	if err != nil {
		return err
	}
	used, err := a.usedToday(c, t.ID)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2TenantOf(t, used[""]))
	return nil
}
