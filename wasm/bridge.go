package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// abi is the version of the contract in js/PROTOCOL.md.
const abi = 1

// version is the release; the linker sets it (-X main.version=...).
var version = "0.1.0"

// host is the interface of the module to its host. A text is valid until the method returns.
type host interface {
	emit(run uint32, text []byte)
	call(run, call uint32, text []byte)
	done(id uint32, ok bool, text []byte)
}

// bridge is one module: its canvases, its runs and the calls that wait for an answer.
type bridge struct {
	host     host
	registry *engine.Registry

	mu       sync.Mutex
	canvases map[uint32]*held
	runs     map[uint32]*run
	calls    map[uint32]*question
	plugins  map[string]*plugin // by name
	handles  uint32             // last handle
	asked    uint32             // last call
}

func newBridge(h host) *bridge {
	reg, err := engine.NewRegistry(append(component.Builtin(), extra...)...)
	if err != nil {
		panic(err) // two built-ins of one name: no build passes its tests so
	}
	b := &bridge{
		host: h, registry: reg,
		canvases: map[uint32]*held{}, runs: map[uint32]*run{}, calls: map[uint32]*question{},
		plugins: map[string]*plugin{},
	}
	reg.Plugin = b.lookup
	return b
}

// load answers a request.
func (b *bridge) load(id uint32, text string) {
	go func() {
		answer, err := b.request(text)
		if err != nil {
			b.host.done(id, false, failureOf(err))
			return
		}
		b.host.done(id, true, answer)
	}()
}

// start begins a run.
func (b *bridge) start(id uint32, text string) {
	ctx, stop := context.WithCancel(context.Background())
	r := &run{b: b, id: id, ctx: ctx, stop: stop}
	r.out.host, r.out.run = b.host, id
	b.mu.Lock()
	b.runs[id] = r
	b.mu.Unlock()
	go func() {
		ok, text := r.play(text)
		b.mu.Lock()
		delete(b.runs, id)
		b.mu.Unlock()
		r.stop()
		r.out.close()
		b.host.done(id, ok, text)
	}()
}

// deliver passes a piece of an answer to its call; an unknown call has been abandoned.
func (b *bridge) deliver(call uint32, ok, more bool, text string) {
	b.mu.Lock()
	q := b.calls[call]
	if q != nil && (!ok || !more) {
		delete(b.calls, call)
	}
	b.mu.Unlock()
	if q != nil {
		q.push(piece{text: text, ok: ok, last: !ok || !more})
	}
}

// cancel ends a run soon.
func (b *bridge) cancel(id uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.runs[id]; r != nil {
		r.stop()
	}
}

// close releases a canvas; 0 releases everything and cancels every run.
func (b *bridge) close(handle uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if handle != 0 {
		delete(b.canvases, handle)
		return
	}
	clear(b.canvases)
	for _, r := range b.runs {
		r.stop()
	}
}

// keep stores a canvas and returns its handle.
func (b *bridge) keep(h *held) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handles++
	b.canvases[b.handles] = h
	return b.handles
}

// borrow takes a canvas for one change or one run; free returns it.
func (b *bridge) borrow(handle engine.Value) (h *held, free func(), err error) {
	n, _ := handle.Int()
	b.mu.Lock()
	defer b.mu.Unlock()
	h = b.canvases[uint32(n)]
	switch {
	case h == nil:
		return nil, nil, &failure{code: codeRequest, text: fmt.Sprintf("no canvas has the handle %s", handle.JSON())}
	case h.busy:
		return nil, nil, &failure{code: codeBusy, text: fmt.Sprintf("canvas %d is running; wait for its end", n)}
	}
	h.busy = true
	return h, func() {
		b.mu.Lock()
		h.busy = false
		b.mu.Unlock()
	}, nil
}
