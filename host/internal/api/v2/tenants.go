package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// tenants serves the operator of the host.
type tenants struct{ *app.Services }

func (t tenants) operations() []operation {
	const host = app.ScopeHost
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/tenants", body: api.BodyNone, scope: host, name: "listTenants",
			about: "List all tenants.",
		}, t.list),
		handle(operation{
			method: "POST", path: "/api/v2/tenants", body: api.BodyTiny, scope: host, name: "createTenant", status: created,
			about: "Create a tenant with its owner and a key, which only this response shows. Needs the host " +
				"scope, and no limits of the caller.",
		}, t.add),
		handle(operation{
			method: "PUT", path: "/api/v2/tenants/{tenant}", body: api.BodyTiny, scope: host, name: "limitTenant",
			about: "Update the limits of a tenant.",
		}, t.limit),
		handle(operation{
			method: "DELETE", path: "/api/v2/tenants/{tenant}", body: api.BodyTiny, scope: host, name: "deleteTenant",
			about: "Delete a tenant with all its data.",
		}, t.remove),
	}
}

type tenantView struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`

	TokensPerDay int64 `json:"tokens_per_day" jsonschema:"model tokens per day (UTC) of all its keys; 0 means no limit"`
	TokensToday  int64 `json:"tokens_today" jsonschema:"model tokens used today"`
}

type tenantInput struct {
	Name     string `json:"name"`
	Email    string `json:"email,omitempty" jsonschema:"email of the owner, for logging in; without it, no user can log in until one is created"`
	Password string `json:"password,omitempty" jsonschema:"password of the owner, at least 8 characters"`

	TokensPerDay int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens per day (UTC) of all its keys; 0 means no limit"`
}

type newTenant struct {
	tenantView
	Owner string `json:"owner" jsonschema:"id of the owner"`
	Key   string `json:"key" jsonschema:"API key of the owner, shown only here"`
}

type tenantLimits struct {
	TokensPerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens per day (UTC) of all its keys; 0 means no limit"`
}

func tenantViewOf(t app.TenantUse) tenantView {
	return tenantView{t.ID, t.Name, timeOf(t.CreateTime), t.TokensPerDay, t.Used}
}

func (t tenants) list(ctx context.Context, _ struct{}) (list[tenantView], error) {
	all, err := t.Tenants.List(ctx)
	out := list[tenantView]{Items: make([]tenantView, len(all))}
	for i, v := range all {
		out.Items[i] = tenantViewOf(v)
	}
	return out, err
}

type addTenant struct {
	Who  app.Principal
	Body tenantInput
}

func (t tenants) add(ctx context.Context, in addTenant) (newTenant, error) {
	v, err := t.Tenants.Add(ctx, in.Who, app.NewTenant(in.Body))
	return newTenant{tenantViewOf(app.TenantUse{Tenant: v.Tenant}), v.Owner, v.Key}, err
}

type limitTenant struct {
	Who  app.Principal
	ID   string `path:"tenant"`
	Body tenantLimits
}

func (t tenants) limit(ctx context.Context, in limitTenant) (tenantView, error) {
	v, err := t.Tenants.Limit(ctx, in.Who, in.ID, in.Body.TokensPerDay)
	return tenantViewOf(v), err
}

type tenantByID struct {
	ID string `path:"tenant"`
}

func (t tenants) remove(ctx context.Context, in tenantByID) (empty, error) {
	return empty{}, t.Tenants.Delete(ctx, in.ID)
}
