package ragflow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// sessions are conversations with agents.
type sessions struct{ *face }

func (s sessions) routes() []api.Route {
	const read, edit, run = app.ScopeRead, app.ScopeEdit, app.ScopeRun
	const of, one = "/api/v1/agents/{id}/sessions", "/api/v1/agents/{id}/sessions/{sid}"
	return []api.Route{
		{Method: "POST", Path: of, Body: api.BodySmall, Scope: run, Handler: s.add},
		{Method: "GET", Path: of, Body: api.BodyNone, Scope: read, Handler: s.list},
		{Method: "DELETE", Path: of, Body: api.BodySmall, Scope: edit, Handler: s.removeSome},
		{Method: "GET", Path: one, Body: api.BodyNone, Scope: read, Handler: s.get},
		{Method: "DELETE", Path: one, Body: api.BodyTiny, Scope: edit, Handler: s.remove},
		{Method: "GET", Path: "/v1/canvas/{id}/sessions", Body: api.BodyNone, Scope: read, Handler: s.history},
	}
}

// row is a session as all faces read it: with message and messages.
func (s sessions) row(v app.Session, withDSL bool) engine.Value {
	b := engine.NewObject(24)
	b.Set("id", engine.String(v.ID)).Set("agent_id", engine.String(v.Canvas)).Set("dialog_id", engine.String(v.Canvas))
	b.Set("user_id", engine.String(v.User)).Set("exp_user_id", engine.String(v.User)).Set("name", engine.String(v.Name))
	b.Set("source", engine.String(v.Source)).Set("tokens", engine.Int(v.Tokens)).Set("round", engine.Int(v.Rounds))
	b.Set("duration", engine.Float(float64(v.Duration)/1000)).Set("thumb_up", engine.Int(v.ThumbUp))
	b.Set("errors", api.OrNull(v.Errors)).Set("version_title", s.sessionVersion(v))
	turns := turnsOf(v)
	b.Set("message", turns).Set("messages", turns).Set("reference", api.DocumentOf(v.Reference))
	api.SetTimes(b, v.CreateTime, v.UpdateTime)
	if v.Visitor != "" {
		b.Set("user_verified", engine.Bool(v.Visitor.Verified()))
	}
	if withDSL {
		b.Set("dsl", api.DocumentOf(v.DSL))
	}
	return b.Value()
}

func (s sessions) rows(list []app.Session, withDSL bool) engine.Value {
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = s.row(v, withDSL)
	}
	return engine.List(rows...)
}

// turnsOf are a session's turns; answers carry the passages they rest on.
func turnsOf(v app.Session) engine.Value {
	turns, references := api.DocumentOf(v.Messages), api.DocumentOf(v.Reference)
	var out []engine.Value
	answers := 0
	for i, t := range turns.Elements() {
		if i > 0 && t.Get("role").Str() == "assistant" {
			if ref := references.At(answers).Get("chunks"); answers < references.Len() && ref.Len() > 0 {
				t = t.With("reference", passages(ref))
			}
			answers++
		}
		out = append(out, t)
	}
	return engine.List(out...)
}

// passages are chunks under the names that clients of sessions know.
func passages(chunks engine.Value) engine.Value {
	first := func(v engine.Value, names ...string) engine.Value {
		for _, n := range names {
			if x := v.Get(n); !x.IsNull() {
				return x
			}
		}
		return engine.Null
	}
	var out []engine.Value
	for _, v := range chunks.Fields() {
		out = append(out, engine.Object(
			"id", first(v, "chunk_id", "id"), "content", first(v, "content_with_weight", "content"),
			"document_id", first(v, "doc_id", "document_id"), "document_name", first(v, "docnm_kwd", "document_name"),
			"dataset_id", first(v, "kb_id", "dataset_id"), "image_id", first(v, "image_id", "img_id"),
			"positions", first(v, "positions", "position_int")))
	}
	return engine.List(out...)
}

func (s sessions) add(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := s.canvas(ctx, r, r.Params["id"], s.noAgent())
	if err != nil {
		return nil, err
	}
	user := r.Query.Get("user_id")
	if user == "" {
		user = r.Body.Text("user_id")
	}
	if user == "" {
		user = r.Who.Tenant
	}
	name, release := r.Body.Text("name"), published(r, s.presenter)
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if agent, err = s.Services.Canvases.Chosen(ctx, agent, release); err != nil {
		return nil, err
	}
	v, err := s.Services.Sessions.Create(ctx, app.NewSession{
		Canvas: agent, User: user, Name: name, Source: app.SourceAgent, Greet: true,
	})
	if err != nil {
		return nil, err
	}
	row := engine.Object("id", v.ID, "agent_id", v.Canvas, "user_id", v.User, "source", v.Source,
		"dsl", api.DocumentOf(v.DSL), "message", api.DocumentOf(v.Messages))
	return envelope.Result(s.newSession(row, v)), nil
}

// filter reads what a list of sessions is asked for.
func (s sessions) filter(r *api.Request, canvas string) (app.SessionFilter, app.Page, error) {
	f := app.SessionFilter{
		Canvas: canvas, ID: r.Query.Get("id"), User: r.Query.Get("user_id"),
		Keywords: r.Query.Get("keywords"),
	}
	if exp := r.Query.Get("exp_user_id"); exp != "" {
		f.User = exp
	}
	p, err := r.Query.Page(defaultPageSize, "update_time", true)
	if err != nil {
		return f, p, err
	}
	return f, p, dates(r.Query, &f)
}

// dates reads the bounds from_date and to_date of a list of sessions.
func dates(q api.Query, f *app.SessionFilter) error {
	for _, bound := range []struct {
		name string
		to   *int64
	}{{"from_date", &f.From}, {"to_date", &f.To}} {
		text := q.Get(bound.name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			return api.Refused(
				api.KindBadArgument, "%s must look like 2006-01-02 15:04:05, not %.40q", bound.name, text,
			)
		}
		*bound.to = at.UnixMilli()
	}
	return nil
}

func (s sessions) list(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	if _, err := s.canvas(ctx, r, id, api.Failed(api.KindNotFound, "You don't own the agent %s.", id)); err != nil {
		return nil, err
	}
	f, p, err := s.filter(r, id)
	if err != nil {
		return nil, err
	}
	withDSL := r.Query.Asked("dsl", true)
	if !withDSL {
		p.Documents = app.WithoutDSL
	}
	list, total, err := s.Services.Sessions.List(ctx, r.Who, f, p)
	if err != nil {
		return nil, err
	}
	return s.sessionList(s.rows(list, withDSL), total), nil
}

func (s sessions) history(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	if _, err := s.owned(ctx, r, id); err != nil {
		return nil, err
	}
	f, p, err := s.filter(r, id)
	if err != nil {
		return nil, err
	}
	list, total, err := s.Services.Sessions.List(ctx, r.Who, f, p)
	if err != nil {
		return nil, err
	}
	return envelope.OK(engine.Object("total", total, "sessions", s.rows(list, true))), nil
}

// find finds the session of a path; every failure is reported as an unknown session.
func (s sessions) find(ctx context.Context, r *api.Request) (app.Session, error) {
	v, err := s.Services.Sessions.Get(ctx, r.Who, r.Params["id"], r.Params["sid"])
	if err != nil {
		err = api.Failed(api.KindNotFound, api.NoSession)
	}
	return v, err
}

func (s sessions) get(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := s.find(ctx, r)
	if err != nil {
		return nil, err
	}
	return envelope.OK(s.row(v, true)), nil
}

func (s sessions) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := s.find(ctx, r)
	if err == nil {
		err = s.Services.Sessions.Delete(ctx, r.Who.Tenant, v.ID)
	}
	return ok(engine.Int(1), err)
}

func (s sessions) removeSome(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	agent, err := s.canvas(ctx, r, id, api.Failed(api.KindNotFound, "You don't own the agent %s", id))
	if err != nil {
		return nil, err
	}
	ids := r.Body.Texts("ids")
	all := r.Body.Flag("delete_all", false)
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	there, err := s.Services.Sessions.IDs(ctx, agent)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		if answer, err := s.deleteNone(all, id, len(there)); answer != nil || err != nil {
			return answer, err
		}
		ids = there
	}
	own := map[string]bool{}
	for _, one := range there {
		own[one] = true
	}
	return s.removeThese(ctx, r, ids, own)
}

// removeThese removes sessions and reports which of them could not be.
func (s sessions) removeThese(
	ctx context.Context, r *api.Request, ids []string, own map[string]bool,
) (api.Response, error) {
	var problems, doubled []string
	seen := map[string]bool{}
	deleted := 0
	for _, id := range ids {
		switch {
		case seen[id]:
			if !slices.Contains(doubled, id) {
				doubled = append(doubled, id)
			}
			continue
		case !own[id]:
			problems = append(problems, "The agent doesn't own the session "+id)
		default:
			err := s.Services.Sessions.Delete(ctx, r.Who.Tenant, id)
			if err != nil && !errors.Is(err, app.ErrNotFound) {
				return nil, err
			}
			deleted++
		}
		seen[id] = true
	}
	if deleted == 0 && len(problems) > 0 {
		return nil, api.Failed(api.KindInvalid, "%s", strings.Join(problems, "; "))
	}
	for _, id := range doubled {
		problems = append(problems, "Duplicate session ids: "+id)
	}
	if len(problems) > 0 {
		report := engine.Object("success_count", deleted, "errors", engine.Strings(problems...))
		return s.deletedSome(deleted, len(problems), report), nil
	}
	return envelope.Result(engine.Null), nil
}
