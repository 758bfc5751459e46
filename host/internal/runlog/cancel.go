package runlog

import (
	"context"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/kv"
)

// cancelKept is the time that a cancel mark waits for its run.
const cancelKept = 24 * time.Hour

// cancels ends runs by their marks in the key store.
type cancels struct {
	keys   *kv.Store
	leases *leases
	logger *slog.Logger
}

// Cancel ends the context of all leases, on any host, whose run has this id or
// lists it among its tasks. A run that is still queued is canceled when it is
// claimed. A run that does not exist is not an error.
func (c *cancels) Cancel(ctx context.Context, task string) error {
	return c.keys.PutAlways(ctx, task+kv.CancelSuffix, []byte("x"), cancelKept)
}

// cancelTask is called for each stored cancel mark.
func (c *cancels) cancelTask(task string) {
	for _, e := range c.leases.canceled(task) {
		e.cancel(ErrCanceled)
	}
}

// recheckCancels finds marks that were set while the connection was lost.
func (c *cancels) recheckCancels() {
	for _, e := range c.leases.all() {
		c.checkCancel(e.ctx, e)
	}
}

// checkCancel finds marks that were set before the lease began.
func (c *cancels) checkCancel(ctx context.Context, e *Lease) {
	for _, task := range e.Run.names() {
		if _, _, err := c.keys.Get(ctx, task+kv.CancelSuffix); err == nil {
			e.cancel(ErrCanceled)
			return
		}
	}
}

// dropCancels removes the mark of a run that has ended. Marks of its other
// names stay: they may be meant for other runs as well.
func (c *cancels) dropCancels(ctx context.Context, run Run) {
	if err := c.keys.Delete(ctx, run.ID+kv.CancelSuffix); err != nil {
		c.logger.Warn("cancel mark stays until it expires", "run", run.ID, "err", err)
	}
}
