package plugin

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/plugins/contract"
)

// interpreter is a second runtime of a host, for modules that have to start before their compiled
// code is there. It is made on first use.
type interpreter struct {
	mu      sync.Mutex
	runtime wazero.Runtime // nil until it is used
}

// get returns the runtime, with the imports of the host.
func (i *interpreter) get(ctx context.Context) (wazero.Runtime, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.runtime != nil {
		return i.runtime, nil
	}
	cfg := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
	r := wazero.NewRuntimeWithConfig(ctx, cfg)
	if _, err := bindImports(ctx, r); err != nil {
		return nil, errors.Join(contract.Errorf(contract.Internal, "bind imports: %s", err), r.Close(ctx))
	}
	i.runtime = r
	return r, nil
}

// close frees the runtime.
func (i *interpreter) close(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.runtime == nil {
		return nil
	}
	return i.runtime.Close(ctx)
}

// interpret prepares a metered module for the interpreter.
func (m *Module) interpret(ctx context.Context, metered []byte) (err error) {
	if m.runtime, err = m.host.interpreter.get(ctx); err != nil {
		return err
	}
	if m.compiled, err = m.runtime.CompileModule(ctx, metered); err != nil {
		return contract.AsError(err, contract.Malformed)
	}
	return nil
}

// Handover moves a call from an interpreted module to the compiled one, which begins it again.
// Requests of http.fetch that were answered already are not sent again.
type Handover struct {
	// Ready reports whether the call should move; it may wait for the compiled module. It is asked
	// after each answer to http.fetch, with the size of the answer in bytes.
	Ready func(ctx context.Context, size int) bool

	answered []exchange
	next     int
	moved    bool
}

type exchange struct{ request, answer []byte }

// Moved reports whether the interpreted module ended the call for the compiled one.
func (h *Handover) Moved() bool { return h.moved }

// Interpreted reports whether calls of the module may be handed over.
func (m *Module) Interpreted() bool { return m.runtime != m.host.runtime }

// replay returns the answer that the interpreted module got to the same request.
func (h *Handover) replay(request []byte) ([]byte, bool) {
	if h == nil || !h.moved || h.next == len(h.answered) || !bytes.Equal(h.answered[h.next].request, request) {
		return nil, false
	}
	h.next++
	return h.answered[h.next-1].answer, true
}

// handOver records an answer to http.fetch, and ends the call if the compiled module continues it.
func (r *requests) handOver(request, answer []byte) {
	g, h := r.g, r.g.req.Handover
	if h == nil || h.moved || !g.m.Interpreted() {
		return
	}
	h.answered = append(h.answered, exchange{bytes.Clone(request), answer})
	ready := false
	r.outside(func(ctx context.Context) { ready = h.Ready(ctx, len(answer)) })
	if ready {
		h.moved = true
		g.stop(contract.Errorf(contract.Unavailable, "the call continues in compiled code"))
	}
}
