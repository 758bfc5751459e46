package redisdoor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// KeyWriter stores keys of runs. The key store behind the door and the bridge implement it.
type KeyWriter interface {
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error
	Delete(ctx context.Context, key string) error
}

// traceTTL is the time to live of a trace after its last change, as in the original.
const traceTTL = 10 * time.Minute

// Traces writes the tool calls of runs to "{task}-{message}-logs" and "{task}-logs":
// [{component_id, trace: [{path, tool_name, arguments, result, elapsed_time}]}]. A component that
// calls tools again after another one gets a second entry. Runs never wait for the writer, which
// writes only the latest of several pending changes.
type Traces struct {
	places []KeyWriter
	log    *slog.Logger
	wake   chan struct{}

	mu   sync.Mutex
	runs map[string]*trace // by task
}

type trace struct {
	message string
	entries []engine.Value
	dirty   bool
	used    time.Time
}

// NewTraces returns Traces; [Traces.Write] writes them.
func NewTraces(log *slog.Logger, places ...KeyWriter) *Traces {
	return &Traces{places: places, log: log, wake: make(chan struct{}, 1), runs: map[string]*trace{}}
}

// Tool adds a finished tool call, given the data of its tool_finished event.
func (t *Traces) Tool(task, message string, data engine.Value) {
	id := data.Get("component_id")
	call := engine.TraceEntry(data)
	t.mu.Lock()
	r := t.runs[task]
	if r == nil {
		r = &trace{}
		t.sweep()
		t.runs[task] = r
	}
	if last := len(r.entries) - 1; last >= 0 && r.entries[last].Get("component_id").Str() == id.Str() {
		e := r.entries[last]
		r.entries[last] = e.With("trace", e.Get("trace").Append(call))
	} else {
		r.entries = append(r.entries, engine.Object("component_id", id, "trace", engine.List(call)))
	}
	r.message, r.dirty, r.used = message, true, time.Now()
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// End removes a finished run. A pending change is still written.
func (t *Traces) End(task string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.runs[task]; r != nil && !r.dirty {
		delete(t.runs, task)
	}
}

// Forget deletes the keys of a task, as a reset of its canvas does.
func (t *Traces) Forget(ctx context.Context, task string) error {
	t.mu.Lock()
	delete(t.runs, task)
	t.mu.Unlock()
	var errs []error
	for _, p := range t.places {
		errs = append(errs, p.Delete(ctx, task+"-logs"), p.Delete(ctx, task+"-cancel"))
	}
	return errors.Join(errs...)
}

// sweep removes the traces of runs that continued on another host. The caller holds mu.
func (t *Traces) sweep() {
	for task, r := range t.runs {
		if !r.dirty && time.Since(r.used) > traceTTL {
			delete(t.runs, task)
		}
	}
}

// Write writes changed traces until ctx is done.
func (t *Traces) Write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		for key, value := range t.changed() {
			for _, p := range t.places {
				if err := p.Put(ctx, key, value, traceTTL); err != nil && ctx.Err() == nil {
					t.log.Warn("trace of a run not written", "key", key, "err", err)
				}
			}
		}
	}
}

// changed returns the keys to write.
func (t *Traces) changed() map[string][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string][]byte{}
	for task, r := range t.runs {
		if !r.dirty {
			continue
		}
		r.dirty = false
		value := engine.List(r.entries...).AppendJSON(nil)
		out[task+"-logs"], out[task+"-"+r.message+"-logs"] = value, value
	}
	return out
}
