package runlog

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/kv"
)

// cancelKept is how long a cancel mark waits for its run.
const cancelKept = 24 * time.Hour

// Cancel ends the context of all leases, on any host, whose run has this id or
// lists it among its tasks. A run that is still queued is canceled when it is
// claimed. A run that does not exist is no error.
func (l *Log) Cancel(ctx context.Context, task string) error {
	return l.keys.Put(ctx, task+kv.CancelSuffix, []byte("x"), cancelKept)
}

// cancelTask is called for each stored cancel mark.
func (l *Log) cancelTask(task string) {
	for _, e := range l.leases.of(task) {
		e.cancel(ErrCanceled)
	}
}

// recheckCancels finds marks that were set while the connection was lost.
func (l *Log) recheckCancels() {
	for _, e := range l.leases.all() {
		l.checkCancel(e.ctx, e)
	}
}

// checkCancel finds marks that were set before the lease began.
func (l *Log) checkCancel(ctx context.Context, e *Lease) {
	for _, task := range e.Run.names() {
		if _, _, err := l.keys.Get(ctx, task+kv.CancelSuffix); err == nil {
			e.cancel(ErrCanceled)
			return
		}
	}
}

// dropCancels removes the mark of a run that has ended. Marks of its other
// names stay: they may be meant for other runs as well.
func (l *Log) dropCancels(ctx context.Context, run Run) {
	if err := l.keys.Delete(ctx, run.ID+kv.CancelSuffix); err != nil {
		l.cfg.Log.Warn("cancel mark stays until it expires", "run", run.ID, "err", err)
	}
}
