package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// cancellation is the signal that a run has to stop. Its flag is for all goroutines, the rest for
// the owner of the run.
type cancellation struct {
	outer context.Context    // the caller's
	ctx   context.Context    // ends when the run is cancelled or its consumer leaves; made by work
	stop  context.CancelFunc // ends ctx
	flag  atomic.Bool
	port  <-chan struct{} // closed when the port cancels the run

	timer *time.Timer // of Limits.Seconds; nil when there is no such limit
	late  atomic.Bool // the timer stopped the run
}

// stopAfter stops the run when it has taken d.
func (c *cancellation) stopAfter(d time.Duration) {
	c.work()
	c.timer = time.AfterFunc(d, func() {
		c.late.Store(true)
		c.flag.Store(true)
		c.stop() // not halt: the timer is the owner's
	})
}

// work returns the context of operations that may take long. It is made when first needed, by the
// owner and before any worker starts, because most small runs never need it.
func (c *cancellation) work() context.Context {
	if c.ctx == nil {
		c.ctx, c.stop = context.WithCancel(c.outer)
		if c.flag.Load() {
			c.stop()
		}
	}
	return c.ctx
}

// halt stops all workers of the run.
func (c *cancellation) halt() {
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.stop != nil {
		c.stop()
	}
}

func (c *cancellation) cancelNow() {
	c.flag.Store(true)
	c.halt()
}

// canceled reports whether the run was canceled. The port's channel is checked first, so that a
// cancel counts from the moment it is given.
func (c *cancellation) canceled() bool {
	if c.flag.Load() {
		return true
	}
	select {
	case <-c.port:
		c.cancelNow()
		return true
	default:
	}
	if c.outer.Err() != nil {
		c.flag.Store(true)
		return true
	}
	return false
}

// inline returns the context of components that do not block.
func (c *cancellation) inline() context.Context {
	if c.ctx != nil {
		return c.ctx
	}
	return c.outer
}
