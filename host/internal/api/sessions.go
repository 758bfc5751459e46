package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

var sessionRoutes = []route{
	{method: "POST", path: "/api/v1/agents/{id}/sessions", body: bodySmall, scope: scopeRun, answer: (*API).createSession},
	{method: "GET", path: "/api/v1/agents/{id}/sessions", body: bodyNone, scope: scopeRead, answer: (*API).listSessions},
	{method: "DELETE", path: "/api/v1/agents/{id}/sessions", body: bodySmall, scope: scopeEdit, answer: (*API).deleteSessions},
	{method: "GET", path: "/api/v1/agents/{id}/sessions/{sid}", body: bodyNone, scope: scopeRead, answer: (*API).getSession},
	{method: "DELETE", path: "/api/v1/agents/{id}/sessions/{sid}", body: bodyTiny, scope: scopeEdit, answer: (*API).deleteSession},
	{method: "GET", path: "/v1/canvas/{id}/sessions", body: bodyNone, scope: scopeRead, answer: (*API).runHistory},
}

// Sources of sessions.
const (
	sourceAgent    = "agent"
	sourceWorkflow = "workflow"
)

// sourceAPI is the source of runs that completions start.
const sourceAPI = "api"

// sourceBot is the source of runs that embedding pages start.
const sourceBot = "bot"

// newSession makes a session with a reset copy of the canvas. One that is greeted begins with the
// prologue; one made for a question begins with the question.
func (c *call) newSession(agent store.Canvas, user, name, source string, greeted bool) (store.Session, error) {
	v, err := c.a.cfg.Runs.NewSession(agent, engine.RandomIDs{}.NewID(), user, name, source)
	if err == nil && greeted {
		err = runs.Greet(&v)
	}
	if err != nil {
		return store.Session{}, err
	}
	return c.a.cfg.Store.CreateSession(c.ctx(), v)
}

// beginOf is the params of a document's Begin.
func beginOf(doc engine.Value) engine.Value {
	return doc.Get("components").Get("begin").Get("obj").Get("params")
}

// session finds a session of a canvas.
func (c *call) session(canvas, id string) (store.Session, error) {
	v, err := c.a.cfg.Store.Session(c.ctx(), c.who.tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return v, failed(codeData, noSession)
	}
	if err == nil && v.Canvas != canvas {
		return v, failed(codeOperating, wrongParent)
	}
	if err == nil {
		err = errors.Join(c.reserveStored(v.DSL), c.reserveStored(v.Messages))
	}
	return v, err
}

// sessionRow is a session as all faces read it: with message and messages.
func (c *call) sessionRow(v store.Session, withDSL bool) engine.Value {
	b := engine.NewObject(24)
	b.Set("id", engine.String(v.ID)).Set("agent_id", engine.String(v.Canvas)).Set("dialog_id", engine.String(v.Canvas))
	b.Set("user_id", engine.String(v.User)).Set("exp_user_id", engine.String(v.User)).Set("name", engine.String(v.Name))
	b.Set("source", engine.String(v.Source)).Set("tokens", engine.Int(v.Tokens)).Set("round", engine.Int(v.Rounds))
	b.Set("duration", engine.Float(float64(v.Duration)/1000)).Set("thumb_up", engine.Int(v.ThumbUp))
	b.Set("errors", orNull(v.Errors)).Set("version_title", c.versionOfSession(v))
	turns := turnsOf(v)
	b.Set("message", turns).Set("messages", turns).Set("reference", document(v.Reference))
	setTimes(b, v.CreateTime, v.UpdateTime)
	if withDSL {
		b.Set("dsl", document(v.DSL))
	}
	return b.Value()
}

// versionOfSession is the title of the version that a session began with, which
// the older dialect does not know.
func (c *call) versionOfSession(v store.Session) engine.Value {
	if !c.newer() {
		return engine.Null
	}
	return orNull(v.Version)
}

// turnsOf are a session's turns; answers carry the passages they rest on.
func turnsOf(v store.Session) engine.Value {
	turns, references := document(v.Messages), document(v.Reference)
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

func (a *API) createSession(c *call) error {
	denied := error(failed(codeData, "Agent not found."))
	if c.newer() {
		denied = refused(codeOperating, notAccess)
	}
	agent, err := c.canvas(c.params["id"], denied)
	if err != nil {
		return err
	}
	user := c.query.Get("user_id")
	if user == "" {
		user = c.text("user_id")
	}
	if user == "" {
		user = c.who.tenant
	}
	name, release := c.text("name"), c.release()
	if err := c.valid(); err != nil {
		return err
	}
	if agent, err = c.chosen(agent, release); err != nil {
		return err
	}
	v, err := c.newSession(agent, user, name, sourceAgent, true)
	if err != nil {
		return err
	}
	row := engine.Object("id", v.ID, "agent_id", v.Canvas, "user_id", v.User, "source", v.Source,
		"dsl", document(v.DSL), "message", document(v.Messages))
	if c.newer() {
		row = row.With("name", engine.String(v.Name)).With("exp_user_id", engine.String(v.User)).With("version_title", c.versionOfSession(v))
	}
	return c.result(row)
}

// sessionFilter reads what a list of sessions is asked for.
func (c *call) sessionFilter(canvas string) (store.SessionFilter, store.Page, error) {
	f := store.SessionFilter{
		Tenant: c.who.tenant, Canvas: canvas, ID: c.query.Get("id"), User: c.query.Get("user_id"), Keywords: c.query.Get("keywords"),
	}
	if exp := c.query.Get("exp_user_id"); exp != "" {
		f.User = exp
	}
	p, err := c.page(defaultPageSize, "update_time", true)
	if err != nil {
		return f, p, err
	}
	err = c.dates(&f)
	return f, p, err
}

// dates reads the bounds from_date and to_date of a list of sessions.
func (c *call) dates(f *store.SessionFilter) error {
	for _, bound := range []struct {
		name string
		to   *int64
	}{{"from_date", &f.From}, {"to_date", &f.To}} {
		text := c.query.Get(bound.name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			return refused(codeArgument, "%s must look like 2006-01-02 15:04:05, not %.40q", bound.name, text)
		}
		*bound.to = at.UnixMilli()
	}
	return nil
}

// sessionsOf lists sessions, within the memory of requests.
func (c *call) sessionsOf(f store.SessionFilter, p store.Page) ([]store.Session, int, error) {
	p.Reserve = func(n int64) error { return c.reserve(answerFactor * n) }
	return c.a.cfg.Store.Sessions(c.ctx(), f, p)
}

// answerFactor is how much memory a stored document takes with what is parsed from it and written
// of it.
const answerFactor = 4

func (a *API) listSessions(c *call) error {
	id := c.params["id"]
	if _, err := c.canvas(id, failed(codeData, "You don't own the agent %s.", id)); err != nil {
		return err
	}
	f, p, err := c.sessionFilter(id)
	if err != nil {
		return err
	}
	withDSL := c.asked("dsl", true)
	if !withDSL {
		p.Documents = store.WithoutDSL
	}
	list, total, err := c.sessionsOf(f, p)
	if err != nil {
		return err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = c.sessionRow(v, withDSL)
	}
	if c.newer() {
		return c.send(200, engine.Object("code", codeOK, "message", "success", "data", engine.List(rows...), "total", total))
	}
	return c.result(engine.List(rows...))
}

func (a *API) runHistory(c *call) error {
	id := c.params["id"]
	if _, err := c.canvas(id, refused(codeOperating, notOwner)); err != nil {
		return err
	}
	f, p, err := c.sessionFilter(id)
	if err != nil {
		return err
	}
	list, total, err := c.sessionsOf(f, p)
	if err != nil {
		return err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = c.sessionRow(v, true)
	}
	return c.ok(engine.Object("total", total, "sessions", engine.List(rows...)))
}

func (a *API) getSession(c *call) error {
	v, err := c.session(c.params["id"], c.params["sid"])
	if err != nil {
		return failed(codeData, noSession)
	}
	return c.ok(c.sessionRow(v, true))
}

func (a *API) deleteSession(c *call) error {
	if _, err := c.session(c.params["id"], c.params["sid"]); err != nil {
		return failed(codeData, noSession)
	}
	if err := a.cfg.Store.DeleteSession(c.ctx(), c.who.tenant, c.params["sid"]); err != nil {
		return err
	}
	return c.ok(engine.Int(1))
}

func (a *API) deleteSessions(c *call) error {
	id := c.params["id"]
	if _, err := c.canvas(id, failed(codeData, "You don't own the agent %s", id)); err != nil {
		return err
	}
	ids := c.texts("ids")
	all := c.flag("delete_all", false)
	if err := c.valid(); err != nil {
		return err
	}
	there, err := store.SessionIDs(c.ctx(), a.cfg.Store, store.SessionFilter{Tenant: c.who.tenant, Canvas: id})
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, one := range there {
		own[one] = true
	}
	switch {
	case len(ids) > 0:
	case c.newer() && !all:
		return c.result(engine.Null)
	case len(own) == 0 && !c.newer():
		return failed(codeData, "Agent %s has no sessions", id)
	default:
		for one := range own {
			ids = append(ids, one)
		}
	}
	return c.deleteThese(ids, own)
}

// deleteThese removes sessions and tells which of them could not be.
func (c *call) deleteThese(ids []string, own map[string]bool) error {
	var problems, doubled []string
	seen := map[string]bool{}
	done := 0
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
			err := c.a.cfg.Store.DeleteSession(c.ctx(), c.who.tenant, id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			done++
		}
		seen[id] = true
	}
	if done == 0 && len(problems) > 0 {
		return failed(codeData, "%s", strings.Join(problems, "; "))
	}
	for _, id := range doubled {
		problems = append(problems, "Duplicate session ids: "+id)
	}
	if len(problems) > 0 {
		v := engine.Object("success_count", done, "errors", engine.Strings(problems...))
		if c.newer() {
			text := fmt.Sprintf("Partially deleted %d sessions with %d errors", done, len(problems))
			return c.send(200, engine.Object("code", codeOK, "message", text, "data", v))
		}
		return c.result(v)
	}
	return c.result(engine.Null)
}
