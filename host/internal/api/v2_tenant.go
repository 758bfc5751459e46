package api

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

type v2Tenant struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`

	TokensPerDay int64 `json:"tokens_per_day" jsonschema:"model tokens on one day, UTC, of all its keys together; 0 means any"`
	TokensToday  int64 `json:"tokens_today" jsonschema:"model tokens that it has used today"`
}

type v2Tenants struct {
	Items []v2Tenant `json:"items"`
}

type v2TenantInput struct {
	Name     string `json:"name"`
	Email    string `json:"email,omitempty" jsonschema:"of the owner, to log in with; without one no user can log in until one is added with a key"`
	Password string `json:"password,omitempty" jsonschema:"of the owner, 8 characters at least"`

	TokensPerDay int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC, of all its keys together; 0 means any"`
}

type v2NewTenant struct {
	v2Tenant
	Owner string `json:"owner" jsonschema:"id of the owner"`
	Key   string `json:"key" jsonschema:"the owner's key, shown once"`
}

func v2TenantOf(t store.Tenant, used int64) v2Tenant {
	return v2Tenant{t.ID, t.Name, time.UnixMilli(t.CreateTime).UTC(), t.TokensPerDay, used}
}

func (a *API) v2ListTenants(c *call) error {
	list, err := a.cfg.Store.Tenants(c.ctx())
	if err != nil {
		return err
	}
	if err := a.cfg.Quota.Flush(); err != nil {
		return err
	}
	used, err := a.cfg.Store.TenantTokens(c.ctx(), a.cfg.Quota.Today())
	if err != nil {
		return err
	}
	out := v2Tenants{Items: make([]v2Tenant, len(list))}
	for i, t := range list {
		out.Items[i] = v2TenantOf(t, used[t.ID])
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2CreateTenant(c *call) error {
	var in v2TenantInput
	if err := c.decode(&in); err != nil {
		return err
	}
	in.Name = strings.TrimSpace(in.Name)
	switch {
	case in.Name == "" || len([]rune(in.Name)) > longestTitle:
		return badArgument("name must have 1 to %d characters", longestTitle)
	case (in.Email == "") != (in.Password == ""):
		return badArgument("email and password belong together")
	case in.Email == "":
		// Nobody knows this password: the owner logs in with the key until it is set.
		in.Email, in.Password = rand.Text()+"@localhost", rand.Text()
	}
	t, err := a.cfg.Store.PutTenant(c.ctx(), store.Tenant{Name: in.Name, TokensPerDay: in.TokensPerDay})
	if err != nil {
		return err
	}
	owner, err := c.newUser(t.ID, roleOwner, in.Email, in.Name, in.Password)
	if err != nil {
		return errors.Join(err, a.cfg.Store.DeleteTenant(c.ctx(), t.ID))
	}
	_, text, err := a.cfg.Store.CreateKey(c.ctx(), store.Key{Tenant: t.ID, User: owner.ID, Name: "first"}, "")
	if err != nil {
		return err
	}
	c.json(http.StatusCreated, v2NewTenant{v2TenantOf(t, 0), owner.ID, text})
	return nil
}

// v2DeleteTenant stops what the tenant runs and removes all it has.
func (a *API) v2DeleteTenant(c *call) error {
	id := c.params["tenant"]
	if id == a.cfg.Operator {
		return &status{http.StatusConflict, "operator", "the tenant that operates the host stays"}
	}
	if _, err := c.tenant(); err != nil {
		return err
	}
	if err := a.cfg.Runs.DeleteSchedules(c.ctx(), id, ""); err != nil {
		return err
	}
	runs, _, err := a.cfg.Store.Runs(c.ctx(), store.RunFilter{Tenant: id, Status: store.RunActive}, store.Page{Documents: store.NoDocuments})
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := a.cfg.Runs.Cancel(c.ctx(), run.ID); err != nil {
			return err
		}
	}
	if err := a.box().Clear(c.ctx(), id); err != nil {
		return err
	}
	if err := a.cfg.Store.DeleteTenant(c.ctx(), id); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *call) tenant() (store.Tenant, error) {
	t, err := c.a.cfg.Store.Tenant(c.ctx(), c.params["tenant"])
	if errors.Is(err, store.ErrNotFound) {
		err = notFoundV2("tenant")
	}
	return t, err
}

func (a *API) v2CreateTenantKey(c *call) error {
	t, err := c.tenant()
	if err != nil {
		return err
	}
	members, err := a.cfg.Store.Members(c.ctx(), t.ID)
	if err != nil {
		return err
	}
	owner := t.ID // a tenant of the original is its owner's user
	for _, m := range members {
		if m.Role == roleOwner {
			owner = m.User
		}
	}
	return c.newKey(t.ID, owner, c.knownScopes)
}
