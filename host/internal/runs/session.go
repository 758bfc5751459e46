package runs

import (
	"context"
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

// joinSession makes the state with which a turn of a session begins: the head after its last turn
// and as much of the turns before as the canvas reads.
func (l *loader) joinSession(ctx context.Context, w *work, v *store.Session) error {
	head := engine.Null
	if len(v.State) > 0 {
		var err error
		if head, err = engine.ParseJSON(v.State); err != nil {
			return fmt.Errorf("session %q: state: %w", v.ID, err)
		}
	}
	last, all, err := l.lastTurns(ctx, v, engine.LookbackOf(w.canvas))
	if err != nil {
		return err
	}
	if w.state, err = engine.Join(w.canvas, head, last, all); err != nil {
		return fmt.Errorf("session %q: %w: %w", v.ID, ErrCanvas, err)
	}
	return nil
}

// lastTurns reads what a canvas reads of the turns of a session. all reports that it has all turns.
func (l *loader) lastTurns(
	ctx context.Context, v *store.Session, read engine.Lookback,
) (last engine.Added, all bool, err error) {
	most := int(v.Turns)
	if read.Turns != engine.AllTurns {
		most = min(most, read.Turns)
	}
	for {
		last = engine.Added{}
		turns, err := l.turnsOf(ctx, v.ID, most)
		if err != nil {
			return last, false, err
		}
		for i := range turns {
			if err := turns[i].Add(&last); err != nil {
				return last, false, fmt.Errorf("session %q: %w", v.ID, err)
			}
		}
		// A turn that ended at a form has one entry, which is rare.
		all = int64(most) >= v.Turns
		if all || len(last.History) >= 2*read.Turns {
			break
		}
		most = min(2*most, int(v.Turns))
	}
	last.Retrieval = nil
	if !all {
		last.Memory, err = l.lastMemories(ctx, v.ID, read.Memories)
	}
	return last, all, err
}

func (l *loader) turnsOf(ctx context.Context, session string, most int) ([]store.SessionTurn, error) {
	if most == 0 {
		return nil, nil
	}
	return l.store.Sessions.LastTurns(ctx, session, most)
}

func (l *loader) lastMemories(ctx context.Context, session string, most int) ([]engine.Value, error) {
	if most == 0 {
		return nil, nil
	}
	turns, err := l.store.Sessions.LastMemories(ctx, session, most)
	var added engine.Added
	for i := range turns {
		if err == nil {
			err = turns[i].Add(&added)
		}
	}
	return added.Memory, err
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
	document, err := engine.ParseJSON(canvas.Save(state))
	if err != nil {
		return store.Session{}, fmt.Errorf("new session: %w", err)
	}
	engine.Recall(state, earlier...)
	saved, added := state.Split()
	head, err := engine.ParseJSON(saved)
	if err != nil {
		return store.Session{}, fmt.Errorf("new session: %w", err)
	}
	v := store.Session{
		ID: id, Tenant: c.Tenant, Canvas: c.ID, User: user, Source: source, Name: name, Version: c.VersionTitle,
		// The document is the same for all sessions of a revision of a canvas: they share its plan.
		DSL:   document.With("task_id", engine.String("")).AppendJSON(nil),
		State: head.With("task_id", engine.String(id)).AppendJSON(nil),

		Messages: []byte("[]"), Reference: []byte("[]"), Actor: ActorOf(&c),
	}
	if len(added.History) > 0 {
		v.Added = store.NewSessionTurn(nil, engine.Null, "", added)
	}
	return v, nil
}
