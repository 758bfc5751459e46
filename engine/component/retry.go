package component

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// retry calls try once and then up to max_retries times more, with the node's delay between. Model
// nodes do this by themselves, because their default replaces the answer after the last attempt.
func retry(ctx context.Context, call *engine.Call, c *engine.Common, try func() error) error {
	for n := 0; ; n++ {
		err := try()
		if err == nil || n >= c.MaxRetries || isFinal(ctx, err) {
			return err
		}
		if err := call.Sleep(ctx, time.Duration(c.DelayAfterError*float64(time.Second))); err != nil {
			return err
		}
	}
}

// isFinal reports whether a retry cannot help.
func isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || isStopped(err) || errors.Is(err, engine.ErrNoPort) || errors.Is(err, engine.ErrLimit) ||
		errors.Is(err, engine.ErrNoRetry) || errors.Is(err, engine.ErrRef)
}

// isStopped reports whether the run was canceled.
func isStopped(err error) bool {
	return errors.Is(err, engine.ErrCanceled) || errors.Is(err, context.Canceled)
}

// endsNode reports whether an error must fail the node instead of being skipped.
func endsNode(err error) bool {
	return isStopped(err) || errors.Is(err, engine.ErrLimit) || errors.Is(err, engine.ErrHostMemory)
}

// standIn returns the fallback output for a failed answer, if the canvas has one.
func standIn(c *engine.Common) (string, bool) {
	v := c.ErrorDefault()
	return v.Text(), !v.IsNull()
}
