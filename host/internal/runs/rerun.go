package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// prepareBase makes the work of a job that continues from a record of another
// run, on a copy of its document and state.
//
// Errors: [ErrGone], [ErrRecord], [ErrCanvas].
func (l *loader) prepareBase(ctx context.Context, w *work) error {
	records, err := l.reader.Records(ctx, w.job.Base)
	if err != nil {
		return err
	}
	if len(records) == 0 || records[0].Kind != KindDocument {
		return fmt.Errorf("run %q: %w", w.job.Base, ErrGone)
	}
	w.doc, w.rerun = records[0].Data, true
	if err := l.hold(w); err != nil {
		return err
	}
	if w.canvas, err = l.plans.load(w.doc); err != nil {
		return err
	}
	w.state, err = w.canvas.StateAt(events(records), w.job.At)
	if errors.Is(err, engine.ErrState) {
		return fmt.Errorf("run %q, record %d: %w", w.job.Base, w.job.At, ErrRecord)
	}
	return err
}

// Before is the number of the last record at which the state before a node's
// nth execution (1 is the first) is known, for a job's At.
//
// Errors: [ErrGone], [ErrRecord] when the node did not run so often.
func (r *reader) Before(ctx context.Context, run, node string, nth int) (uint64, error) {
	records, err := r.Records(ctx, run)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 {
		return 0, fmt.Errorf("run %q: %w", run, ErrGone)
	}
	var known uint64
	for _, x := range records {
		switch engine.EventType(x.Kind) {
		case engine.EventCheckpoint, engine.EventSnapshot:
			known = x.Seq
		case engine.EventNodeStarted:
			if Facts(x).Node != node {
				continue
			}
			if nth--; nth <= 0 && known > 0 {
				return known, nil
			}
		}
	}
	return 0, fmt.Errorf("run %q: node %q did not run: %w", run, node, ErrRecord)
}
