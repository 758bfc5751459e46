package app

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ErrOtherCanvas says that a session belongs to another canvas of the tenant.
var ErrOtherCanvas = errors.New("session belongs to another canvas")

// Sessions are conversations with canvases.
type Sessions struct {
	store *store.Store
	runs  *durable.Runs
}

// NewSession is a session to make.
type NewSession struct {
	Canvas             Canvas // whose document it starts with
	User, Name, Source string
	Greet              bool // begin with the canvas's prologue; one made for a question begins with that
}

// Create makes a session with a reset copy of a canvas. Errors: [ErrCanvas].
func (s *Sessions) Create(ctx context.Context, in NewSession) (Session, error) {
	v, err := s.runs.NewSession(in.Canvas, engine.RandomIDs{}.NewID(), in.User, in.Name, in.Source)
	if err == nil && in.Greet {
		err = durable.Greet(&v)
	}
	if err != nil {
		return Session{}, err
	}
	return s.store.CreateSession(ctx, v)
}

// Get finds a session of a canvas and reserves the memory to answer with it. Errors: [ErrNotFound],
// [ErrOtherCanvas].
func (s *Sessions) Get(ctx context.Context, tenant, canvas, id string) (Session, error) {
	v, err := s.store.Session(ctx, tenant, id)
	if err == nil && v.Canvas != canvas {
		err = ErrOtherCanvas
	}
	if err != nil {
		return v, err
	}
	return v, errors.Join(reserveDocument(ctx, v.DSL), reserveDocument(ctx, v.Messages))
}

// List lists sessions within the memory of requests, and counts all that match.
func (s *Sessions) List(ctx context.Context, f SessionFilter, p Page) ([]Session, int, error) {
	p.Reserve = func(n int64) error { return reserve(ctx, listFactor*n) }
	return s.store.Sessions(ctx, f, p)
}

// IDs lists the ids of all sessions of a canvas.
func (s *Sessions) IDs(ctx context.Context, tenant, canvas string) ([]string, error) {
	return store.SessionIDs(ctx, s.store, SessionFilter{Tenant: tenant, Canvas: canvas})
}

// Delete removes a session. Errors: [ErrNotFound].
func (s *Sessions) Delete(ctx context.Context, tenant, id string) error {
	return s.store.DeleteSession(ctx, tenant, id)
}

// Days sums up sessions by day.
func (s *Sessions) Days(ctx context.Context, f SessionFilter) ([]SessionDay, error) {
	return store.SessionDays(ctx, s.store, f)
}
