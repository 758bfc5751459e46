package plugin

import (
	"context"
	"time"
)

// gate lets a number of holders in at once.
type gate chan struct{}

func newGate(n int) gate { return make(gate, n) }

// enter takes a place. It gives up when ctx ends or after wait, if wait is positive.
func (g gate) enter(ctx context.Context, wait time.Duration) bool {
	select {
	case g <- struct{}{}:
		return true
	default:
	}
	var late <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		late = t.C
	}
	select {
	case g <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-late:
	}
	return false
}

func (g gate) leave() { <-g }
