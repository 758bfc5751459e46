package store

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Session is a conversation over runs, on a copy of the canvas's document that edits of the canvas
// do not change. A turn appends what it adds and replaces State; the rest is written once.
type Session struct {
	ID         string
	Tenant     string
	Canvas     string
	User       string // id of the end user, as given by the caller
	Visitor    Visitor
	Source     string // agent, workflow, dialog or a value of the host
	Name       string
	Version    string // title of the canvas version it started with
	Errors     string
	Tokens     int64
	Duration   int64 // total milliseconds of all runs
	Rounds     int64
	ThumbUp    int64
	Rev        int64  // incremented by each save
	Run        string // the run that owns the session, "" if free; it is the owner while it is active
	LastRun    string // the last run whose result was saved
	CreateTime int64  // Unix milliseconds
	UpdateTime int64  // Unix milliseconds

	// Actor is for whom the document acts unattended: who published the version that it
	// is a copy of, or the author of the draft.
	Actor access.Actor

	// The documents: in a new session as it begins, from [Sessions.Get] and [Sessions.List] with
	// all turns, from [Sessions.Head] empty.
	DSL       []byte // with its state
	Messages  []byte // JSON array
	Reference []byte // JSON, for each turn

	Plan  string       // hash of the document with which it began; "" until it is compiled
	State []byte       // head of the state after the last turn, see [engine.State.Split]; empty before the first
	Turns int64        // number of turns stored apart from the document
	Added *SessionTurn // the turn that a save adds; nil adds none
}

// Sessions has the records of sessions.
type Sessions struct{ *database }

const sessionColumns = `id, tenant_id, canvas_id, user_id, source, name, errors,
	tokens, duration_ms, rounds, thumb_up, rev, run_id, last_run_id, create_time, update_time,
	version_title, actor, actor_as, visitor, plan, state, turns`

func scanSession(r row) (Session, error) {
	var v Session
	err := r.Scan(&v.ID, &v.Tenant, &v.Canvas, &v.User, &v.Source, &v.Name,
		&v.Errors, &v.Tokens, &v.Duration, &v.Rounds, &v.ThumbUp, &v.Rev, &v.Run, &v.LastRun,
		&v.CreateTime, &v.UpdateTime, &v.Version, &v.Actor.User, &v.Actor.As, &v.Visitor, &v.Plan, &v.State, &v.Turns)
	if len(v.State) == 0 {
		v.State = nil // PostgreSQL returns an empty one, SQLite none
	}
	return v, err
}

func (v *Session) check() error {
	return checkText("id", v.ID, "canvas", v.Canvas, "user", v.User, "source", v.Source, "name", v.Name,
		"version", v.Version, "run", v.Run, "visitor", string(v.Visitor))
}

// Create adds a session. An empty ID is filled in; Run may name its first owner.
//
// Errors: [ErrExists], [ErrInvalid].
func (s Sessions) Create(ctx context.Context, v Session) (Session, error) {
	if v.ID == "" {
		v.ID = NewID()
	}
	v.Rev, v.CreateTime = 1, s.ms()
	v.UpdateTime = v.CreateTime
	v.Errors, v.Turns = printable(v.Errors), 0
	if err := v.check(); err != nil {
		return Session{}, fail(err, "create session")
	}
	err := s.write(ctx, "create session", func(ctx context.Context, q querier) error {
		return insertSession(ctx, q, &v)
	})
	if err != nil {
		return Session{}, err
	}
	var turns []SessionTurn
	if v.Added != nil {
		turns, v.Added = []SessionTurn{*v.Added}, nil
	}
	return v, fail(v.join(turns, AllDocuments), "create session")
}

func insertSession(ctx context.Context, q querier, v *Session) error {
	const insert = `INSERT INTO sessions (` + sessionColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7,
		$8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`
	if v.Plan == "" && len(v.DSL) > 0 {
		v.Plan = PlanOf(v.DSL)
	}
	if v.Added != nil {
		v.Turns = 1
	}
	_, err := q.ExecContext(ctx, insert, v.ID, v.Tenant, v.Canvas, v.User, v.Source, v.Name, v.Errors,
		v.Tokens, v.Duration, v.Rounds, v.ThumbUp,
		v.Rev, v.Run, v.LastRun, v.CreateTime, v.UpdateTime, v.Version, v.Actor.User, string(v.Actor.As), v.Visitor,
		v.Plan, bytesOf(v.State), v.Turns)
	if err != nil {
		return err
	}
	const document = `INSERT INTO session_documents (session_id, tenant_id, dsl, messages, reference)
		VALUES ($1, $2, $3, $4, $5)`
	_, err = q.ExecContext(
		ctx, document, v.ID, v.Tenant, bytesOf(v.DSL), bytesOf(v.Messages), bytesOf(v.Reference),
	)
	if err == nil && v.Added != nil {
		err = insertTurn(ctx, q, v, v.Turns)
	}
	return err
}

// Get returns a session of a tenant with all turns. Errors: [ErrNotFound].
func (s Sessions) Get(ctx context.Context, tenant, id string) (Session, error) {
	v, err := s.Head(ctx, tenant, id)
	if err != nil {
		return v, err
	}
	list := []Session{v}
	err = s.readDocuments(ctx, list, AllDocuments)
	return list[0], fail(err, "session %q", id)
}

// Head returns a session of a tenant without its documents: its size does not depend on the number
// of turns. Errors: [ErrNotFound].
func (s Sessions) Head(ctx context.Context, tenant, id string) (Session, error) {
	const query = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = $1 AND tenant_id = $2`
	v, err := scanSession(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "session %q", id)
}

// Claim makes an existing run the owner of a session. v is the session as the caller has
// read it. If v.Run is neither empty nor run, the caller has found that no end of that run will
// free the session, and the claim takes it over. A session is never taken from an active run.
//
// A claim has no time limit: [Runs.End] frees the session in the commit that ends its run. A
// new run claims its session with [Runs.StartTurn].
//
// Errors: [ErrConflict] if the session has changed since it was read or was deleted.
func (s Sessions) Claim(ctx context.Context, v Session, run string) error {
	return s.write(ctx, fmt.Sprintf("claim session %q", v.ID), func(ctx context.Context, q querier) error {
		return claimSession(ctx, q, v, run)
	})
}

// claimSession also stores v.Actor, unless it is the zero value.
func claimSession(ctx context.Context, q querier, v Session, run string) error {
	const update = `UPDATE sessions SET run_id = $1,
		actor = CASE WHEN $7 = '' THEN actor ELSE $6 END, actor_as = CASE WHEN $7 = '' THEN actor_as ELSE $7 END
		WHERE id = $2 AND tenant_id = $3 AND rev = $4 AND run_id IN ('', $1, $5)
		AND NOT EXISTS (SELECT 1 FROM runs WHERE id = sessions.run_id AND status = '` + RunActive + `' AND id <> $1)`
	res, err := q.ExecContext(
		ctx, update, run, v.ID, v.Tenant, v.Rev, v.Run, v.Actor.User, string(v.Actor.As),
	)
	return changed(res, err, ErrConflict)
}

// freeSession removes the claim of a run. It does nothing if another run owns the session.
func freeSession(ctx context.Context, q querier, tenant, id, run string) error {
	const update = `UPDATE sessions SET run_id = '' WHERE id = $1 AND tenant_id = $2 AND run_id = $3`
	_, err := q.ExecContext(ctx, update, id, tenant, run)
	return err
}

// Save writes v over the revision v.Rev, without its documents but with the turn v.Added, and
// returns the new revision.
//
// v.LastRun names the run with this result, and frees the session. If the result of that run was
// saved before (the host crashed between saving and reporting it), nothing is written and the
// current revision is returned.
//
// Errors: [ErrNotFound], [ErrConflict], [ErrInvalid].
func (s Sessions) Save(ctx context.Context, v Session) (int64, error) {
	var rev int64
	err := s.write(ctx, fmt.Sprintf("save session %q", v.ID), func(ctx context.Context, q querier) (err error) {
		rev, err = s.save(ctx, q, v)
		return err
	})
	return rev, err
}

func (s Sessions) save(ctx context.Context, q querier, v Session) (int64, error) {
	if err := v.check(); err != nil {
		return 0, err
	}
	turns := v.Turns
	if v.Added != nil {
		turns++
	}
	const update = `UPDATE sessions SET name = $1, plan = $2, state = $3, turns = $4, errors = $5,
		tokens = $6, duration_ms = $7, rounds = $8, thumb_up = $9, rev = rev + 1, update_time = $10,
		last_run_id = CASE WHEN $11 = '' THEN last_run_id ELSE $11 END,
		run_id = CASE WHEN run_id = $11 THEN '' ELSE run_id END
		WHERE id = $12 AND tenant_id = $13 AND rev = $14 AND ($11 = '' OR last_run_id <> $11)`
	res, err := q.ExecContext(ctx, update, v.Name, v.Plan, bytesOf(v.State), turns,
		printable(v.Errors), v.Tokens, v.Duration, v.Rounds, v.ThumbUp, s.ms(), v.LastRun,
		v.ID, v.Tenant, v.Rev)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		if err != nil {
			return 0, err
		}
		return staleSession(ctx, q, v)
	}
	if v.Added != nil {
		err = insertTurn(ctx, q, &v, turns)
	}
	return v.Rev + 1, err
}

// staleSession returns the reason why nothing was written.
func staleSession(ctx context.Context, q querier, v Session) (int64, error) {
	const query = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = $1 AND tenant_id = $2`
	now, err := queryAll(ctx, q, scanSession, query, v.ID, v.Tenant)
	switch {
	case err != nil:
		return 0, err
	case len(now) == 0:
		return 0, ErrNotFound
	case v.LastRun != "" && now[0].LastRun == v.LastRun:
		return now[0].Rev, nil
	}
	return 0, fmt.Errorf("revision %d, now %d: %w", v.Rev, now[0].Rev, ErrConflict)
}

// Delete removes a session. Errors: [ErrNotFound].
func (s Sessions) Delete(ctx context.Context, tenant, id string) error {
	defer s.totals.forget()
	return s.writeAlways(ctx, fmt.Sprintf("delete session %q", id), func(ctx context.Context, q querier) error {
		err := s.markGone(ctx, q, `session_id = $1 AND tenant_id = $2`, id, tenant)
		if err != nil {
			return err
		}
		n, err := deleteListed(ctx, q, "sessions", `DELETE FROM sessions WHERE id = $1 AND tenant_id = $2`, id, tenant)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err == nil {
			err = Waits(s).cancel(ctx, q, "the session was deleted", `session_id = $1 AND tenant_id = $2`, id, tenant)
		}
		if err == nil {
			_, err = q.ExecContext(ctx, `DELETE FROM readers WHERE object = $1 AND tenant_id = $2`, id, tenant)
		}
		for _, table := range []string{"session_documents", "session_turns", "waits"} {
			if err == nil {
				_, err = q.ExecContext(ctx, `DELETE FROM `+table+` WHERE session_id = $1 AND tenant_id = $2`, id, tenant)
			}
		}
		return err
	})
}

// SessionFilter selects sessions; empty fields match all.
type SessionFilter struct {
	Tenant string // required
	// Viewer leaves out sessions of canvases that it may not use; the zero value leaves out none.
	Viewer   access.Viewer
	Canvas   string
	ID       string
	User     string // leaves out sessions of visitors who only claim to be this user
	Visitor  Visitor
	Source   string
	Keywords string // substring of what was said, case-insensitive
	From, To int64  // create_time, Unix milliseconds, inclusive
}

var sessionList = listing[Session]{table: "sessions", columns: sessionColumns, scan: scanSession, order: map[string]string{
	"create_time": "create_time", "create_date": "create_time",
	"update_time": "update_time", "update_date": "update_time", "id": "id", "round": "rounds", "tokens": "tokens",
}}

// List returns a page of sessions and the number of all matching ones.
func (s Sessions) List(ctx context.Context, f SessionFilter, p Page) ([]Session, int, error) {
	if f.Tenant == "" {
		return nil, 0, fail(ErrInvalid, "list sessions: no tenant")
	}
	if _, err := s.othersOf(ctx, &f.Viewer); err != nil {
		return nil, 0, fail(err, "list sessions")
	}
	w := f.where()
	if f == (SessionFilter{Tenant: f.Tenant, Canvas: f.Canvas}) {
		w.scope = &scope{"sessions", f.Tenant, f.Canvas}
	}
	reserve := p.Reserve
	p.Reserve = nil
	found, total, err := list(ctx, s.database, &sessionList, w, p)
	if err != nil {
		return nil, 0, err
	}
	if reserve != nil {
		bytes, err := s.documentBytes(ctx, found, p.Documents)
		if err == nil {
			err = reserve(bytes)
		}
		if err != nil {
			return nil, 0, fail(err, "list sessions")
		}
	}
	err = s.readDocuments(ctx, found, p.Documents)
	return found, total, fail(err, "list sessions")
}

// IDs returns the ids of sessions, in no order. It reads no documents.
func (s Sessions) IDs(ctx context.Context, f SessionFilter) ([]string, error) {
	if f.Tenant == "" {
		return nil, fail(ErrInvalid, "list sessions: no tenant")
	}
	w := f.where()
	out, err := queryAll(ctx, s.read, scanName, `SELECT id FROM sessions`+w.String(), w.args...)
	return out, fail(err, "list sessions")
}

func (f *SessionFilter) where() *where {
	w := &where{}
	w.equal("tenant_id", f.Tenant)
	w.equal("canvas_id", f.Canvas)
	w.equal("id", f.ID)
	w.byUser(f.User, f.Visitor)
	w.equal("source", f.Source)
	w.said(f.Keywords)
	w.between("create_time", f.From, f.To)
	w.ofUsable(f.Viewer)
	return w
}
