package app

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Health reports whether the parts of the host answer.
type Health struct {
	store  *store.Store
	log    Log
	files  func() bool   // whether files of the run log are damaged; nil means that nothing is known
	pages  func() error  // damage of the database; nil means that nothing is known
	status func() Status // nil for none
}

// Status is the status of a host.
type Status struct {
	Version string
	Started time.Time
	Log     string // what the run log is
	Memory  []Budget
}

// Budget is the memory that a kind of work may hold.
type Budget struct {
	Name       string
	Size, Used int64 // bytes
}

// Status returns the status of the host.
func (h *Health) Status() Status {
	if h.status == nil {
		return Status{}
	}
	return h.status()
}

var errDamaged = errors.New("files of the run log are damaged, and messages were lost; see the log of the host")

// Damage is an error when the run log has lost messages because its files are damaged.
func (h *Health) Damage() error {
	if h.LogDamaged() {
		return errDamaged
	}
	return nil
}

// DatabaseDamage is an error when the file of the database was found damaged. The host still serves
// what it can read.
func (h *Health) DatabaseDamage() error {
	if h.pages == nil {
		return nil
	}
	return h.pages()
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
