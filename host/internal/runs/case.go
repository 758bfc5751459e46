package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// caseTime bounds how long a run is played again for its case.
const caseTime = time.Minute

// casesAtOnce bounds how many runs a host plays again at once: they take processors from others.
const casesAtOnce = 2

// Case makes a case of `easel test` of a run that has ended: the document that ran, what it was
// given, what models, tools and searches answered, and what came of it. The case is played once; a
// run that comes out differently has no case.
//
// Errors: [ErrGone], [ErrCase] with the reason, and that of ctx if it ends while others are played.
func (r *Runs) Case(ctx context.Context, run store.Run) (engine.Value, error) {
	if run.Status == store.RunActive {
		return engine.Null, fmt.Errorf("%w: it has not ended", ErrCase)
	}
	select {
	case r.cases <- struct{}{}:
		defer func() { <-r.cases }()
	case <-ctx.Done():
		return engine.Null, ctx.Err()
	}
	records, err := r.ended(ctx, run)
	if err != nil {
		return engine.Null, err
	}
	dsl, err := engine.ParseJSON(records[0].Data)
	if err != nil {
		return engine.Null, err
	}
	player := &enginetest.Player{Registry: r.cfg.Registry}
	if r.cfg.Ports != nil {
		player.Ports.Code = r.cfg.Ports(&Job{ID: run.ID, Tenant: run.Tenant, Canvas: run.Canvas, User: run.User}).Code
	}
	ctx, done := context.WithTimeout(ctx, caseTime)
	defer done()
	given := enginetest.Recorded{DSL: dsl, Log: entries(records)}
	if len(records) > 1 && records[1].Kind == KindOptions {
		v, err := engine.ParseJSON(records[1].Data)
		if err != nil {
			return engine.Null, err
		}
		given.Pins, given.Until = v.Get("pins"), v.Get("until").Str()
	}
	made, err := player.FromLog(ctx, "run_"+run.ID, "recorded from a run on a host", given)
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", ErrCase, err)
	}
	return made.Value(), nil
}

// ended returns the records of an ended run, from the log or from its trace, without the exchanges
// that a takeover has repeated.
func (r *Runs) ended(ctx context.Context, run store.Run) ([]runlog.Record, error) {
	records, err := r.Records(ctx, run.ID)
	if err == nil && (len(records) == 0 || records[0].Kind != KindDocument) {
		err = fmt.Errorf("run %q: %w", run.ID, ErrGone)
	}
	if errors.Is(err, ErrGone) && r.cfg.Kept != nil {
		return r.cfg.Kept(ctx, run)
	}
	return WithoutRepeated(records), err
}

// entries returns the engine's entries among records, with marks of takeovers.
func entries(records []runlog.Record) (list []*engine.Event) {
	for _, r := range records {
		switch r.Kind {
		case KindDocument, KindOptions, KindEnd:
		case KindTakeover:
			list = append(list, &engine.Event{Type: enginetest.EventTakeover})
		default:
			list = append(list, event(r))
		}
	}
	return list
}

// WithoutRepeated returns the records of a whole log without the exchanges of executions that a
// takeover has repeated, since no result of them was in the log. What readers have seen stays: it
// is not sent again.
func WithoutRepeated(records []runlog.Record) (list []runlog.Record) {
	known := 0 // of list, up to the last checkpoint
	for _, r := range records {
		if r.Kind == KindTakeover {
			list = append(list[:known:known], settled(list[known:])...)
		}
		list = append(list, r)
		switch engine.EventType(r.Kind) {
		case engine.EventCheckpoint, engine.EventSnapshot, KindTakeover:
			known = len(list)
		}
	}
	return list
}

// settled drops the exchanges of nodes whose result is not among the records.
func settled(records []runlog.Record) (list []runlog.Record) {
	done := map[string]bool{}
	for _, r := range records {
		if r.Kind == string(engine.EventResult) {
			v := event(r).Data()
			done[execution(v.Get("node"), v.Get("item"))] = true
		}
	}
	for _, r := range records {
		if r.Kind == string(engine.EventExchange) {
			v := event(r).Data()
			if !done[execution(v.Get("component_id"), v.Get("index_path").At(0))] {
				continue
			}
		}
		list = append(list, r)
	}
	return list
}

// execution names an execution of a node, or the one of all nodes in a body for an element: their
// result is one.
func execution(node, element engine.Value) string {
	if element.IsNull() {
		return node.Str()
	}
	return "element " + element.JSON()
}
