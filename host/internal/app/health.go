package app

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Health reports whether the parts of the host answer.
type Health struct {
	store *store.Store
	log   Log
	files func() bool // whether files of the run log are damaged; nil means that nothing is known
}

// Store reports whether the database answers.
func (h *Health) Store(ctx context.Context) error { return h.store.Ping(ctx) }

// Engine returns the name of the database engine.
func (h *Health) Engine() string { return h.store.Engine() }

// LogDamaged reports whether the run log has lost messages because its files are damaged. The host
// still serves everything else.
func (h *Health) LogDamaged() bool { return h.files != nil && h.files() }

// Log reports whether the run log answers.
func (h *Health) Log(ctx context.Context) error { return h.log.Healthy(ctx) }
