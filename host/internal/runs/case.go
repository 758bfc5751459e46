package runs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// caseTime bounds how long a run is played again for its case.
const caseTime = time.Minute

// casesAtOnce bounds how many runs a host plays again at once: they take processors from others.
const casesAtOnce = 2

// Case makes a case of `easel test` of the run of a job that has ended: the document that ran, what
// it was given, what models, tools and searches answered, and what came of it. The case is played
// once; a run that comes out differently has no case.
//
// Errors: [ErrGone], [ErrCase] with the reason, and that of ctx if it ends while others are played.
func (r *Runs) Case(ctx context.Context, j *Job) (engine.Value, error) {
	select {
	case r.cases <- struct{}{}:
		defer func() { <-r.cases }()
	case <-ctx.Done():
		return engine.Null, ctx.Err()
	}
	records, err := r.Records(ctx, j.ID)
	switch {
	case err != nil:
		return engine.Null, err
	case len(records) == 0 || records[0].Kind != KindDocument:
		return engine.Null, fmt.Errorf("run %q: %w", j.ID, ErrGone)
	case records[len(records)-1].Kind != KindEnd:
		return engine.Null, fmt.Errorf("%w: it has not ended", ErrCase)
	}
	dsl, err := engine.ParseJSON(records[0].Data)
	if err != nil {
		return engine.Null, err
	}
	player := &enginetest.Player{Registry: r.cfg.Registry}
	if r.cfg.Ports != nil {
		player.Ports.Code = r.cfg.Ports(j).Code
	}
	ctx, done := context.WithTimeout(ctx, caseTime)
	defer done()
	made, err := player.FromLog(ctx, "run_"+j.ID, "recorded from a run on a host", dsl, exchanged(records))
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", ErrCase, err)
	}
	return made.Value(), nil
}

// exchanged returns the entries of a run, with marks of takeovers and without the exchanges of
// executions that a takeover has repeated.
func exchanged(records []runlog.Record) []*engine.Event {
	var list []*engine.Event
	known := 0 // entries up to the last checkpoint
	for _, r := range records {
		switch r.Kind {
		case KindDocument, KindEnd:
			continue
		case KindTakeover:
			list = slices.Concat(list[:known], withoutRepeated(list[known:]))
			list = append(list, &engine.Event{Type: enginetest.EventTakeover})
			known = len(list)
			continue
		}
		list = append(list, event(r))
		switch engine.EventType(r.Kind) {
		case engine.EventCheckpoint, engine.EventSnapshot:
			known = len(list)
		}
	}
	return list
}

// withoutRepeated drops the exchanges of nodes whose execution has no result in the log: they ran
// again. Entries that readers have seen stay, since they are not sent again.
func withoutRepeated(list []*engine.Event) []*engine.Event {
	done := map[string]bool{}
	for _, e := range list {
		if e.Type == engine.EventResult {
			v := e.Data()
			done[execution(v.Get("node"), v.Get("item"))] = true
		}
	}
	return slices.DeleteFunc(list, func(e *engine.Event) bool {
		v := e.Data()
		return e.Type == engine.EventExchange && !done[execution(v.Get("component_id"), v.Get("index_path").At(0))]
	})
}

// execution names an execution of a node, or the one of all nodes in a body for an element: their
// result is one.
func execution(node, element engine.Value) string {
	if element.IsNull() {
		return node.Str()
	}
	return "element " + element.JSON()
}
