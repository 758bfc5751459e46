package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// keys are API keys, and the tokens with which pages embed canvases.
type keys struct{ *app.Services }

func (k keys) operations() []operation {
	const admin, host = app.ScopeAdmin, app.ScopeHost
	const token = "/api/v2/canvases/{id}/token"
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/keys", body: api.BodyNone, scope: admin, name: "listKeys",
			about: "API keys of the caller's tenant, newest first. What they are is shown only when they are made.",
		}, k.list),
		handle(operation{
			method: "POST", path: "/api/v2/keys", body: api.BodyTiny, scope: admin, name: "createKey", status: created,
			about: "Makes an API key. It is shown in this answer and never again.",
		}, k.add),
		handle(operation{
			method: "PUT", path: "/api/v2/keys/{key}", body: api.BodyTiny, scope: admin, name: "limitKey",
			about: "Changes what a key, named by its id, may use. Limits that are left out stay.",
		}, k.limit),
		handle(operation{
			method: "DELETE", path: "/api/v2/keys/{key}", body: api.BodyTiny, scope: admin, name: "deleteKey",
			about: "Revokes an API key, by its id or by itself.",
		}, k.remove),
		handle(operation{
			method: "POST", path: "/api/v2/tenants/{tenant}/keys", body: api.BodyTiny, scope: host,
			name: "createTenantKey", status: created,
			about: "Makes a key for a tenant that has lost its own. For the host's operator.",
		}, k.addForTenant),
		handle(operation{
			method: "POST", path: token, body: api.BodyTiny, scope: admin, name: "embedToken",
			about: "The token with which a page embeds this canvas, made when there is none.",
		}, k.embedToken),
		handle(operation{
			method: "DELETE", path: token, body: api.BodyTiny, scope: admin, name: "deleteEmbedToken",
			about: "Ends the token with which pages embed this canvas.",
		}, k.removeEmbedToken),
	}
}

type keyView struct {
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

type keyInput struct {
	Name    string     `json:"name,omitempty"`
	Scopes  []string   `json:"scopes,omitempty" jsonschema:"what it may do: read, run, edit, admin, host, metrics; none means what the caller may do"`
	Rate    int64      `json:"rate,omitempty" jsonschema:"requests per minute; 0 is the host's own limit"`
	Expires *time.Time `json:"expires,omitempty"`

	TokensPerDay int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC; 0 is the host's own limit"`
}

type embedToken struct {
	Token string `json:"token"`
}

type keyLimits struct {
	Rate         *int64 `json:"rate,omitempty" jsonschema:"requests per minute; 0 is the host's own limit"`
	TokensPerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens on one day, UTC; 0 is the host's own limit"`
}

func keyViewOf(k app.Key, text string, used int64) keyView {
	out := keyView{
		ID: k.ID, Name: k.Name, Hint: k.Hint, User: k.User, Scopes: k.Scopes, Rate: k.Rate,
		Created: timeOf(k.CreateTime), Expires: timeOrNil(k.ExpireTime), Key: text,
		TokensPerDay: k.TokensPerDay, TokensToday: used,
	}
	if out.Scopes == nil {
		out.Scopes = []string{}
	}
	return out
}

func (k keys) list(ctx context.Context, in byTenant) (list[keyView], error) {
	all, err := k.Keys.List(ctx, in.Who.Tenant)
	if err != nil {
		return list[keyView]{}, err
	}
	used, err := k.Usage.Callers(ctx, in.Who.Tenant)
	out := list[keyView]{Items: make([]keyView, len(all))}
	for i, key := range all {
		out.Items[i] = keyViewOf(key, "", used[key.Caller()])
	}
	return out, err
}

type addKey struct {
	Who  app.Principal
	Body keyInput
}

func (k keys) add(ctx context.Context, in addKey) (keyView, error) {
	scopes, err := app.GrantScopes(in.Who, in.Body.Scopes)
	if err != nil {
		return keyView{}, err
	}
	return k.create(ctx, in.Who.Tenant, in.Who.User, scopes, in.Body)
}

type addTenantKey struct {
	Tenant string `path:"tenant"`
	Body   keyInput
}

func (k keys) addForTenant(ctx context.Context, in addTenantKey) (keyView, error) {
	owner, err := k.Tenants.Owner(ctx, in.Tenant)
	if err == nil {
		err = app.CheckScopes(in.Body.Scopes)
	}
	if err != nil {
		return keyView{}, err
	}
	return k.create(ctx, in.Tenant, owner, in.Body.Scopes, in.Body)
}

// create makes a key and shows it.
func (k keys) create(ctx context.Context, tenant, user string, scopes []string, in keyInput) (keyView, error) {
	key, text, err := k.Keys.Create(ctx, app.NewKey{
		Tenant: tenant, User: user, Name: in.Name, Scopes: scopes, Rate: in.Rate, TokensPerDay: in.TokensPerDay,
		Expires: in.Expires,
	})
	return keyViewOf(key, text, 0), err
}

type limitKey struct {
	Who  app.Principal
	ID   string `path:"key"`
	Body keyLimits
}

func (k keys) limit(ctx context.Context, in limitKey) (keyView, error) {
	key, used, err := k.Keys.Limit(ctx, in.Who.Tenant, in.ID, app.KeyLimits(in.Body))
	return keyViewOf(key, "", used), err
}

type keyByID struct {
	Who app.Principal
	ID  string `path:"key"`
}

func (k keys) remove(ctx context.Context, in keyByID) (empty, error) {
	return empty{}, k.Keys.Delete(ctx, in.Who.Tenant, in.ID)
}

func (k keys) embedToken(ctx context.Context, in canvasByID) (embedToken, error) {
	v, err := k.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return embedToken{}, err
	}
	text, err := k.Keys.EmbedToken(ctx, in.Who.Tenant, v.ID)
	return embedToken{text}, err
}

func (k keys) removeEmbedToken(ctx context.Context, in canvasByID) (empty, error) {
	v, err := k.Canvases.Get(ctx, in.Who, in.ID)
	if err == nil {
		err = k.Keys.DeleteEmbedToken(ctx, in.Who.Tenant, v.ID)
	}
	return empty{}, err
}
