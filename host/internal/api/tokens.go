package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

var tokenRoutes = []route{
	{method: "POST", path: "/v1/system/new_token", body: bodyTiny, scope: scopeAdmin, answer: (*API).newToken},
	{method: "POST", path: "/api/v1/system/tokens", body: bodyTiny, scope: scopeAdmin, answer: (*API).newToken},
	{method: "GET", path: "/v1/system/token_list", body: bodyNone, scope: scopeAdmin, answer: (*API).listTokens},
	{method: "GET", path: "/api/v1/system/tokens", body: bodyNone, scope: scopeAdmin, answer: (*API).listTokens},
	{method: "DELETE", path: "/v1/system/token/{token}", body: bodyTiny, scope: scopeAdmin, answer: (*API).deleteToken},
	{method: "DELETE", path: "/api/v1/system/tokens/{token}", body: bodyTiny, scope: scopeAdmin, answer: (*API).deleteToken},
	{method: "POST", path: "/v1/api/new_token", body: bodyTiny, scope: scopeAdmin, answer: (*API).newCanvasToken},
	{method: "GET", path: "/v1/api/token_list", body: bodyNone, scope: scopeAdmin, answer: (*API).listCanvasTokens},
	{method: "POST", path: "/v1/api/rm", body: bodySmall, scope: scopeAdmin, answer: (*API).removeTokens},
	{method: "GET", path: "/v1/api/stats", body: bodyNone, scope: scopeRead, answer: (*API).stats},
	{method: "GET", path: "/api/v1/system/stats", body: bodyNone, scope: scopeRead, answer: (*API).stats},
}

// tokenRow is a key as it is listed. The key's text is known only when it is
// made; later its first characters and its id stand for it.
func tokenRow(k store.Key, text, beta string) *engine.ObjectBuilder {
	if text == "" {
		text = k.Hint + "..."
	}
	b := engine.NewObject(12)
	b.Set("id", engine.String(k.ID)).Set("tenant_id", engine.String(k.Tenant)).Set("token", engine.String(text))
	b.Set("beta", orNull(beta)).Set("name", engine.String(k.Name))
	b.Set("create_time", engine.Int(k.CreateTime)).Set("create_date", httpDate(k.CreateTime))
	return b.Set("update_time", engine.Null).Set("update_date", engine.Null)
}

// knownScopes reads the scopes of a body.
func (c *call) knownScopes() ([]string, error) {
	scopes := c.texts("scopes")
	for _, s := range scopes {
		if !slices.Contains(allScopes, s) {
			return nil, refused(codeArgument, "unknown scope %.40q; known are %s", s, strings.Join(allScopes, ", "))
		}
	}
	return scopes, c.valid()
}

// newScopes reads the scopes of a new key. Without any it gets those of the
// caller; nobody hands out more than they have.
func (c *call) newScopes() ([]string, error) {
	scopes, err := c.knownScopes()
	if err != nil {
		return nil, err
	}
	if len(scopes) == 0 {
		return c.who.scopes, nil
	}
	if !c.who.covers(scopes) {
		f := refused(codeForbidden, "A key cannot make one that may do more.")
		f.status = http.StatusForbidden
		return nil, f
	}
	return scopes, nil
}

func (a *API) newToken(c *call) error {
	scopes, err := c.newScopes()
	if err != nil {
		return err
	}
	k, text, err := a.cfg.Store.CreateKey(c.ctx(), store.Key{
		Tenant: c.who.tenant, User: c.who.user, Name: c.text("name"), Scopes: scopes,
	}, "")
	if err != nil {
		return err
	}
	beta, err := a.cfg.Store.BetaFor(c.ctx(), c.who.tenant, "")
	if err != nil {
		return err
	}
	return c.ok(tokenRow(k, text, beta.Text).Value())
}

func (a *API) listTokens(c *call) error {
	keys, err := a.cfg.Store.Keys(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	beta, err := a.cfg.Store.BetaFor(c.ctx(), c.who.tenant, "")
	if err != nil {
		return err
	}
	rows := make([]engine.Value, len(keys))
	for i, k := range keys {
		rows[i] = tokenRow(k, "", beta.Text).Value()
	}
	return c.ok(engine.List(rows...))
}

func (a *API) deleteToken(c *call) error {
	err := a.cfg.Store.DeleteKey(c.ctx(), c.who.tenant, c.params["token"])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return c.ok(engine.Bool(true))
}

// newCanvasToken makes the token that embeds one canvas.
func (a *API) newCanvasToken(c *call) error {
	id := c.text("canvas_id")
	if id == "" {
		id = c.text("dialog_id")
	}
	if err := c.valid(); err != nil {
		return err
	}
	if _, err := c.canvas(id, failed(codeData, noCanvas)); err != nil && id != "" {
		return err
	}
	k, text, err := a.cfg.Store.CreateKey(c.ctx(), store.Key{Tenant: c.who.tenant, User: c.who.user, Name: id, Scopes: c.who.scopes}, "")
	if err != nil {
		return err
	}
	b := tokenRow(k, text, "").Set("dialog_id", orNull(id)).Set("source", engine.String(sourceAgent))
	if id != "" {
		beta, err := a.cfg.Store.BetaFor(c.ctx(), c.who.tenant, id)
		if err != nil {
			return err
		}
		b.Set("beta", engine.String(beta.Text))
	}
	return c.ok(b.Value())
}

func (a *API) listCanvasTokens(c *call) error {
	if c.query.Get("canvas_id") == "" && c.query.Get("dialog_id") == "" {
		return lacking([]string{"dialog_id"})
	}
	return a.listTokens(c)
}

func (a *API) removeTokens(c *call) error {
	if err := c.require("tokens", "tenant_id"); err != nil {
		return err
	}
	tokens := c.texts("tokens")
	if err := c.valid(); err != nil {
		return err
	}
	for _, t := range tokens {
		err := a.cfg.Store.DeleteKey(c.ctx(), c.who.tenant, t)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return c.ok(engine.Bool(true))
}

// stats counts sessions, turns and tokens by day: {pv, uv, speed, tokens,
// round, thumb_up}, lists of [day, value], of the last seven days or of those
// from from_date to to_date.
func (a *API) stats(c *call) error {
	week := time.Now().UTC().AddDate(0, 0, -7).Truncate(24 * time.Hour)
	f := store.SessionFilter{Tenant: c.who.tenant, Canvas: c.query.Get("canvas_id"), From: week.UnixMilli()}
	if err := c.dates(&f); err != nil {
		return err
	}
	days, err := store.SessionDays(c.ctx(), a.cfg.Store, f)
	if err != nil {
		return err
	}
	column := func(of func(store.SessionDay) float64) engine.Value {
		rows := make([]engine.Value, len(days))
		for i, d := range days {
			rows[i] = engine.List(engine.String(d.Day.Format(time.DateOnly)), engine.Float(of(d)))
		}
		return engine.List(rows...)
	}
	return c.ok(engine.Object(
		"pv", column(func(d store.SessionDay) float64 { return float64(d.Sessions) }),
		"uv", column(func(d store.SessionDay) float64 { return float64(d.Users) }),
		"speed", column(tokensPerSecond),
		"tokens", column(func(d store.SessionDay) float64 { return float64(d.Tokens) }),
		"round", column(func(d store.SessionDay) float64 { return float64(d.Rounds) }),
		"thumb_up", column(func(d store.SessionDay) float64 { return float64(d.ThumbUp) })))
}

// tokensPerSecond is 0 for a day whose sessions took no time.
func tokensPerSecond(d store.SessionDay) float64 {
	if d.TimedMilliseconds == 0 {
		return 0
	}
	return float64(d.TimedTokens) / (float64(d.TimedMilliseconds) / 1000)
}
