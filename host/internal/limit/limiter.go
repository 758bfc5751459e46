package limit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// LongestWait bounds how long a call waits for a paused model; a longer pause fails it.
	LongestWait = time.Minute
	// maxPause bounds the pause that a server may request.
	maxPause = 10 * time.Minute
)

// PausedError means that the server of the model requested a pause longer than LongestWait; retry
// after Until.
type PausedError struct {
	Model string
	Until time.Time
}

func (e *PausedError) Error() string {
	return fmt.Sprintf("the server asked to send no request before %s", e.Until.UTC().Format(time.RFC3339))
}

// Call describes a call that enters a [Limiter].
type Call struct {
	Tenant string
	Run    string // id of the run; "" for calls outside of runs, which count as one run of their tenant
	Model  string // unique among all tenants
	Limits Limits // of the model; zero fields have the defaults of the [Config]
	Tokens int64  // estimated tokens, input and output
}

// Limiter admits model calls. A nil Limiter admits each call at once. It is safe for concurrent
// use.
type Limiter struct {
	cfg Config

	mu      sync.Mutex
	scopes  map[scopeKey]*scope
	queues  map[queueKey]*queue
	tenants map[string]*party // tenants with waiting calls
	clock   uint64            // calls served
	arrived uint64            // calls that entered
	timer   *time.Timer       // dispatches when a minute or a pause ends
	swept   time.Time
}

type scopeKey struct{ kind, name string }

// New returns a limiter. Errors: those of [Config.Check].
func New(cfg Config) (*Limiter, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Limiter{
		cfg: cfg, scopes: map[scopeKey]*scope{}, queues: map[queueKey]*queue{}, tenants: map[string]*party{},
	}, nil
}

// scope is a bounded unit: a run, a tenant or a model.
type scope struct {
	key    scopeKey
	limits Limits
	active int // calls with a slot
	queued int // calls in queues
	window window
	paused time.Time // no call starts before
}

// free returns when a call fits: now, a time after it, or ok false if a call has to end first.
func (s *scope) free(now time.Time, tokens int64) (at time.Time, ok bool) {
	if s.limits.Concurrency > 0 && s.active >= s.limits.Concurrency {
		return time.Time{}, false
	}
	s.window.expire(now)
	at = s.window.free(now, s.limits, tokens)
	if s.paused.After(at) {
		at = s.paused
	}
	return at, true
}

func (s *scope) begin(now time.Time, tokens int64) {
	s.active++
	s.count(now, 1, tokens)
}

// count adds to the window, if anything of a minute is bounded.
func (s *scope) count(now time.Time, requests int, tokens int64) {
	if s.limits.Requests > 0 || s.limits.Tokens > 0 {
		s.window.expire(now)
		s.window.add(now, requests, tokens)
	}
}

// idle reports whether the scope has no state.
func (s *scope) idle(now time.Time) bool {
	s.window.expire(now)
	return s.active == 0 && s.queued == 0 && len(s.window.entries) == 0 && !s.paused.After(now)
}

// scope returns a scope and creates it if missing. The caller holds mu.
func (l *Limiter) scope(kind, name string, limits Limits) *scope {
	key := scopeKey{kind, name}
	s := l.scopes[key]
	if s == nil {
		s = &scope{key: key}
		l.scopes[key] = s
	}
	s.limits = limits // the limits of a model may have changed
	return s
}

// Enter waits until a call may start. The caller ends it with [Turn.Leave]. Errors: that of ctx, a
// [*PausedError].
func (l *Limiter) Enter(ctx context.Context, c Call) (*Turn, error) {
	if l == nil {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := l.enqueue(c)
	if err != nil || t.started() {
		return t, err
	}
	select {
	case <-t.ready:
		return t, t.err
	case <-ctx.Done():
		l.abandon(t)
		return nil, ctx.Err()
	}
}

// enqueue adds a call to its queue, and starts calls that can start.
func (l *Limiter) enqueue(c Call) (*Turn, error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	model := l.scope("model", c.Model, c.Limits.Or(l.cfg.Model))
	if model.paused.Sub(now) > LongestWait {
		return nil, &PausedError{c.Model, model.paused}
	}
	t := &Turn{limiter: l, call: c, entered: now, ready: make(chan struct{})}
	t.scopes = append(t.scopes, model, l.scope("tenant", c.Tenant, l.cfg.Tenant))
	if c.Run != "" {
		t.scopes = append(t.scopes, l.scope("run", c.Tenant+"\n"+c.Run, l.cfg.Run))
	}
	if l.push(t) {
		l.dispatch(now)
	}
	return t, nil
}

// abandon removes a call whose caller is gone from its queue. If the call has already started, its
// slot is released.
func (l *Limiter) abandon(t *Turn) {
	l.mu.Lock()
	waiting := !t.started()
	if waiting {
		l.remove(t)
		l.dispatch(time.Now())
	}
	l.mu.Unlock()
	if !waiting && t.err == nil {
		t.Leave(0)
	}
}

// pause keeps the calls of a model from starting for a time. Calls that would wait for more than
// [LongestWait] fail.
func (l *Limiter) pause(s *scope, d time.Duration) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := now.Add(min(d, maxPause)); until.After(s.paused) {
		s.paused = until
	}
	if s.paused.Sub(now) > LongestWait {
		l.failQueued(s, &PausedError{s.key.name, s.paused})
	}
	l.dispatch(now)
}

// Waiting returns the number of calls in queues.
func (l *Limiter) Waiting() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, q := range l.queues {
		n += len(q.turns)
	}
	return n
}

// sweep removes idle scopes about once a minute. The caller holds mu.
func (l *Limiter) sweep(now time.Time) {
	if now.Sub(l.swept) < minute {
		return
	}
	l.swept = now
	for key, s := range l.scopes {
		if s.idle(now) {
			delete(l.scopes, key)
		}
	}
}
