package main

import (
	"context"
	"sync"
)

// noteOrder keeps the bridge's events after the earlier entries of components, such as the end of a
// tool: a component records entries on its goroutine, and the goroutine of the run emits them.
type noteOrder struct {
	mu   sync.Mutex
	last uint64        // number of the last note that was handed out
	more chan struct{} // closed when last grows; nil when nothing waits for it
}

// passed records that all notes up to n have been emitted.
func (o *noteOrder) passed(n uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = n
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
}

// wait returns when all notes up to n have been emitted, or with the error of ctx.
func (o *noteOrder) wait(ctx context.Context, n uint64) error {
	for {
		o.mu.Lock()
		if o.last >= n {
			o.mu.Unlock()
			return nil
		}
		if o.more == nil {
			o.more = make(chan struct{})
		}
		more := o.more
		o.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
