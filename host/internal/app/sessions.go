package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ErrOtherCanvas means that a session belongs to another canvas of the tenant.
var ErrOtherCanvas = errors.New("session belongs to another canvas")

// Sessions are conversations with canvases.
type Sessions struct {
	store    *store.Store
	runs     *runs.Runs
	canvases *Canvases
}

// NewSession is a session to make.
type NewSession struct {
	Canvas             Canvas // whose document it starts with
	User, Name, Source string
	Visitor            store.Visitor
	Earlier            []engine.Turn // what was said before, as far as the client has it
	Greet              bool          // begin with the canvas's prologue; one made for a question begins with that
}

// Create makes a session with a reset copy of a canvas. Errors: [ErrCanvas].
func (s *Sessions) Create(ctx context.Context, in NewSession) (Session, error) {
	return s.create(ctx, in, store.NewID())
}

func (s *Sessions) create(ctx context.Context, in NewSession, id string) (Session, error) {
	v, err := s.runs.NewSession(in.Canvas, id, in.User, in.Name, in.Source, in.Earlier...)
	if err == nil && in.Greet {
		err = runs.Greet(&v)
	}
	v.Visitor = in.Visitor
	if err != nil {
		return Session{}, err
	}
	return s.store.Sessions.Create(ctx, v)
}

// NewTurn is a question to a session.
type NewTurn struct {
	Canvas    Canvas
	Session   string // "" makes one
	Published bool   // a new session starts with the published document

	// Of a new session. The user is the principal's when it is empty, or the tenant for a visitor
	// of an embedded page, the name the beginning of the question.
	User, Name, Source string
	Earlier            []engine.Turn

	Query, Inputs, Files engine.Value
	Instructions         string // the system message of the caller, if the canvas allows it

	Scheduling engine.Scheduling // overrides the canvas unless ""
}

// longestName is the length at which a question is cut to name a session, in characters.
const longestName = 250

// Turn finds or makes the session of a question, and returns the job that answers it. Errors:
// [ErrSession], [ErrOtherCanvas], [ErrUnpublished], [ErrCanvas]. A visitor continues its own
// conversations only, and members and API clients those that are not a visitor's.
func (s *Sessions) Turn(ctx context.Context, who Principal, in NewTurn) (Session, Job, error) {
	v, err := s.sessionOf(ctx, who, in)
	if err != nil {
		return v, Job{}, err
	}
	return v, Job{
		Actor: who.Actor(), Tenant: who.Tenant, Canvas: in.Canvas.ID, Session: v.ID, User: v.User, Source: SourceAPI,
		Caller: who.Caller, Keep: KeepSession, Scheduling: in.Scheduling, Query: in.Query, Inputs: in.Inputs,
		Instructions: in.Instructions,
		Files:        OwnFiles(who.Tenant, in.Files), Visitor: who.Embeds, VisitorKey: v.Visitor,
	}, nil
}

// sessionOf finds or makes the session of a question.
func (s *Sessions) sessionOf(ctx context.Context, who Principal, in NewTurn) (Session, error) {
	if in.Session != "" {
		v, err := s.head(ctx, who.Tenant, in.Canvas.ID, in.Session)
		if err == nil && (!who.mayContinue(v) || !who.owns(in.Canvas.Access(), v.User)) {
			err = ErrSession
		}
		if err == nil {
			err = mayReadSaid(ctx, s.store, who, v.ID, ErrSession)
		}
		return v, err
	}
	in.User = cmp.Or(who.EndUser, in.User, who.User, who.Tenant)
	if in.Name == "" {
		text := []rune(in.Query.Text())
		in.Name = string(text[:min(len(text), longestName)])
	}
	canvas, err := s.canvases.Chosen(ctx, in.Canvas, in.Published)
	if err != nil {
		return Session{}, err
	}
	id := store.NewID()
	return s.create(ctx, NewSession{
		Canvas: canvas, User: in.User, Name: in.Name, Source: in.Source, Visitor: who.visitorOf(id),
		Earlier: in.Earlier,
	}, id)
}

// Get finds a session of a canvas that a principal may read, and reserves the memory to answer with
// it. Errors: [ErrNotFound] for the canvas, [ErrSession], [ErrOtherCanvas].
func (s *Sessions) Get(ctx context.Context, who Principal, canvas, id string) (Session, error) {
	v, err := s.mayRead(ctx, who, canvas, id)
	if err != nil {
		return Session{}, err
	}
	if v, err = s.store.Sessions.Get(ctx, who.Tenant, v.ID); errors.Is(err, ErrNotFound) {
		err = ErrSession
	}
	if err != nil {
		return Session{}, err
	}
	return v, errors.Join(reserveDocument(ctx, v.DSL), reserveDocument(ctx, v.Messages))
}

// mayRead finds a session of a canvas that a principal may read, without its documents.
func (s *Sessions) mayRead(ctx context.Context, who Principal, canvas, id string) (Session, error) {
	whose, err := s.canvases.used(ctx, who, canvas)
	if err != nil {
		return Session{}, err
	}
	v, err := s.head(ctx, who.Tenant, canvas, id)
	if err == nil && (!who.mayReadSession(v) || !who.owns(whose, v.User)) {
		return Session{}, ErrSession
	}
	if err == nil {
		err = mayReadSaid(ctx, s.store, who, v.ID, ErrSession)
	}
	if err != nil {
		return Session{}, err
	}
	return v, nil
}

// MayContinue refuses a principal that may not run a canvas, or may not read a session that exists.
// The run finds out whether it does. Errors: [ErrNotFound] for the canvas, [ErrSession], those of
// [Error].
func (s *Sessions) MayContinue(ctx context.Context, who Principal, canvas, id string) error {
	whose, err := s.canvases.used(ctx, who, canvas)
	if err == nil && !who.Viewer().Can(access.Review, whose) {
		var v Session
		if v, err = s.head(ctx, who.Tenant, canvas, id); err == nil && !who.owns(whose, v.User) {
			err = ErrSession
		}
	}
	if err != nil {
		return err
	}
	return mayReadSaid(ctx, s.store, who, id, ErrSession)
}

// head returns a session of a canvas without its documents.
func (s *Sessions) head(ctx context.Context, tenant, canvas, id string) (Session, error) {
	v, err := s.store.Sessions.Head(ctx, tenant, id)
	if errors.Is(err, ErrNotFound) {
		err = ErrSession
	}
	if err == nil && v.Canvas != canvas {
		err = ErrOtherCanvas
	}
	return v, err
}

// Messages returns the messages of a session that a principal may read, those of at most a number
// of turns after a number of them, and how many turns follow; see [store.Sessions.Messages]. It
// reserves the memory to answer with them. Errors: as Get.
func (s *Sessions) Messages(
	ctx context.Context, who Principal, canvas, id string, after, most int64,
) (turns [][]byte, more int64, err error) {
	v, err := s.mayRead(ctx, who, canvas, id)
	if err == nil {
		turns, more, err = s.store.Sessions.Messages(ctx, who.Tenant, v.ID, after, most)
	}
	if errors.Is(err, ErrNotFound) && v.ID != "" {
		err = ErrSession
	}
	for _, t := range turns {
		err = errors.Join(err, reserveDocument(ctx, t))
	}
	return turns, more, err
}

// List lists sessions of a canvas within the memory of requests, and counts all that match. Errors:
// [ErrNotFound] for the canvas.
func (s *Sessions) List(ctx context.Context, who Principal, f SessionFilter, p Page) ([]Session, int, error) {
	f.Tenant = who.Tenant
	whose, err := s.canvases.used(ctx, who, f.Canvas)
	if err != nil {
		return nil, 0, err
	}
	if !who.Embeds && !who.Viewer().Can(access.Review, whose) {
		if f.User != "" && f.User != who.User || who.User == "" {
			return nil, 0, nil
		}
		f.User = who.User
	}
	p.Reserve = func(n int64) error { return reserve(ctx, listFactor*n) }
	list, total, err := s.store.Sessions.List(ctx, f, p)
	if err != nil {
		return nil, 0, err
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	shut, err := shutFrom(ctx, s.store, who, ids...)
	for i := range list {
		if shut[list[i].ID] {
			list[i].Messages, list[i].Reference, list[i].DSL = []byte("[]"), []byte("[]"), nil
		}
	}
	return list, total, err
}

// IDs lists the ids of all sessions of a canvas.
func (s *Sessions) IDs(ctx context.Context, of Canvas) ([]string, error) {
	return s.store.Sessions.IDs(ctx, SessionFilter{Tenant: of.Tenant, Canvas: of.ID})
}

// Delete removes a session, as Get or IDs found it. Errors: [ErrNotFound].
func (s *Sessions) Delete(ctx context.Context, tenant, id string) error {
	return s.store.Sessions.Delete(ctx, tenant, id)
}

// Days sums up sessions of the canvases that a principal may use by day.
func (s *Sessions) Days(ctx context.Context, who Principal, f SessionFilter) ([]SessionDay, error) {
	f.Tenant, f.Viewer = who.Tenant, who.Viewer()
	return s.store.Sessions.Days(ctx, f)
}
