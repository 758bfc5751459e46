package runs

import (
	"context"
	"sync"
)

// workers counts the runs at work on this host, and ends the starts that wait
// when it stops.
type workers struct {
	stopping context.Context // ends with Stop, with ErrClosed as its cause
	stop     context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	working sync.WaitGroup
}

func newWorkers() *workers {
	w := &workers{}
	w.stopping, w.stop = context.WithCancelCause(context.Background())
	return w
}

// Stop makes [Runs.Start] return [ErrClosed] from now on, to the turns that wait
// for their session too. Runs that were accepted go on, and so does
// [Runs.Work], until the run log is closed.
func (w *workers) Stop() { w.stop(ErrClosed) }

// Close stops and waits until the jobs of this host have let go. The caller closes the run log
// before or during the call, which hands them over.
func (w *workers) Close() {
	w.Stop()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.working.Wait()
}

// enter counts one more worker, or reports that the host stops.
func (w *workers) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.working.Add(1)
	return true
}
