package api

import (
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// What the canvas editor calls.
var canvasRoutes = []route{
	{method: "GET", path: "/v1/canvas/list", body: bodyNone, scope: scopeRead, answer: (*API).editorList},
	{method: "GET", path: "/v1/canvas/get/{id}", body: bodyNone, scope: scopeRead, answer: (*API).getAgent},
	{method: "POST", path: "/v1/canvas/set", body: bodyCanvas, scope: scopeEdit, answer: (*API).editorSet},
	{method: "POST", path: "/v1/canvas/setting", body: bodyCanvas, scope: scopeEdit, answer: (*API).editorSetting},
	{method: "POST", path: "/v1/canvas/rm", body: bodySmall, scope: scopeEdit, answer: (*API).editorRemove},
	{method: "POST", path: "/v1/canvas/completion", body: bodyCanvas, scope: scopeRun, answer: (*API).editorRun},
	{method: "POST", path: "/v1/canvas/reset", body: bodyTiny, scope: scopeEdit, answer: (*API).editorReset},
	{method: "POST", path: "/api/v1/agents/{id}/reset", body: bodyTiny, scope: scopeEdit, answer: (*API).editorReset},
	{method: "PUT", path: "/v1/canvas/cancel/{task}", body: bodyTiny, need: needBeta, scope: scopeRun, answer: (*API).cancelTask},
	{method: "POST", path: "/api/v1/tasks/{task}/cancel", body: bodyTiny, need: needBeta, scope: scopeRun, answer: (*API).cancelTask},
	{method: "PATCH", path: "/api/v1/tasks/{task}", body: bodyTiny, need: needBeta, scope: scopeRun, answer: (*API).patchTask},
	{method: "GET", path: "/v1/canvas/input_form", body: bodyNone, scope: scopeRead, answer: (*API).inputForm},
	{method: "GET", path: "/api/v1/agents/{id}/components/{component}/input-form", body: bodyNone, scope: scopeRead, answer: (*API).inputForm},
	{method: "POST", path: "/v1/canvas/debug", body: bodyCanvas, scope: scopeRun, answer: (*API).debugNode},
	{method: "POST", path: "/api/v1/agents/{id}/components/{component}/debug", body: bodyCanvas, scope: scopeRun, answer: (*API).debugNode},
	{method: "GET", path: "/v1/canvas/trace", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).trace},
	{method: "GET", path: "/api/v1/agents/{id}/logs/{message}", body: bodyNone, scope: scopeRead, answer: (*API).agentLog},
}

func (a *API) editorList(c *call) error {
	p, err := c.page(0, "create_time", true)
	if err != nil {
		return err
	}
	if c.query.Get("owner_ids") != "" {
		p.Limit, p.Offset = 0, 0
	}
	return c.listCanvases(store.CanvasFilter{Tenants: []string{c.who.tenant}}, p)
}

// editorSet saves a canvas: a new one without an id, over an old one with it.
func (a *API) editorSet(c *call) error {
	if err := c.require("dsl", "title"); err != nil {
		return err
	}
	dsl, err := c.dsl()
	if err != nil {
		return err
	}
	if dsl == nil {
		return refused(codeArgument, "No DSL data in request.")
	}
	title, id := strings.TrimSpace(c.text("title")), c.text("id")
	if title == "" {
		return refused(codeArgument, "No title in request.")
	}
	if err := c.valid(); err != nil {
		return err
	}
	if id == "" {
		category := c.text("canvas_category")
		if category == "" {
			category = agentCategory
		}
		if err := c.taken(title, category, ""); err != nil {
			return err
		}
		v, err := c.newCanvas(dsl)
		if err != nil {
			return err
		}
		return c.ok(c.saved(v).With("id", engine.String(v.ID)).With("user_id", engine.String(v.User)))
	}
	if _, err := c.canvas(id, refused(codeOperating, notOwner)); err != nil {
		return err
	}
	v, err := c.change(id, dsl)
	if err != nil {
		return err
	}
	return c.ok(c.saved(v))
}

// saved is the request as the editor wants it back: with the document as an
// object, the title as it was kept, and when.
func (c *call) saved(v store.Canvas) engine.Value {
	return c.body.With("dsl", document(v.DSL)).With("title", engine.String(v.Title)).
		With("update_time", engine.Int(v.UpdateTime)).With("update_date", httpDate(v.UpdateTime))
}

func (a *API) editorSetting(c *call) error {
	if err := c.require("id", "title", "permission"); err != nil {
		return err
	}
	id := c.text("id")
	if _, err := c.canvas(id, failed(codeData, noCanvas)); err != nil {
		return err
	}
	if _, err := c.change(id, nil); err != nil {
		return err
	}
	return c.ok(engine.Int(1))
}

func (a *API) editorRemove(c *call) error {
	if err := c.require("canvas_ids"); err != nil {
		return err
	}
	ids := c.texts("canvas_ids")
	if err := c.valid(); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := c.canvas(id, refused(codeOperating, notOwner)); err != nil {
			return err
		}
		if err := c.deleteCanvas(id); err != nil {
			return err
		}
	}
	return c.ok(engine.Bool(true))
}

// editorRun runs the canvas itself; its state is kept in the canvas.
func (a *API) editorRun(c *call) error {
	if err := c.require("id"); err != nil {
		return err
	}
	id, user := c.text("id"), c.text("user_id")
	query, inputs, files := c.question(), c.object("inputs"), c.list("files")
	if err := c.valid(); err != nil {
		return err
	}
	if _, err := c.canvas(id, refused(codeOperating, notOwner)); err != nil {
		return err
	}
	if user == "" {
		user = c.who.user
	}
	j, err := c.startRun(runs.Job{
		Tenant: c.who.tenant, Canvas: id, User: user, Source: "editor", Keep: runs.KeepCanvas, Caller: c.who.rateID,
		Query: query, Inputs: inputs, Files: c.ownFiles(files),
	})
	if err != nil {
		return err
	}
	return c.stream(j, face{broke: func(end runs.End, _ engine.Value) engine.Value {
		return engine.Object("code", codeServer, "message", end.Error, "data", false)
	}})
}

func (a *API) editorReset(c *call) error {
	id := c.params["id"]
	if id == "" {
		if err := c.require("id"); err != nil {
			return err
		}
		id = c.text("id")
	}
	if _, err := c.canvas(id, refused(codeOperating, notOwner)); err != nil {
		return err
	}
	v, err := a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, id, "", func(v *store.Canvas) error {
		canvas, err := a.cfg.Runs.Load(v.DSL)
		if err != nil {
			return err
		}
		state := canvas.State()
		state.Reset(false)
		v.DSL = canvas.Save(state)
		return nil
	})
	if err != nil {
		return err
	}
	dsl := document(v.DSL)
	if task := dsl.Get("task_id").Str(); task != "" && a.cfg.ForgetTask != nil {
		if err := a.cfg.ForgetTask(c.ctx(), task); err != nil {
			return err
		}
	}
	return c.ok(dsl)
}

// cancelTask stops the runs that a name stands for: a run, a message, or the
// runs of a session. Whatever it names, the answer is the same, so that nobody
// learns what runs elsewhere.
func (a *API) cancelTask(c *call) error {
	runs, err := c.runsOf(c.params["task"])
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.Status != store.RunActive || !c.who.mayReach(run) {
			continue
		}
		if err := a.cfg.Runs.Cancel(c.ctx(), run.ID); err != nil {
			return err
		}
	}
	return c.ok(engine.Bool(true))
}

func (a *API) patchTask(c *call) error {
	if action := c.text("action"); action != "stop" {
		return refused(codeArgument, "Invalid action '%s'. Only 'stop' is supported.", action)
	}
	return a.cancelTask(c)
}

// runsOf are the caller's runs that a run id, message id or session id names.
func (c *call) runsOf(name string) ([]store.Run, error) {
	s := c.a.cfg.Store
	for _, find := range []func() (store.Run, error){
		func() (store.Run, error) { return s.Run(c.ctx(), c.who.tenant, name) },
		func() (store.Run, error) { return s.RunOfMessage(c.ctx(), c.who.tenant, name) },
	} {
		run, err := find()
		if err == nil {
			return []store.Run{run}, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	f := store.RunFilter{Tenant: c.who.tenant, Session: name, Status: store.RunActive}
	list, _, err := s.Runs(c.ctx(), f, store.Page{Limit: 100})
	return list, err
}

// node is the canvas and component that a request names in its path, query or
// body.
func (c *call) node() (store.Canvas, string, error) {
	id, component := c.params["id"], c.params["component"]
	if id == "" {
		names, err := c.given("id", "component_id")
		if err != nil {
			return store.Canvas{}, "", err
		}
		id, component = names[0], names[1]
	}
	v, err := c.canvas(id, refused(codeOperating, notOwner))
	return v, component, err
}

func (a *API) inputForm(c *call) error {
	v, component, err := c.node()
	if err != nil {
		return err
	}
	canvas, err := a.cfg.Runs.Load(v.DSL)
	if err != nil {
		return err
	}
	form, err := canvas.InputForm(component)
	if err != nil {
		return failed(codeException, "%s", err)
	}
	if form.IsNull() {
		form = engine.Object()
	}
	return c.ok(form)
}

// debugNode runs one component alone; nothing is stored.
func (a *API) debugNode(c *call) error {
	needed := []string{"params"}
	if c.params["id"] == "" {
		needed = []string{"id", "component_id", "params"}
	}
	if err := c.require(needed...); err != nil {
		return err
	}
	params := c.object("params")
	if err := c.valid(); err != nil {
		return err
	}
	v, component, err := c.node()
	if err != nil {
		return err
	}
	canvas, err := a.cfg.Runs.Load(v.DSL)
	if err != nil {
		return err
	}
	opt := engine.Options{CanvasID: v.ID, TenantID: c.who.tenant, Limits: a.cfg.Limits}
	if a.cfg.Ports != nil {
		opt.Ports = a.cfg.Ports(&runs.Job{Tenant: c.who.tenant, Canvas: v.ID, User: c.who.user, Source: "debug", Caller: c.who.rateID})
	}
	began := time.Now()
	out, err := canvas.Debug(c.ctx(), canvas.State(), component, params, opt)
	var broke *engine.NodeError
	if errors.As(err, &broke) {
		out = out.With("_ERROR", engine.String(broke.Err.Error())) // an output like any other to who tries a node
	} else if err != nil {
		return failed(codeException, "%s", err)
	}
	return c.ok(out.With("_created_time", engine.Float(float64(began.UnixMicro())/1e6)).
		With("_elapsed_time", engine.Float(time.Since(began).Seconds())))
}

// trace is what the tools of a run did, by message id.
func (a *API) trace(c *call) error {
	names, err := c.given("canvas_id", "message_id")
	if err != nil {
		return err
	}
	return c.answerTrace(names[1])
}

func (a *API) agentLog(c *call) error { return c.answerTrace(c.params["message"]) }

// answerTrace finds a run by its message, its own id or its session.
func (c *call) answerTrace(name string) error {
	found, err := c.runsOf(name)
	if err != nil {
		return err
	}
	if len(found) == 0 || !c.who.mayReach(found[0]) {
		return c.ok(engine.Object())
	}
	records, err := c.a.cfg.Runs.Records(c.ctx(), found[0].ID)
	if errors.Is(err, runs.ErrGone) {
		return c.ok(engine.Object())
	}
	if err != nil {
		return err
	}
	out := toolTrace(records)
	if c.who.embeds {
		out = bareTrace(out)
	}
	if out.Len() > 0 {
		return c.ok(out)
	}
	return c.ok(engine.Object())
}

// toolTrace groups finished tool calls by component: [{component_id, trace}].
func toolTrace(records []runlog.Record) engine.Value {
	t := &trail{}
	for _, r := range records {
		if r.Kind != string(engine.EventToolFinished) {
			continue
		}
		d := document(r.Data).Get("data")
		t.group(d.Get("component_id"), engine.TraceEntry(d))
	}
	return t.value()
}

// ownFiles drops what is no upload descriptor. Whose a file is, is checked
// when it is read.
func (c *call) ownFiles(files engine.Value) engine.Value {
	var out []engine.Value
	for _, f := range files.Elements() {
		if f.Kind() == engine.KindObject && f.Get("id").Kind() == engine.KindString {
			out = append(out, f.With("created_by", engine.String(c.who.tenant)))
		}
	}
	if len(out) == 0 {
		return engine.Null
	}
	return engine.List(out...)
}
