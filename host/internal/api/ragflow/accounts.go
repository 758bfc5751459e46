package ragflow

import (
	"cmp"
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// accounts are the logins of the original's pages and of ours.
type accounts struct{ *face }

func (a accounts) routes() []api.Route {
	const read = app.ScopeRead
	return []api.Route{
		{Method: "POST", Path: "/v1/user/login", Body: api.BodyTiny, Need: api.NeedNone, Handler: a.login},
		{Method: "POST", Path: "/api/v1/auth/login", Body: api.BodyTiny, Need: api.NeedNone, Handler: a.login},
		{Method: "GET POST", Path: "/v1/user/logout", Body: api.BodyTiny, Alters: true, Handler: a.logout},
		{Method: "POST", Path: "/api/v1/auth/logout", Body: api.BodyTiny, Handler: a.logout},
		{Method: "GET", Path: "/v1/user/info", Body: api.BodyNone, Scope: read, Handler: a.user},
		{Method: "GET", Path: "/api/v1/users/me", Body: api.BodyNone, Scope: read, Handler: a.user},
		{Method: "GET", Path: "/v1/user/tenant_info", Body: api.BodyNone, Scope: read, Handler: a.tenant},
	}
}

// login checks a password and returns the login: in the Authorization header for pages of the
// original, and as a cookie with its CSRF text for ours.
//
// The password may come as it is or in base64. The original's pages encrypt it with a key that its
// server keeps, which cannot be read here. An API key that is not limited is accepted in its place,
// so that a host with one user needs no password.
func (a accounts) login(_ context.Context, r *api.Request) (api.Response, error) {
	email, password := r.Body.Text("email"), r.Body.Text("password")
	if err := cmp.Or(r.Body.Valid(), r.CheckLoginSite()); err != nil {
		return nil, err
	}
	user, err := a.Login.Authenticate(r, email, password, false)
	if errors.Is(err, app.ErrNotFound) {
		return nil, api.Refused(api.KindBadCredentials, "Email and password do not match!")
	}
	if err != nil {
		return nil, err
	}
	v, err := a.Login.Begin(r, user, r.SameOrigin())
	return ok(userRow(user).With("csrf", engine.String(v.CSRF)), err)
}

func userRow(u app.User) engine.Value {
	b := engine.NewObject(10)
	b.Set("id", engine.String(u.ID)).Set("email", engine.String(u.Email)).Set("nickname", engine.String(u.Nickname))
	b.Set("avatar", api.OrNull(u.Avatar)).Set("is_superuser", engine.Bool(false))
	api.SetTimes(b, u.CreateTime, u.UpdateTime)
	return b.Value()
}

func (a accounts) logout(_ context.Context, r *api.Request) (api.Response, error) {
	return done(a.Login.End(r))
}

func (a accounts) user(ctx context.Context, r *api.Request) (api.Response, error) {
	u, err := a.Services.Accounts.User(ctx, r.Who.User)
	if errors.Is(err, app.ErrNotFound) {
		u, err = app.User{ID: r.Who.User, Nickname: r.Who.User}, nil
	}
	return ok(userRow(u), err)
}

// tenant names the models that are used when a canvas names none.
func (a accounts) tenant(ctx context.Context, r *api.Request) (api.Response, error) {
	name := r.Who.Tenant
	if t, err := a.Services.Tenants.Get(ctx, r.Who.Tenant); err == nil {
		name = t.Name
	}
	choice, err := a.Services.Models.Choice(ctx, r.Who.Tenant)
	return ok(engine.Object("tenant_id", r.Who.Tenant, "name", name, "role", "owner",
		"llm_id", choice.Default, "embd_id", choice.Embedding, "rerank_id", "", "asr_id", choice.Transcription,
		"img2txt_id", "", "tts_id", choice.Speech), err)
}
