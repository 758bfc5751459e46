package host

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/memories"
)

// memoryPort are the memories that a run may use.
type memoryPort struct {
	store  *memories.Store
	rights *rights
}

var (
	_ engine.Memory   = memoryPort{}
	_ engine.Recaller = memoryPort{}
)

// of returns the memories of the member for whom the run acts.
func (p memoryPort) of(ctx context.Context) (memories.Port, error) {
	v, err := p.rights.viewer(ctx)
	return p.store.Of(memories.Principal{Viewer: v, Act: access.Run, Caller: p.rights.caller}, p.rights.visitor), err
}

// Remember implements [engine.Memory].
func (p memoryPort) Remember(ctx context.Context, m *engine.Remembered) error {
	of, err := p.of(ctx)
	if err != nil {
		return err
	}
	return p.lacks(of.Remember(ctx, m))
}

// Recall implements [engine.Recaller].
func (p memoryPort) Recall(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	of, err := p.of(ctx)
	if err != nil {
		return engine.Found{}, err
	}
	found, err := of.Recall(ctx, q)
	return found, p.lacks(err)
}

func (p memoryPort) lacks(err error) error {
	if errors.Is(err, memories.ErrUnknown) {
		return p.rights.lacks(err)
	}
	return err
}
