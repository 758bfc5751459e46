package main

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// piece is a part of an answer.
type piece struct {
	text     string
	ok, last bool
}

// question is a call that waits for its answer. Pieces queue up, so delivering one never waits.
type question struct {
	mu     sync.Mutex
	pieces []piece
	news   chan struct{}
}

func (q *question) push(p piece) {
	q.mu.Lock()
	q.pieces = append(q.pieces, p)
	q.mu.Unlock()
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// next waits for the next piece.
func (q *question) next(ctx context.Context) (piece, error) {
	for {
		q.mu.Lock()
		if len(q.pieces) > 0 {
			p := q.pieces[0]
			q.pieces = q.pieces[1:]
			q.mu.Unlock()
			return p, nil
		}
		q.mu.Unlock()
		select {
		case <-q.news:
		case <-ctx.Done():
			return piece{}, ctx.Err()
		}
	}
}

// stream calls the host and yields the pieces of its response; an error is the last of them.
// Leaving early withdraws the call, unless the whole run ends, of which the host is notified.
func (r *run) stream(ctx context.Context, kind, node string, payload engine.Value) iter.Seq2[engine.Value, error] {
	return func(yield func(engine.Value, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(engine.Null, err)
			return
		}
		id, q := r.ask(kind, node, payload)
		defer r.forget(id)
		for {
			p, err := q.next(ctx)
			if err != nil {
				yield(engine.Null, err)
				return
			}
			answer, err := p.read(kind)
			if err != nil {
				yield(engine.Null, err)
				return
			}
			if !yield(answer, nil) || p.last {
				return
			}
		}
	}
}

// once calls the host and returns the last piece of its response, which is the whole.
func (r *run) once(ctx context.Context, kind string, payload engine.Value) (engine.Value, error) {
	return r.onceFor(ctx, kind, "", payload)
}

// onceFor is once for a call that names the node that makes it.
func (r *run) onceFor(ctx context.Context, kind, node string, payload engine.Value) (engine.Value, error) {
	var answer engine.Value
	for v, err := range r.stream(ctx, kind, node, payload) {
		if err != nil {
			return engine.Null, err
		}
		answer = v
	}
	return answer, nil
}

func (r *run) ask(kind, node string, payload engine.Value) (uint32, *question) {
	q := &question{news: make(chan struct{}, 1)}
	r.b.mu.Lock()
	r.b.asked++
	id := r.b.asked
	r.b.calls[id] = q
	r.b.mu.Unlock()
	call := engine.NewObject(3).Set("kind", engine.String(kind))
	if node != "" {
		call.Set("node", engine.String(node))
	}
	r.out.flush()
	r.b.host.call(r.id, id, call.Set("payload", payload).Value().AppendJSON(nil))
	return id, q
}

// forget drops a call; one that is still open is withdrawn.
func (r *run) forget(id uint32) {
	r.b.mu.Lock()
	_, open := r.b.calls[id]
	delete(r.b.calls, id)
	r.b.mu.Unlock()
	if open && r.ctx.Err() == nil {
		r.b.host.call(r.id, id, []byte(`{"kind":"abort"}`))
	}
}

// read parses a piece; one that is not ok is returned as an error.
func (p piece) read(kind string) (engine.Value, error) {
	if p.text == "" {
		p.text = "null"
	}
	v, err := engine.ParseJSONText(p.text)
	switch {
	case err != nil:
		return engine.Null, errors.New(kind + ": the host's answer: " + err.Error())
	case p.ok:
		return v, nil
	}
	f := &failure{
		code: v.Get("code").Str(), text: v.Get("message").Text(), retry: v.Get("retry").True(),
		data: v.Get("data"),
	}
	if f.code == "" {
		f.code = engine.CodeRunFailed
	}
	if f.text == "" {
		f.text = kind + ": the host failed and did not say why"
	}
	return engine.Null, f
}
