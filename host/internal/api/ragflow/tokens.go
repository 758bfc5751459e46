package ragflow

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// tokens are API keys, which RAGFlow calls so, and the tokens of embedded pages.
type tokens struct{ *face }

func (t tokens) routes() []api.Route {
	const admin, read = app.ScopeAdmin, app.ScopeRead
	return []api.Route{
		{Method: "POST", Path: "/v1/system/new_token", Body: api.BodyTiny, Scope: admin, Handler: t.add},
		{Method: "POST", Path: "/api/v1/system/tokens", Body: api.BodyTiny, Scope: admin, Handler: t.add},
		{Method: "GET", Path: "/v1/system/token_list", Body: api.BodyNone, Scope: admin, Handler: t.list},
		{Method: "GET", Path: "/api/v1/system/tokens", Body: api.BodyNone, Scope: admin, Handler: t.list},
		{Method: "DELETE", Path: "/v1/system/token/{token}", Body: api.BodyTiny, Scope: admin, Handler: t.remove},
		{Method: "DELETE", Path: "/api/v1/system/tokens/{token}", Body: api.BodyTiny, Scope: admin, Handler: t.remove},
		{Method: "POST", Path: "/v1/api/new_token", Body: api.BodyTiny, Scope: admin, Handler: t.addForCanvas},
		{Method: "GET", Path: "/v1/api/token_list", Body: api.BodyNone, Scope: admin, Handler: t.listForCanvas},
		{Method: "POST", Path: "/v1/api/rm", Body: api.BodySmall, Scope: admin, Handler: t.removeSome},
		{Method: "GET", Path: "/v1/api/stats", Body: api.BodyNone, Scope: read, Handler: t.stats},
		{Method: "GET", Path: "/api/v1/system/stats", Body: api.BodyNone, Scope: read, Handler: t.stats},
	}
}

// tokenRow is a key as it is listed. The key's text is known only when it is made; later its first
// characters and its id stand for it.
func tokenRow(k app.Key, text, beta string) *engine.ObjectBuilder {
	if text == "" {
		text = k.Hint + "..."
	}
	b := engine.NewObject(12)
	b.Set("id", engine.String(k.ID)).Set("tenant_id", engine.String(k.Tenant)).Set("token", engine.String(text))
	b.Set("beta", api.OrNull(beta)).Set("name", engine.String(k.Name))
	b.Set("create_time", engine.Int(k.CreateTime)).Set("create_date", api.HTTPDate(k.CreateTime))
	return b.Set("update_time", engine.Null).Set("update_date", engine.Null)
}

// betaOf returns the token of embedded pages of a canvas, or of all for none; "" for a key that may
// not have it.
func betaOf(ctx context.Context, keys *app.Keys, who app.Principal, of app.Canvas) (string, error) {
	switch {
	case !keys.MayEmbed(who):
		return "", nil
	case of.ID == "":
		return keys.EmbedTokenForAll(ctx, who)
	}
	return keys.EmbedToken(ctx, who, of)
}

func (t tokens) add(ctx context.Context, r *api.Request) (api.Response, error) {
	in := app.NewKey{Name: r.Body.Text("name"), Scopes: app.RAGFlowScopes}
	if !r.Body.Get("scopes").IsNull() {
		in.Scopes = r.Body.Texts("scopes")
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	k, text, err := t.Services.Keys.Create(ctx, r.Who, in)
	if err != nil {
		return nil, err
	}
	beta, err := betaOf(ctx, t.Services.Keys, r.Who, app.Canvas{})
	return ok(tokenRow(k, text, beta).Value(), err)
}

func (t tokens) list(ctx context.Context, r *api.Request) (api.Response, error) {
	keys, err := t.Services.Keys.List(ctx, r.Who.Tenant)
	if err != nil {
		return nil, err
	}
	beta, err := betaOf(ctx, t.Services.Keys, r.Who, app.Canvas{})
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(keys))
	for i, k := range keys {
		rows[i] = tokenRow(k, "", beta).Value()
	}
	return envelope.OK(engine.List(rows...)), nil
}

func (t tokens) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	return done(t.Services.Keys.DeleteAny(ctx, r.Who, r.Params["token"]))
}

// addForCanvas makes the token that embeds one canvas.
func (t tokens) addForCanvas(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Body.Text("canvas_id")
	if id == "" {
		id = r.Body.Text("dialog_id")
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	var canvas app.Canvas
	if id != "" {
		var err error
		if canvas, err = t.canvas(ctx, r, id, api.Failed(api.KindNotFound, api.NoCanvas)); err != nil {
			return nil, err
		}
	}
	k, text, err := t.Services.Keys.Create(ctx, r.Who, app.NewKey{Name: id, Scopes: app.RAGFlowScopes})
	if err != nil {
		return nil, err
	}
	b := tokenRow(k, text, "").Set("dialog_id", api.OrNull(id)).Set("source", engine.String(app.SourceAgent))
	if id != "" {
		beta, err := betaOf(ctx, t.Services.Keys, r.Who, canvas)
		if err != nil {
			return nil, err
		}
		b.Set("beta", api.OrNull(beta))
	}
	return envelope.OK(b.Value()), nil
}

func (t tokens) listForCanvas(ctx context.Context, r *api.Request) (api.Response, error) {
	if r.Query.Get("canvas_id") == "" && r.Query.Get("dialog_id") == "" {
		return nil, api.Lacking([]string{"dialog_id"})
	}
	return t.list(ctx, r)
}

func (t tokens) removeSome(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("tokens", "tenant_id"); err != nil {
		return nil, err
	}
	list := r.Body.Texts("tokens")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	for _, one := range list {
		if err := t.Services.Keys.DeleteAny(ctx, r.Who, one); err != nil {
			return nil, err
		}
	}
	return done(nil)
}

// stats counts sessions, turns and tokens by day: {pv, uv, speed, tokens, round, thumb_up}, lists
// of [day, value], of the last seven days or of those from from_date to to_date.
func (t tokens) stats(ctx context.Context, r *api.Request) (api.Response, error) {
	week := time.Now().UTC().AddDate(0, 0, -7).Truncate(24 * time.Hour)
	f := app.SessionFilter{Canvas: r.Query.Get("canvas_id"), From: week.UnixMilli()}
	if err := dates(r.Query, &f); err != nil {
		return nil, err
	}
	days, err := t.Services.Sessions.Days(ctx, r.Who, f)
	if err != nil {
		return nil, err
	}
	column := func(of func(app.SessionDay) float64) engine.Value {
		rows := make([]engine.Value, len(days))
		for i, d := range days {
			rows[i] = engine.List(engine.String(d.Day.Format(time.DateOnly)), engine.Float(of(d)))
		}
		return engine.List(rows...)
	}
	return envelope.OK(engine.Object(
		"pv", column(func(d app.SessionDay) float64 { return float64(d.Sessions) }),
		"uv", column(func(d app.SessionDay) float64 { return float64(d.Users) }),
		"speed", column(tokensPerSecond),
		"tokens", column(func(d app.SessionDay) float64 { return float64(d.Tokens) }),
		"round", column(func(d app.SessionDay) float64 { return float64(d.Rounds) }),
		"thumb_up", column(func(d app.SessionDay) float64 { return float64(d.ThumbUp) }))), nil
}

// tokensPerSecond is 0 for a day whose sessions took no time.
func tokensPerSecond(d app.SessionDay) float64 {
	if d.TimedMilliseconds == 0 {
		return 0
	}
	return float64(d.TimedTokens) / (float64(d.TimedMilliseconds) / 1000)
}
