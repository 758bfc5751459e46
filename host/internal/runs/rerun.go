package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// prepareBase makes the work of a job that continues from a record of another
// run, on a copy of its document and state.
//
// Errors: [ErrGone], [ErrRecord], [ErrCanvas].
func (l *loader) prepareBase(ctx context.Context, w *work) error {
	if w.job.Answers == w.job.Base {
		if done, err := l.prepareWait(ctx, w); done || err != nil {
			return err
		}
	}
	records, err := l.baseRecords(ctx, &w.job)
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

// baseRecords reads the run that a job continues. One that a former version let wait can be
// continued as long as it is kept: its trace has the state it waits with. Earlier states are in the
// log alone.
func (l *loader) baseRecords(ctx context.Context, j *Job) ([]runlog.Record, error) {
	records, err := l.reader.Records(ctx, j.Base)
	missing := errors.Is(err, ErrGone) || err == nil && len(records) == 0
	if !missing || l.kept == nil || j.At > 0 {
		return records, err
	}
	row, err := l.store.Runs.Get(ctx, j.Tenant, j.Base)
	if err != nil {
		return nil, err
	}
	return l.kept(ctx, row)
}

// Before is the number of a record, for a job's At: a run that continues there starts a node's nth
// execution (1 is the first) again, and those that ran at that time, not those that ended before.
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
	eager := false
	for i, x := range records {
		switch engine.EventType(x.Kind) {
		case engine.EventCheckpoint, engine.EventSnapshot:
			known, eager = x.Seq, !overlapOf(x).IsNull()
		case engine.EventNodeStarted:
			if Facts(x).Node != node {
				continue
			}
			if nth--; nth > 0 || known == 0 {
				continue
			}
			if eager {
				return startedAt(records[i:], node), nil
			}
			return known, nil
		}
	}
	return 0, fmt.Errorf("run %q: node %q did not run: %w", run, node, ErrRecord)
}

// overlapOf returns what a checkpoint has of an eager run only.
func overlapOf(x runlog.Record) engine.Value {
	v, err := engine.ParseJSON(x.Data)
	if err != nil {
		return engine.Null
	}
	return v.Get("data").Get("run").Get("eager")
}

// startedAt returns the checkpoint of an eager run at which the node that the first record starts
// was running: an eager run writes checkpoints behind the starts of nodes. A node that ended before
// the next one starts again from the record before its start, with the results that the log has
// since its last checkpoint.
func startedAt(records []runlog.Record, node string) uint64 {
	for _, x := range records {
		switch engine.EventType(x.Kind) {
		case engine.EventCheckpoint:
			for _, running := range overlapOf(x).Get("running").Elements() {
				if running.At(0).Str() == node {
					return x.Seq
				}
			}
		case engine.EventNodeFinished:
			if Facts(x).Node == node {
				return records[0].Seq - 1
			}
		}
	}
	return records[0].Seq - 1
}
