package app

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Tenants manages the tenants of the host.
type Tenants struct {
	store     *store.Store
	runs      *runs.Runs
	schedules *schedule.Schedules
	accounts  *Accounts
	usage     *Usage
	files     *Files
	operator  operator
	traces    *traces.Traces // nil keeps none
}

// Operator returns the tenant that operates the host, "" for none.
func (t *Tenants) Operator() string { return string(t.operator) }

// Operates reports whether a tenant operates the host.
func (t *Tenants) Operates(tenant string) bool { return tenant == string(t.operator) }

// TenantUse is a tenant with the model tokens that it has used today.
type TenantUse struct {
	Tenant
	Used int64
}

// NewTenant is a tenant to add; without an email the owner logs in with the key.
type NewTenant struct {
	Name, Email, Password string
	TokensPerDay          int64
}

// AddedTenant is a new tenant with its owner and the text of the owner's key.
type AddedTenant struct {
	Tenant
	Owner, Key string
}

// LongestTitle bounds a name or title, in characters.
const LongestTitle = 255

// Get finds a tenant. Errors: [ErrNotFound].
func (t *Tenants) Get(ctx context.Context, id string) (Tenant, error) {
	v, err := t.store.Tenants.Get(ctx, id)
	return v, missing(err, "tenant")
}

// List returns all tenants with what they have used today.
func (t *Tenants) List(ctx context.Context) ([]TenantUse, error) {
	list, err := t.store.Tenants.List(ctx)
	if err != nil {
		return nil, err
	}
	used, err := t.usage.tenants(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]TenantUse, len(list))
	for i, v := range list {
		out[i] = TenantUse{v, used[v.ID]}
	}
	return out, nil
}

// Add adds a tenant with an owner and the owner's key, which have no limits: a principal that has
// some is refused. Errors: those of [Error].
func (t *Tenants) Add(ctx context.Context, who Principal, in NewTenant) (AddedTenant, error) {
	in.Name = strings.TrimSpace(in.Name)
	switch {
	case who.Bounded():
		return AddedTenant{}, Forbidden("a key with an expiry, a rate or a quota cannot add tenants")
	case in.Name == "" || len([]rune(in.Name)) > LongestTitle:
		return AddedTenant{}, BadArgument("name must have 1 to %d characters", LongestTitle)
	case (in.Email == "") != (in.Password == ""):
		return AddedTenant{}, BadArgument("email and password belong together")
	case in.Email == "":
		// The password is not shown: the owner logs in with the key until it is set.
		in.Email, in.Password = rand.Text()+"@localhost", rand.Text()
	}
	v, err := t.store.Tenants.Put(ctx, Tenant{Name: in.Name, TokensPerDay: in.TokensPerDay})
	if err != nil {
		return AddedTenant{}, err
	}
	owner, err := t.accounts.add(ctx, v.ID, NewUser{in.Email, in.Name, in.Password, RoleOwner})
	if err != nil {
		return AddedTenant{}, errors.Join(err, t.store.Tenants.Delete(ctx, v.ID))
	}
	first := Key{Tenant: v.ID, User: owner.ID, Name: "first", Scopes: t.operator.scopesOf(v.ID, RoleOwner)}
	_, text, err := t.store.Keys.Create(ctx, first, "")
	return AddedTenant{v, owner.ID, text}, err
}

// Limit changes how many tokens a tenant may use a day; nil leaves it as it is. Errors: those of
// [Error].
func (t *Tenants) Limit(ctx context.Context, who Principal, id string, tokensPerDay *int64) (TenantUse, error) {
	if tokensPerDay != nil && who.Bounded() {
		return TenantUse{}, Forbidden("a key with an expiry, a rate or a quota cannot change limits")
	}
	v, err := t.Get(ctx, id)
	if err == nil && tokensPerDay != nil {
		v, err = t.store.Tenants.SetTokens(ctx, v.ID, *tokensPerDay)
	}
	if err != nil {
		return TenantUse{}, err
	}
	used, err := t.usage.Callers(ctx, v.ID)
	return TenantUse{v, used[""]}, err
}

// Owner returns the user in whose name a key of a tenant acts that has lost its own.
func (t *Tenants) Owner(ctx context.Context, id string) (string, error) {
	v, err := t.Get(ctx, id)
	if err != nil {
		return "", err
	}
	return t.store.Members.Owner(ctx, v.ID)
}

// Delete stops what a tenant runs and removes all that it has. Errors: those of [Error].
func (t *Tenants) Delete(ctx context.Context, id string) error {
	if t.Operates(id) {
		return Refuse(CodeOperator, "the tenant that operates the host stays")
	}
	if _, err := t.Get(ctx, id); err != nil {
		return err
	}
	if err := t.schedules.DeleteOf(ctx, id, ""); err != nil {
		return err
	}
	f := RunFilter{Tenant: id, Status: RunActive}
	runs, _, err := t.store.Runs.List(ctx, f, Page{Documents: NoDocuments})
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := t.runs.Cancel(ctx, run.ID); err != nil {
			return err
		}
	}
	if err := t.files.box.Clear(ctx, id); err != nil {
		return err
	}
	if err := t.store.Tenants.Delete(ctx, id); err != nil || t.traces == nil {
		return err
	}
	return t.traces.DeleteTenant(ctx, id)
}
