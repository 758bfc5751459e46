package failure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// load is a set of clients of one host, and the data that the host has acknowledged to them.
type load struct {
	w    *world
	url  string
	told ledger // guarded by mu while the clients work

	stop  context.CancelFunc
	team  sync.WaitGroup
	mu    sync.Mutex
	dying atomic.Bool // from here on requests may fail, and nothing counts as acknowledged
}

// load starts clients of a host: runs with readers, streaming models, turns in sessions, forms,
// saved canvases, keys and secrets.
func (w *world) load(h *hostProcess) *load {
	ctx, stop := context.WithCancel(w.t.Context())
	l := &load{w: w, url: h.url, stop: stop, told: ledger{titles: map[string]int{}}}
	chain, talks := w.canvas(w.outside.chain(3)), w.canvas(talk)
	for worker := range 2 {
		l.forever(ctx, func(i int) error { return l.one(ctx, "chain", chain, fmt.Sprintf("power-%d-%d", worker, i)) })
		l.forever(ctx, func(i int) error { return l.one(ctx, "talk", talks, fmt.Sprintf("words:%d", 20+i%200)) })
		said := &powerTalk{canvas: chain, session: w.session(chain)}
		l.told.talks = append(l.told.talks, said)
		l.forever(ctx, func(i int) error { return l.turn(ctx, said, fmt.Sprintf("turn-%d", i)) })
		saved := w.canvas(talk)
		l.forever(ctx, func(i int) error { return l.save(ctx, saved, i+1) })
	}
	forms := w.canvas(form)
	l.forever(ctx, func(int) error { return l.form(ctx, forms) })
	l.forever(ctx, func(int) error { return l.key(ctx) })
	prefix := fmt.Sprint("secret-", h.PID(), "-")
	l.forever(ctx, func(i int) error { return l.secret(ctx, fmt.Sprint(prefix, i)) })
	return l
}

// forever repeats a request until the power cut.
func (l *load) forever(ctx context.Context, do func(i int) error) {
	l.team.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := do(i); err != nil {
				if !l.dying.Load() {
					l.w.t.Errorf("with the power on: %v", err)
				}
				return
			}
		}
	})
}

// errDying is the result of a request whose response came too late to count.
var errDying = errors.New("the power is being cut")

// acknowledge records what a host has acknowledged, unless the power cut has begun: of 60 simulated
// cuts, 7 let an fsync succeed whose data was lost, since the kernel aborts the journal of a file
// system while an fsync waits for it.
func (l *load) acknowledge(record func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dying.Load() {
		return errDying
	}
	record()
	return nil
}

// halt records the events of the readers, stops the host with cut, and stops the clients. The
// readers stay and wait for a host.
func (l *load) halt(cut func()) {
	l.mu.Lock()
	l.dying.Store(true)
	l.mu.Unlock()
	for _, r := range l.told.runs {
		r.reader.mu.Lock()
		r.had = slices.Clone(r.reader.events)
		r.reader.mu.Unlock()
		if n := len(r.had); n > 0 && r.had[n-1].kind == "end" {
			var end struct{ Status string }
			require.NoError(l.w.t, json.Unmarshal([]byte(r.had[n-1].data), &end))
			r.status = end.Status
		}
	}
	cut()
	l.stop()
	l.team.Wait()
	for _, r := range l.told.runs {
		r.reader.mu.Lock()
		n := len(r.reader.events)
		r.dying = r.status == "" && n > 0 && r.reader.events[n-1].kind == "end"
		r.reader.mu.Unlock()
	}
}

// settle waits until all runs that the host still has have ended for their readers.
func (l *load) settle() {
	late := time.Now().Add(patience / 2)
	for _, r := range l.told.runs {
		var run struct{}
		status, _ := l.w.try(l.w.t.Context(), "GET", l.w.any()+"/api/v2/runs/"+r.id, "", &run)
		if status == http.StatusNotFound {
			r.leave()
		}
		select {
		case <-r.reader.done:
		case <-time.After(time.Until(late)):
		}
	}
}

// accept starts a run and a reader of it.
func (l *load) accept(ctx context.Context, kind, canvas, session, query string) (*powerRun, error) {
	body := map[string]string{"query": query}
	if session != "" {
		body["session"] = session
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var run struct{ ID string }
	if err := l.w.insist(ctx, l.url+"/api/v2/canvases/"+canvas+"/runs", string(text), &run); err != nil {
		return nil, err
	}
	r := &powerRun{id: run.ID, kind: kind, reader: &reader{w: l.w, run: run.ID, done: make(chan struct{})}}
	reading, leave := context.WithTimeout(l.w.t.Context(), 2*patience)
	r.leave = leave
	if err := l.acknowledge(func() { l.told.runs = append(l.told.runs, r) }); err != nil {
		leave()
		return nil, err
	}
	go func() {
		defer close(r.reader.done)
		defer leave()
		r.reader.err = r.reader.read(reading)
	}()
	return r, nil
}

// finish waits until the reader has the end of a run.
func (l *load) finish(ctx context.Context, r *powerRun) error {
	select {
	case <-r.reader.done:
		return r.reader.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *load) one(ctx context.Context, kind, canvas, query string) error {
	r, err := l.accept(ctx, kind, canvas, "", query)
	if err != nil {
		return err
	}
	return l.finish(ctx, r)
}

func (l *load) turn(ctx context.Context, s *powerTalk, query string) error {
	s.maybe = query
	r, err := l.accept(ctx, "turn", s.canvas, s.session, query)
	if err != nil {
		return err
	}
	if err := l.acknowledge(func() { s.said, s.maybe = append(s.said, query), "" }); err != nil {
		return err
	}
	return l.finish(ctx, r)
}

// form pauses a run in a separate session.
func (l *load) form(ctx context.Context, canvas string) error {
	var session struct{ ID string }
	if _, err := l.w.try(ctx, "POST", l.url+"/api/v2/canvases/"+canvas+"/sessions", `{}`, &session); err != nil {
		return err
	}
	r, err := l.accept(ctx, "form", canvas, session.ID, "please")
	if err != nil {
		return err
	}
	said := &powerTalk{canvas: canvas, session: session.ID, said: []string{"please"}, waits: r}
	if err := l.acknowledge(func() { l.told.talks = append(l.told.talks, said) }); err != nil {
		return err
	}
	if err := l.finish(ctx, r); err != nil {
		return err
	}
	return pauseFor(ctx, 50*time.Millisecond)
}

func (l *load) save(ctx context.Context, canvas string, n int) error {
	var saved struct{}
	body := fmt.Sprintf(
		`{"title":"version %d","dsl":%s}`,
		n,
		strings.Replace(talk, "Talk.", fmt.Sprint("Talk ", n), 1),
	)
	if _, err := l.w.try(ctx, "PUT", l.url+"/api/v2/canvases/"+canvas, body, &saved); err != nil {
		return err
	}
	return l.acknowledge(func() { l.told.titles[canvas] = n })
}

func (l *load) key(ctx context.Context) error {
	var key struct{ Key string }
	if _, err := l.w.try(ctx, "POST", l.url+"/api/v2/keys", `{"name":"k"}`, &key); err != nil {
		return err
	}
	if err := l.acknowledge(func() { l.told.keys = append(l.told.keys, key.Key) }); err != nil {
		return err
	}
	return pauseFor(ctx, 50*time.Millisecond)
}

func (l *load) secret(ctx context.Context, name string) error {
	if _, err := l.w.try(ctx, "PUT", l.url+"/api/v2/secrets/"+name, `{"value":"v"}`, nil); err != nil {
		return err
	}
	if err := l.acknowledge(func() { l.told.secrets = append(l.told.secrets, name) }); err != nil {
		return err
	}
	return pauseFor(ctx, 50*time.Millisecond)
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
