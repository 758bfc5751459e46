package runs

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// greeting is the message of the original for a canvas without a prologue.
const greeting = "Hi! I'm your smart assistant. What can I do for you?"

// Prologue is the greeting of a document. One that is set counts, also when it is empty.
func Prologue(doc engine.Value) string {
	prologue := engine.StartParams(doc).Get("prologue")
	if prologue.IsNull() {
		return greeting
	}
	return prologue.Text()
}

// Greet makes the prologue of the canvas the first message of a new session, for a client that
// opens the session before there is a question.
func Greet(s *store.Session) error {
	doc, err := engine.ParseJSON(s.DSL)
	if err != nil {
		return fmt.Errorf("session %q: %w", s.ID, err)
	}
	s.Messages = engine.List(engine.Object("role", "assistant", "content", Prologue(doc))).AppendJSON(nil)
	return nil
}

// NewSession is a conversation with a canvas that has just begun, on a copy of
// its document; it is not stored yet and has no messages. The canvas remembers the earlier turns.
// Errors: [ErrCanvas].
func (cs *canvases) NewSession(
	c store.Canvas, id, user, name, source string, earlier ...engine.Turn,
) (store.Session, error) {
	canvas, err := cs.plans.load(c.DSL)
	if err != nil {
		return store.Session{}, err
	}
	state := canvas.State()
	state.Reset(false)
	engine.Recall(state, earlier...)
	doc, err := engine.ParseJSON(canvas.Save(state))
	if err != nil {
		return store.Session{}, fmt.Errorf("new session: %w", err)
	}
	doc = doc.With("task_id", engine.String(id))
	return store.Session{
		ID: id, Tenant: c.Tenant, Canvas: c.ID, User: user, Source: source, Name: name, Version: c.VersionTitle,
		DSL: doc.AppendJSON(nil), Messages: []byte("[]"), Reference: []byte("[]"), Actor: ActorOf(&c),
	}, nil
}
