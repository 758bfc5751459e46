package ragflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// bots are embedded pages, which a beta token opens. Every visitor of such a page has its token, so
// it shows the messages and forms of the canvas and not how it is made: no prompts, settings,
// intermediate results or error details, nothing of its owner's tests (embed.go).
type bots struct{ *face }

func (b bots) routes() []api.Route {
	read := func(path string, h api.Handler) api.Route {
		return api.Route{
			Method: "GET", Path: path, Body: api.BodyNone, Need: api.NeedBeta, Scope: app.ScopeRead, Handler: h,
		}
	}
	events := read("/api/v1/agentbots/{id}/events/{run}", b.events)
	events.Events = true
	return []api.Route{
		{
			Method: "POST", Path: "/api/v1/agentbots/{id}/completions", Body: api.BodyCanvas,
			Need: api.NeedBeta, Scope: app.ScopeRun, Handler: b.complete,
		},
		read("/api/v1/agentbots/{id}/inputs", b.inputs),
		read("/api/v1/agentbots/{id}/logs/{message}", editor(b).log),
		events,
		read("/api/v1/agentbots/{id}/sessions", visits{b}.list),
		read("/api/v1/agentbots/{id}/sessions/{sid}", visits{b}.get),
		read("/v1/canvas/getsse/{id}", b.read),
	}
}

func (b bots) agent(ctx context.Context, r *api.Request) (app.Canvas, error) {
	id := r.Params["id"]
	return b.canvas(ctx, r, id, api.Failed(api.KindNotFound, "Can't find agent by ID: %s", id))
}

func (b bots) complete(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := b.agent(ctx, r)
	if err != nil {
		return nil, err
	}
	t, err := b.readTurn(ctx, r, agent, app.SourceAgent, true)
	if err != nil {
		return nil, err
	}
	t.job.Source, t.bare = app.SourceBot, r.Who.Embeds
	r.Writer.Header().Set(api.SessionHeader, t.session.ID)
	if err := t.start(ctx, r); err != nil {
		return nil, err
	}
	if !t.stream {
		return b.answerWhole(ctx, r, t)
	}
	return api.StreamRun(t.job, botFrames(t.session.ID, t.bare)), nil
}

// events sends a run again from its first event, as its completion sent it: for a page whose stream
// broke off. The original has no such path.
func (b bots) events(ctx context.Context, r *api.Request) (api.Response, error) {
	who := r.Who
	agent, err := b.agent(ctx, r)
	if err != nil {
		return nil, err
	}
	run, err := b.Services.Runs.Get(ctx, who, r.Params["run"])
	if errors.Is(err, app.ErrNotFound) || err == nil && (run.Canvas != agent.ID || run.Source != app.SourceBot) {
		err = api.Failed(api.KindNotFound, "Can't find run by ID: %s", r.Params["run"])
	}
	if err != nil {
		return nil, err
	}
	stored := run.Status == app.RunActive
	if !stored {
		if stored, err = b.Services.Runs.Stored(ctx, run); err != nil {
			return nil, err
		}
	}
	if !stored {
		return nil, api.Failed(api.KindNotFound, "The events of this run are no longer kept.")
	}
	api.Follow(r, func(ctx context.Context, who app.Principal) error {
		_, err := b.Services.Runs.Get(ctx, who, run.ID)
		return err
	})
	job := app.Job{ID: run.ID, Message: run.Message}
	return api.StreamRun(job, botFrames(run.Session, r.Who.Embeds)), nil
}

// botFrames formats runs for embedded pages.
func botFrames(session string, bare bool) api.Frames {
	f := api.Frames{Session: session, Broke: botError}
	if bare {
		f.Alters = func(kind engine.EventType) bool { return !isSpoken(kind) || kind == engine.EventUserInputs }
		f.Change = func(r app.Record) engine.Value {
			return f.Frame(bareEvent(engine.EventType(r.Kind), api.DocumentOf(r.Data)))
		}
		f.Broke = func(end app.End, like engine.Value) engine.Value { return botError(bareEnd(end), like) }
	}
	return f
}

// botError is an error as embedded pages show it.
func botError(end app.End, like engine.Value) engine.Value {
	code := envelope.Code(api.KindBadRequest)
	return like.With("event", engine.String(string(engine.EventMessage))).
		With("data", engine.Object("content", fmt.Sprintf("Error %d: %s", code, end.Error))).
		With("code", engine.Int(int64(code))).With("message", engine.String(end.Error))
}

func (b bots) inputs(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := b.agent(ctx, r)
	if err == nil {
		agent, err = b.Services.Canvases.Chosen(ctx, agent, published(r, b.presenter))
	}
	if err != nil {
		return nil, err
	}
	canvas, err := b.Services.Canvases.Load(agent.DSL)
	if err != nil {
		return nil, err
	}
	form, err := app.InputForm(canvas, engine.StartID)
	if err != nil && !errors.Is(err, engine.ErrRef) {
		return nil, err
	}
	mode := engine.StartParams(canvas.Document()).Get("mode").Text()
	if mode == "" {
		mode = "conversational"
	}
	return envelope.Result(engine.Object("title", agent.Title, "avatar", api.OrNull(agent.Avatar), "inputs", form,
		"prologue", app.Prologue(canvas.Document()), "mode", mode)), nil
}

func (b bots) read(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := b.canvas(ctx, r, r.Params["id"], api.Failed(api.KindNotFound, api.NoCanvas))
	if err != nil {
		return nil, err
	}
	if r.Who.Embeds {
		agent = bareCanvas(agent, b.Services.Canvases.Document(agent.DSL))
	}
	return envelope.OK(b.canvasRow(ctx, agent)), nil
}
