package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// sweepEvery is the interval at which files without a record are deleted, sweepAtOnce bounds their
// number each time.
const (
	sweepEvery  = 30 * time.Second
	sweepAtOnce = 100
)

// sweep deletes files that no record names and datasets of the index that are gone.
func (in *Ingester) sweep(ctx context.Context) {
	for {
		if err := in.Sweep(ctx); err != nil && ctx.Err() == nil {
			in.cfg.Logger.Warn("files of deleted documents were not removed, retrying", "err", err)
		}
		select {
		case <-time.After(sweepEvery):
		case <-ctx.Done():
			return
		}
	}
}

// Sweep deletes files that no record names any more, and prunes the index.
func (in *Ingester) Sweep(ctx context.Context) error {
	for {
		list, err := in.cfg.Store.LooseFiles.Due(ctx, sweepAtOnce)
		if err != nil {
			return err
		}
		for _, f := range list {
			if err := in.cfg.Files.Delete(ctx, f.Name); err != nil && !errors.Is(err, broker.ErrNotFound) {
				return err
			}
			if err := in.cfg.Store.LooseFiles.Forget(ctx, f.Name); err != nil {
				return err
			}
		}
		if len(list) < sweepAtOnce {
			return in.cfg.Replica.Prune(ctx)
		}
	}
}
