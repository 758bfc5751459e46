package app

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Health reports whether the parts of the host answer.
type Health struct {
	store *store.Store
	log   Log
}

// Store reports whether the database answers.
func (h *Health) Store(ctx context.Context) error { return h.store.Ping(ctx) }

// Engine returns the name of the database engine.
func (h *Health) Engine() string { return h.store.Engine() }

// Log reports whether the run log answers.
func (h *Health) Log(ctx context.Context) error { return h.log.Healthy(ctx) }
