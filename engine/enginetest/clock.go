package enginetest

import (
	"context"
	"sync"
	"time"
)

// ClockStart is where a Clock begins.
var ClockStart = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// Clock is an engine.Clock that advances only while a caller sleeps: a sleep returns at once
// and moves the time on. The zero Clock begins at ClockStart. It may be used by many goroutines.
//
// Reading the time does not move it, so the output of a run does not depend on the order in which
// its goroutines read it.
type Clock struct {
	mu    sync.Mutex
	slept time.Duration
}

// Now returns the time of the script.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ClockStart.Add(c.slept)
}

// Sleep moves the time on by d, unless ctx has ended.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += max(d, 0)
	return nil
}
