package api

import (
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Embedded pages: what a beta token opens. Everybody who sees such a page has its token, so it
// shows what the canvas says and asks, and not how it is made: no prompts, settings, intermediate
// results or error details, nothing of its owner's tests (embed.go).
var botRoutes = []route{
	{method: "POST", path: "/api/v1/agentbots/{id}/completions", body: bodyCanvas, need: needBeta, scope: scopeRun, answer: (*API).botComplete},
	{method: "GET", path: "/api/v1/agentbots/{id}/inputs", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).botInputs},
	{method: "GET", path: "/api/v1/agentbots/{id}/logs/{message}", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).agentLog},
	{method: "GET", path: "/v1/canvas/getsse/{id}", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).botCanvas},
}

func (c *call) botAgent() (store.Canvas, error) {
	id := c.params["id"]
	return c.canvas(id, failed(codeData, "Can't find agent by ID: %s", id))
}

func (a *API) botComplete(c *call) error {
	agent, err := c.botAgent()
	if err != nil {
		return err
	}
	t, err := c.readTurn(agent, sourceAgent, true)
	if err != nil {
		return err
	}
	t.job.Source, t.bare = sourceBot, c.who.embeds
	if err := c.start(t); err != nil {
		return err
	}
	if !t.stream {
		return c.answerWhole(t)
	}
	f := face{session: t.session.ID, broke: botError}
	if t.bare {
		f.alters = func(kind engine.EventType) bool { return !toldVisitor(kind) }
		f.change = func(r runlog.Record) engine.Value {
			return f.frame(bareEvent(engine.EventType(r.Kind), document(r.Data)))
		}
		f.broke = func(end runs.End, like engine.Value) engine.Value { return botError(bareEnd(end), like) }
	}
	return c.stream(t.job, f)
}

// botError is an error as embedded pages show it.
func botError(end runs.End, like engine.Value) engine.Value {
	return like.With("event", engine.String(string(engine.EventMessage))).
		With("data", engine.Object("content", "Error 100: "+end.Error)).
		With("code", engine.Int(codeException)).With("message", engine.String(end.Error))
}

func (a *API) botInputs(c *call) error {
	agent, err := c.botAgent()
	if err != nil {
		return err
	}
	if agent, err = c.chosen(agent, c.release()); err != nil {
		return err
	}
	canvas, err := a.cfg.Runs.Load(agent.DSL)
	if err != nil {
		return err
	}
	form, err := canvas.InputForm("begin")
	if err != nil && !errors.Is(err, engine.ErrRef) {
		return err
	}
	if form.IsNull() {
		form = engine.Object()
	}
	begin := beginOf(canvas.Document())
	mode := begin.Get("mode").Text()
	if mode == "" {
		mode = "conversational"
	}
	return c.result(engine.Object("title", agent.Title, "avatar", orNull(agent.Avatar), "inputs", form,
		"prologue", runs.Prologue(canvas.Document()), "mode", mode))
}

func (a *API) botCanvas(c *call) error {
	agent, err := c.canvas(c.params["id"], failed(codeData, noCanvas))
	if err != nil {
		return err
	}
	if c.who.embeds {
		agent = bareCanvas(agent)
	}
	return c.ok(c.canvasRow(agent))
}
