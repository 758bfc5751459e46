package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/easel-canvas/easel/engine"
)

// The tenant and the canvas every case is played as.
const (
	Tenant   = "tenant_1"
	CanvasID = "canvas_1"
)

// Player plays cases. The zero Player with a Registry loads each turn from the state stored by the
// turn before it, and runs each turn without interruption.
type Player struct {
	Registry    *engine.Registry  // the components; EchoTool is added when it is missing
	Concurrency int               // nodes of a batch at once; 0 is the engine's default
	Scheduling  engine.Scheduling // "" leaves it to the canvas
	// MaxSteps bounds the executions without progress before a run counts as a runaway; 0 is the
	// engine's default.
	MaxSteps int

	// Cut stops a run after the entries it picks, drops every engine object and continues with new
	// ones, made of the log's bytes. Entries behind the last consistent point of the log are void,
	// as after a crash.
	Cut Cut
	// Keep plays all turns on one canvas and one state; without it each turn loads the saved state.
	Keep bool
	// Ports, where set, replace the stand-ins.
	Ports engine.Ports
	// Through wraps the model of the case, such as to send its replies over a protocol; nil does
	// not.
	Through func(engine.Model) engine.Model
	// Log, if set, receives the log of each run, with exchanges; an entry stays valid.
	Log func(run int, e *engine.Event)
	// Secrets are kept out of a recorded case; nil are none.
	Secrets *SecretsTape
}

// Play plays a case with a Player that has only a registry.
func Play(ctx context.Context, reg *engine.Registry, c *Case) (engine.Value, error) {
	return (&Player{Registry: reg}).Play(ctx, c)
}

// Play returns the observation: {"name", "runs": [{"load_error", "events", "error", "llm_calls",
// "tool_calls", "searches", "tool_trace", "saved_memory", "debug_outputs", "dsl_after"}]}, each
// member only where there is something. Errors of the canvas are part of it; the returned error is
// one of playing: a Player without registry, or an engine that contradicts itself when it is cut.
func (p *Player) Play(ctx context.Context, c *Case) (engine.Value, error) {
	s, err := p.begin(c)
	if err != nil {
		return engine.Null, err
	}
	return s.play(ctx, c)
}

// begin makes the session a case is played in.
func (p *Player) begin(c *Case) (*session, error) {
	if p.Registry == nil {
		return nil, errors.New("player: Registry is nil; set the components a canvas may use")
	}
	reg := p.Registry
	if _, err := reg.Lookup("EchoTool"); err != nil {
		reg = reg.Clone()
		if err := reg.Add(EchoToolSpec()); err != nil {
			return nil, fmt.Errorf("player: %w", err)
		}
	}
	return &session{player: p, reg: reg, original: c.DSL.AppendJSON(nil)}, nil
}

// idsPerTurn is the distance between the ids of two turns: the number of ids that one turn draws
// does not affect the next.
const idsPerTurn = 1 << 16

// session is the data that lasts from turn to turn.
type session struct {
	player   *Player
	reg      *engine.Registry
	original []byte
	stored   []byte
	canvas   *engine.Canvas // kept ones, with Keep
	state    *engine.State
	recorded []Run // filled while a case is recorded
}

func (s *session) play(ctx context.Context, c *Case) (engine.Value, error) {
	s.stored = s.original
	runs := make([]engine.Value, len(c.Runs))
	for i := range c.Runs {
		observed, err := s.turn(ctx, i, &c.Runs[i])
		if err != nil {
			return engine.Null, fmt.Errorf("case %q: run %d: %w", c.Name, i+1, err)
		}
		runs[i] = observed
	}
	return engine.Object("name", c.Name, "runs", engine.List(runs...)), nil
}

// load makes the engine objects a turn begins with.
func (s *session) load(fresh bool) (*engine.Canvas, *engine.State, error) {
	if fresh {
		s.stored, s.canvas = s.original, nil
	}
	if s.player.Keep && s.canvas != nil {
		return s.canvas, s.state, nil
	}
	canvas, err := engine.Load(s.reg, s.stored)
	if err != nil {
		return nil, nil, err
	}
	return canvas, canvas.State(), nil
}

// turn plays one run of a case.
func (s *session) turn(ctx context.Context, index int, run *Run) (engine.Value, error) {
	canvas, state, err := s.load(run.Fresh)
	if err != nil {
		return engine.Object("load_error", err.Error()), nil
	}
	t := &turn{session: s, index: index, run: run, canvas: canvas, state: state}
	t.reset()
	t.world = newWorld(s.reg, run, uint64(index)*idsPerTurn, &s.player.Ports)
	if through := s.player.Through; through != nil {
		t.world.ports.Model = through(t.world.ports.Model)
	}
	t.options = engine.Options{
		Ports: t.world.ports, TaskID: fmt.Sprintf("task_%d", index+1), CanvasID: CanvasID, TenantID: Tenant,
		Scheduling:  s.player.Scheduling,
		Concurrency: s.player.Concurrency, MaxSteps: s.player.MaxSteps, Seed: cmp.Or(run.Seed, 1), Internal: true,
		Checkpoints: s.player.Cut != nil || s.player.Log != nil, Exchanges: s.player.Log != nil,
	}
	t.options.Until, t.options.Rerun = run.Until, run.Rerun
	for id, outs := range run.Pins.Fields() {
		if t.options.Pins == nil {
			t.options.Pins = map[string]engine.Value{}
		}
		t.options.Pins[id] = outs
	}
	if !run.Start.IsNull() {
		if t.state, err = canvas.Restore(run.Start.AppendJSON(nil)); err != nil {
			return engine.Object("load_error", err.Error()), nil
		}
	}
	if run.Debug != nil {
		t.debug(ctx)
	} else if err := t.play(ctx); err != nil {
		return engine.Null, err
	}
	s.canvas, s.state = t.canvas, t.state
	s.stored = t.canvas.Save(t.state)
	if s.recorded != nil {
		t.world.record(run, &s.recorded[index])
	}
	return t.observed(s.stored)
}

// turn is one run being played.
type turn struct {
	*session
	index   int
	run     *Run
	world   *world
	canvas  *engine.Canvas
	state   *engine.State
	options engine.Options

	entries []*engine.Event // of the log, since the run began; those that became void are gone
	outs    engine.Value    // of a debugged component
	err     error
}

// reset empties the parts of the state that the run lists.
func (t *turn) reset() {
	if t.run.Reset != ResetNothing {
		t.state.Reset(t.run.Reset == ResetKeepMemory)
	}
}

// debug runs one component; there is no log of it.
func (t *turn) debug(ctx context.Context) {
	t.options.Internal, t.options.Checkpoints = false, false
	t.outs, t.err = t.canvas.Debug(ctx, t.state, t.run.Debug.Component, t.run.Debug.Params, t.options)
}

// play runs to the end, over all cuts.
func (t *turn) play(ctx context.Context) error {
	t.setCancel()
	cut := t.consume(t.first(ctx))
	for cut {
		again, err := t.rebuild()
		if err != nil {
			return err
		}
		t.setCancel()
		switch {
		case again:
			cut = t.consume(t.first(ctx))
		case t.state.Unfinished():
			cut = t.consume(t.canvas.Continue(ctx, t.state, t.options))
		default: // the log reached the end of the run
			t.err = lastError(t.entries)
			return nil
		}
	}
	return nil
}

// first returns the events of the run from its beginning.
func (t *turn) first(ctx context.Context) iter.Seq2[*engine.Event, error] {
	if t.run.Start.IsNull() {
		return t.canvas.Run(ctx, t.state, t.run.Input(), t.options)
	}
	return t.canvas.Continue(ctx, t.state, t.options)
}

// startState returns the state in which the run begins.
func (t *turn) startState() (*engine.State, error) {
	if t.run.Start.IsNull() {
		return t.canvas.State(), nil
	}
	return t.canvas.Restore(t.run.Start.AppendJSON(nil))
}

// setCancel sets the cancellation, without the events counted before a cut.
func (t *turn) setCancel() {
	c := t.run.Cancel
	t.options.CancelBefore, t.options.CancelAfter = false, nil
	if c == nil {
		return
	}
	after := c.After
	after.Nth = max(after.Nth, 1)
	for _, e := range t.entries {
		if e.Type == after.Event && (after.Node == "" || after.Node == e.Node) {
			after.Nth--
		}
	}
	if c.Before || after.Nth <= 0 {
		t.options.CancelBefore = true
	} else {
		t.options.CancelAfter = &after
	}
}

// consume takes the entries of one stretch. It reports whether the run was cut.
func (t *turn) consume(events func(yield func(*engine.Event, error) bool)) (cut bool) {
	for e, err := range events {
		if err != nil {
			t.err = err
			break
		}
		e = e.Clone()
		t.entries = append(t.entries, e)
		if consistent(e) {
			t.world.repeated(func(r *repetitions, n int) { r.settled, r.open = n, nil })
		}
		if t.player.Log != nil {
			t.player.Log(t.index, e)
		}
		if t.player.Cut != nil && t.player.Cut(e) {
			return true
		}
	}
	return false
}

// observed returns the run as `easel replay` prints it.
func (t *turn) observed(stored []byte) (engine.Value, error) {
	after, err := engine.ParseJSON(stored)
	if err != nil {
		return engine.Null, fmt.Errorf("the saved canvas: %w", err)
	}
	var events, trace []engine.Value
	for _, e := range t.entries {
		switch {
		case e.Type.Wire():
			events = append(events, e.Value())
		case e.Type == engine.EventToolFinished:
			trace = append(trace, e.Data())
		}
	}
	b := engine.NewObject(8)
	if t.run.Debug == nil {
		b.Set("events", engine.List(events...))
	} else {
		b.Set("debug_outputs", t.outs)
	}
	if t.err != nil {
		b.Set("error", engine.String(t.err.Error()))
	}
	for _, m := range [...]struct {
		name string
		list []engine.Value
	}{
		{"llm_calls", t.world.calls()},
		{"tool_calls", t.world.toolCalls()},
		{"searches", t.world.searches.made()},
		{"tool_trace", trace},
		{"saved_memory", t.world.memory.Saved()},
	} {
		if len(m.list) > 0 {
			b.Set(m.name, engine.List(m.list...))
		}
	}
	return b.Set("dsl_after", after).Value(), nil
}
