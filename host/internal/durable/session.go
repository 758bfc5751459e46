package durable

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// greeting opens a conversation when the canvas has no words of its own.
const greeting = "Hello! What can I do for you?"

// NewSession is a conversation with a canvas that has just begun, on a copy of
// its document; it is not stored yet. Errors: [ErrCanvas].
func (r *Runs) NewSession(c store.Canvas, id, user, name, source string) (store.Session, error) {
	canvas, err := r.plans.load(c.DSL)
	if err != nil {
		return store.Session{}, err
	}
	state := canvas.State()
	state.Reset(false)
	doc, err := engine.ParseJSON(canvas.Save(state))
	if err != nil {
		return store.Session{}, fmt.Errorf("new session: %w", err)
	}
	doc = doc.With("task_id", engine.String(id))
	prologue := doc.Get("components").Get("begin").Get("obj").Get("params").Get("prologue").Text()
	if prologue == "" {
		prologue = greeting
	}
	messages := engine.List(engine.Object("role", "assistant", "content", prologue))
	return store.Session{
		ID: id, Tenant: c.Tenant, Canvas: c.ID, User: user, Source: source, Name: name, Version: c.VersionTitle,
		DSL: doc.AppendJSON(nil), Messages: messages.AppendJSON(nil), Reference: []byte("[]"),
	}, nil
}
