package runner

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// cancelKept is how long a cancel mark waits for its run.
const cancelKept = 24 * time.Hour

// cancelSuffix ends the keys that cancel, as the original names them.
const cancelSuffix = "-cancel"

// Cancel ends the context of all leases, on any host, whose run has this id or
// lists it among its tasks. A run that is still queued is canceled when it is
// claimed. It is no error when there is no such run.
func (l *Log) Cancel(ctx context.Context, task string) error {
	return l.Put(ctx, task+cancelSuffix, []byte("x"), cancelKept)
}

// canceled hears of each stored cancel mark.
func (l *Log) canceled(msg *nats.Msg) {
	task, ok := untoken(msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:])
	if !ok || len(msg.Data) == 0 {
		return
	}
	l.cancelTask(task)
}

func (l *Log) cancelTask(task string) {
	l.mu.Lock()
	var hit []*Lease
	for e := range l.tasks[task] {
		hit = append(hit, e)
	}
	for tap := range l.taps {
		tap.put(task)
	}
	l.mu.Unlock()
	for _, e := range hit {
		e.cancel(ErrCanceled)
	}
}

// recheckCancels looks for marks that were set while the connection was away.
func (l *Log) recheckCancels() {
	l.mu.Lock()
	leases := make([]*Lease, 0, len(l.leases))
	for _, e := range l.leases {
		leases = append(leases, e)
	}
	l.mu.Unlock()
	for _, e := range leases {
		l.checkCancel(e.ctx, e)
	}
}

// checkCancel looks for marks that were set before the lease began.
func (l *Log) checkCancel(ctx context.Context, e *Lease) {
	for _, task := range e.Run.names() {
		if _, _, err := l.Get(ctx, task+cancelSuffix); err == nil {
			e.cancel(ErrCanceled)
			return
		}
	}
}

// dropCancels removes the marks of a run that has ended. Marks of its other
// names stay: they may be meant for other runs as well.
func (l *Log) dropCancels(ctx context.Context, run Run) {
	if err := l.Del(ctx, run.ID+cancelSuffix); err != nil {
		l.cfg.Log.Warn("cancel mark stays until it expires", "run", run.ID, "err", err)
	}
}

// Cancelled gives the name of each task that is canceled, on any host, while
// ctx lasts. None is dropped for a slow receiver.
func (l *Log) Cancelled(ctx context.Context) <-chan string {
	tap := &cancelTap{bell: make(chan struct{}, 1)}
	l.mu.Lock()
	l.taps[tap] = true
	l.mu.Unlock()
	out := make(chan string)
	go func() {
		defer close(out)
		defer func() {
			l.mu.Lock()
			delete(l.taps, tap)
			l.mu.Unlock()
		}()
		for {
			select {
			case <-tap.bell:
			case <-ctx.Done():
				return
			case <-l.ctx.Done():
				return
			}
			for _, task := range tap.take() {
				select {
				case out <- task:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// cancelTap is a queue between the one watcher and one receiver.
type cancelTap struct {
	mu    sync.Mutex
	tasks []string
	bell  chan struct{}
}

func (t *cancelTap) put(task string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tasks = append(t.tasks, task)
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

func (t *cancelTap) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	tasks := t.tasks
	t.tasks = nil
	return tasks
}
