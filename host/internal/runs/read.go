package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// reader reads the records of runs.
type reader struct{ log *runlog.Log }

// Follow gives fn the records of a run after a place, see [runlog.Log.Follow].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *reader) Follow(ctx context.Context, run string, after runlog.Pos, fn func(runlog.Record) bool) error {
	err := r.log.Follow(ctx, run, after, fn)
	if errors.Is(err, broker.ErrGone) {
		return fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return err
}

// Place finds where a reader continues, see [runlog.Log.Place].
//
// Errors: [ErrGone] when the run's records are no longer kept.
func (r *reader) Place(ctx context.Context, run string, seen runlog.Pos, attempt uint64) (runlog.Place, error) {
	p, err := r.log.Place(ctx, run, seen, attempt)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return p, err
}

// Kept reports whether any record of a run that has ended can still be read. A
// log that has forgotten the end, and whose readers would wait for it, gets it
// again.
func (r *reader) Kept(ctx context.Context, row store.Run) (bool, error) {
	pos, ended, err := r.log.Ended(ctx, row.ID)
	if err != nil || ended || pos.Seq == 0 {
		return pos.Seq != 0, err
	}
	data, err := json.Marshal(&Job{ID: row.ID, Message: row.Message, Tenant: row.Tenant, Canvas: row.Canvas, User: row.User, Source: row.Source})
	if err != nil {
		return false, err
	}
	// Most often its host is about to write the end, and this is dropped.
	return true, r.log.Submit(ctx, runlog.Run{ID: row.ID, Data: data})
}

// Records reads what is stored of a run now, without waiting for more.
func (r *reader) Records(ctx context.Context, run string) ([]runlog.Record, error) {
	records, err := r.log.Records(ctx, run)
	if errors.Is(err, broker.ErrGone) {
		err = fmt.Errorf("run %q: %w", run, ErrGone)
	}
	return records, err
}
