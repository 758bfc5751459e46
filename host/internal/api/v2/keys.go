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
			about: "List the API keys of the tenant, newest first. The keys themselves are not shown.",
		}, k.list),
		handle(operation{
			method: "POST", path: "/api/v2/keys", body: api.BodyTiny, scope: admin, name: "createKey", status: created,
			about: "Create an API key that acts as the caller. Only this response shows the key. It has scopes of " +
				"the caller only, and no wider limits than the key that makes it.",
		}, k.add),
		handle(operation{
			method: "PUT", path: "/api/v2/keys/{key}", body: api.BodyTiny, scope: admin, name: "limitKey",
			about: "Update the limits of an API key. Limits that are left out do not change. The caller needs the " +
				"scopes of the key; a key cannot raise limits above its own. A key of an owner with the scope admin " +
				"is changed by owners only.",
		}, k.limit),
		handle(operation{
			method: "DELETE", path: "/api/v2/keys/{key}", body: api.BodyTiny, scope: admin, name: "deleteKey",
			about: "Revoke an API key, given its id or the key itself. The caller needs the scopes of the key, " +
				"unless it is the key. A key of an owner with the scope admin is revoked by owners only.",
		}, k.remove),
		handle(operation{
			method: "POST", path: "/api/v2/tenants/{tenant}/keys", body: api.BodyTiny, scope: host,
			name: "createTenantKey", status: created,
			about: "Create an API key for a tenant that has lost its own. It acts as an owner of the tenant. In the " +
				"tenant that operates the host, only an owner can create it.",
		}, k.addForTenant),
		handle(operation{
			method: "POST", path: token, body: api.BodyTiny, scope: admin, name: "embedToken",
			about: "Get the token with which web pages embed this canvas. It is created on first use. The caller " +
				"needs the scopes read and run, and no limits.",
		}, k.embedToken),
		handle(operation{
			method: "DELETE", path: token, body: api.BodyTiny, scope: admin, name: "deleteEmbedToken",
			about: "Revoke the token with which web pages embed this canvas.",
		}, k.removeEmbedToken),
		handle(operation{
			method: "POST", path: token + "/secret", body: api.BodyTiny, scope: admin, name: "signingSecret",
			about: "Get the secret with which a site signs the ids of its users for the chat of this canvas. It " +
				"is created on first use. Unlike the token it must stay on the server of the site. " +
				"user_signature is EXPIRES.HMAC: the time it expires, in Unix seconds and at most 7 days ahead, and " +
				"the hex HMAC-SHA256 with this secret over the id of the canvas, EXPIRES and the user id, " +
				"separated by line feeds. The caller needs the scopes read and run, and no limits.",
		}, k.signingSecret),
		handle(operation{
			method: "PUT", path: token + "/secret", body: api.BodyTiny, scope: admin, name: "replaceSigningSecret",
			about: "Replace the secret with which a site signs the ids of its users. Signatures with the old one end.",
		}, k.replaceSigningSecret),
	}
}

type keyView struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Hint    string     `json:"hint" jsonschema:"the first characters of the key"`
	User    string     `json:"user" jsonschema:"id of the user it acts as"`
	Scopes  []string   `json:"scopes" jsonschema:"what it may do, of the table of scopes; empty means nothing"`
	Rate    int64      `json:"rate" jsonschema:"requests per minute; 0 means the limit of the host"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"`
	Project *string    `json:"project,omitempty" jsonschema:"id of the only project that it uses, empty for the default project; absent for all of its user"`
	Key     string     `json:"key,omitempty" jsonschema:"the key itself; only in the response that creates it"`

	TokensPerDay int64 `json:"tokens_per_day" jsonschema:"model tokens per day (UTC); 0 means the limit of the host"`
	TokensToday  int64 `json:"tokens_today" jsonschema:"model tokens used today"`
}

type keyInput struct {
	Name    string     `json:"name,omitempty"`
	Scopes  []string   `json:"scopes,omitempty" jsonschema:"what it may do, of the table of scopes and of the caller's; if absent, read and run; an empty list is refused"`
	Rate    int64      `json:"rate,omitempty" jsonschema:"requests per minute; 0 means the limit of the key that makes it, or of the host"`
	Project *string    `json:"project,omitempty" jsonschema:"id of the only project that it may use, empty for the default project; if absent, all of the caller"`
	Expires *time.Time `json:"expires,omitempty" jsonschema:"if absent, when the key that makes it expires, or never"`

	TokensPerDay int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens per day (UTC); 0 means the limit of the key that makes it, or of the host"`
}

type embedToken struct {
	Token string `json:"token"`
}

type signingSecret struct {
	Secret string `json:"secret"`
}

type keyLimits struct {
	Rate         *int64 `json:"rate,omitempty" jsonschema:"requests per minute; 0 means the limit of the host"`
	TokensPerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"model tokens per day (UTC); 0 means the limit of the host"`
}

func keyViewOf(k app.Key, text string, used int64) keyView {
	out := keyView{
		ID: k.ID, Name: k.Name, Hint: k.Hint, User: k.User, Scopes: k.Scopes, Rate: k.Rate,
		Created: timeOf(k.CreateTime), Expires: timeOrNil(k.ExpireTime), Key: text,
		TokensPerDay: k.TokensPerDay, TokensToday: used, Project: k.Project,
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
	key, text, err := k.Keys.Create(ctx, in.Who, in.Body.key())
	return keyViewOf(key, text, 0), err
}

type addTenantKey struct {
	Who    app.Principal
	Tenant string `path:"tenant"`
	Body   keyInput
}

func (k keys) addForTenant(ctx context.Context, in addTenantKey) (keyView, error) {
	owner, err := k.Tenants.Owner(ctx, in.Tenant)
	if err != nil {
		return keyView{}, err
	}
	key, text, err := k.Keys.CreateFor(ctx, in.Who, in.Tenant, owner, in.Body.key())
	return keyViewOf(key, text, 0), err
}

// key is the key that a request describes.
func (in *keyInput) key() app.NewKey {
	out := app.NewKey{
		Name: in.Name, Scopes: in.Scopes, Rate: in.Rate, TokensPerDay: in.TokensPerDay, Expires: in.Expires,
		Project: in.Project,
	}
	if out.Scopes == nil {
		out.Scopes = app.KeyScopes
	}
	return out
}

type limitKey struct {
	Who  app.Principal
	ID   string `path:"key"`
	Body keyLimits
}

func (k keys) limit(ctx context.Context, in limitKey) (keyView, error) {
	key, used, err := k.Keys.Limit(ctx, in.Who, in.ID, app.KeyLimits(in.Body))
	return keyViewOf(key, "", used), err
}

type keyByID struct {
	Who app.Principal
	ID  string `path:"key"`
}

func (k keys) remove(ctx context.Context, in keyByID) (empty, error) {
	return empty{}, k.Keys.Delete(ctx, in.Who, in.ID)
}

func (k keys) embedToken(ctx context.Context, in canvasByID) (embedToken, error) {
	v, err := k.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return embedToken{}, err
	}
	text, err := k.Keys.EmbedToken(ctx, in.Who, v)
	return embedToken{text}, err
}

func (k keys) removeEmbedToken(ctx context.Context, in canvasByID) (empty, error) {
	v, err := k.Canvases.Get(ctx, in.Who, in.ID)
	if err == nil {
		err = k.Keys.DeleteEmbedToken(ctx, v)
	}
	return empty{}, err
}

func (k keys) signingSecret(ctx context.Context, in canvasByID) (signingSecret, error) {
	return k.secretOf(ctx, in, false)
}

func (k keys) replaceSigningSecret(ctx context.Context, in canvasByID) (signingSecret, error) {
	return k.secretOf(ctx, in, true)
}

func (k keys) secretOf(ctx context.Context, in canvasByID, replaces bool) (signingSecret, error) {
	v, err := k.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return signingSecret{}, err
	}
	text, err := k.Keys.SigningSecret(ctx, in.Who, v, replaces)
	return signingSecret{text}, err
}
