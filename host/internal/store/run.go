package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
)

// Values of a run's Status, in the words of the engine. All but RunActive are end states.
const (
	RunActive   = string(engine.StatusRunning)
	RunPaused   = string(engine.StatusPaused) // waits for user input; its answer makes it RunDone and begins a run
	RunDone     = string(engine.StatusSucceeded)
	RunFailed   = string(engine.StatusFailed)
	RunCanceled = string(engine.StatusCanceled)
)

// Runs has the run history.
type Runs struct{ *database }

// Run is an entry of the run history, and the durable record of an accepted run: a host that starts
// with an empty run log repeats the active ones.
type Run struct {
	ID         string
	Tenant     string
	Canvas     string
	Session    string // "" for a run in the editor
	User       string
	Visitor    Visitor
	Principal  string // who started it, as JSON
	Message    string // message id in its events
	Source     string // api, editor, bot, webhook, schedule
	Status     string
	Input      []byte // the request, needed to repeat the run; cleared at the end
	Error      string
	Tokens     int64
	CreateTime int64 // Unix milliseconds
	EndTime    int64 // Unix milliseconds; 0 while active
	Cost       int64 // of the tokens, in millionths of the currency of the prices

	Actor access.Actor // for whom it acts; empty for one that has not begun

	// Answers is the paused run that a run continues when it starts, and Base the run with whose
	// state it begins. They are not read back.
	Answers Answers
	Base    string
}

const runColumns = `id, tenant_id, canvas_id, session_id, user_id, message_id, source, status, input, error,
	tokens, create_time, end_time, cost, actor, actor_as, visitor, principal`

func scanRun(r row) (Run, error) {
	var v Run
	err := r.Scan(&v.ID, &v.Tenant, &v.Canvas, &v.Session, &v.User, &v.Message, &v.Source, &v.Status, &v.Input,
		&v.Error, &v.Tokens, &v.CreateTime, &v.EndTime, &v.Cost, &v.Actor.User, &v.Actor.As, &v.Visitor, &v.Principal)
	return v, err
}

// Start records an accepted run; its Status becomes [RunActive]. Errors: [ErrExists] if the id
// was used before.
func (s Runs) Start(ctx context.Context, v Run) error { return s.StartAt(ctx, v, 0) }

// StartAt is Start for a caller that has read the canvas: the run is written only if the
// canvas still has revision rev; 0 accepts any.
//
// Errors: as Start; [ErrConflict] if the canvas has changed or was deleted.
func (s Runs) StartAt(ctx context.Context, v Run, rev int64) error {
	args, err := s.newRun(&v)
	if err != nil {
		return fail(err, "start run")
	}
	if v.Answers.Run == "" && v.Base == "" && rev == 0 {
		_, err := s.exec(ctx, insertRun, args...)
		return fail(err, "start run %q", v.ID)
	}
	if v.Answers.Run != "" || v.Base != "" {
		return s.write(ctx, fmt.Sprintf("start run %q", v.ID), func(ctx context.Context, q querier) error {
			if err := Waits(s).answer(ctx, q, &v); err != nil {
				return err
			}
			if err := Readers(s).inherit(ctx, q, &v); err != nil {
				return err
			}
			_, err := q.ExecContext(ctx, insertRun, args...)
			return err
		})
	}
	const insert = `INSERT INTO runs (` + runColumns + `) SELECT` + runValues +
		` WHERE EXISTS (SELECT 1 FROM canvases WHERE id = $3 AND tenant_id = $2 AND rev = $17)`
	n, err := s.exec(ctx, insert, append(args, rev)...)
	if err == nil && n == 0 {
		err = ErrConflict
	}
	return fail(err, "start run %q", v.ID)
}

// StartTurn is Start for a run of a session, given as the caller has read it. Run and claim are
// one commit, so that after a crash no session belongs to a missing run. See [Sessions.Claim]
// for a session with a Run.
//
// Errors: as Start; [ErrConflict] if the session has changed since it was read, belongs to
// another run or was deleted.
func (s Runs) StartTurn(ctx context.Context, v Run, session Session) error {
	args, err := s.newRun(&v)
	if err != nil {
		return fail(err, "start run")
	}
	return s.write(ctx, fmt.Sprintf("start run %q", v.ID), func(ctx context.Context, q querier) error {
		if err := claimSession(ctx, q, session, v.ID); err != nil {
			return fmt.Errorf("session %q: %w", session.ID, err)
		}
		if err := Waits(s).answer(ctx, q, &v); err != nil {
			return err
		}
		if err := Readers(s).inherit(ctx, q, &v); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, insertRun, args...)
		return err
	})
}

const (
	runValues = ` $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0, $13, $14, $15, $16`
	insertRun = `INSERT INTO runs (` + runColumns + `) VALUES (` + runValues + `)`
)

// newRun validates and completes a newly accepted run, and returns the arguments of runValues.
func (s Runs) newRun(v *Run) ([]any, error) {
	v.Status, v.CreateTime = RunActive, s.ms()
	err := checkText("run", v.ID, "canvas", v.Canvas, "session", v.Session, "user", v.User, "message", v.Message,
		"visitor", string(v.Visitor), "principal", v.Principal)
	return []any{
		v.ID, v.Tenant, v.Canvas, v.Session, v.User, v.Message, v.Source, v.Status, bytesOf(v.Input),
		printable(v.Error), v.Tokens, v.CreateTime, v.Actor.User, string(v.Actor.As), v.Visitor, v.Principal,
	}, err
}

// LeaveOut records a skipped run: it is canceled from the start, with the reason in its Error,
// so that it is never active or repeated.
//
// Errors: as [Runs.Start].
func (s Runs) LeaveOut(ctx context.Context, v Run) error {
	if err := checkText("run", v.ID, "canvas", v.Canvas, "session", v.Session, "user", v.User, "message", v.Message); err != nil {
		return fail(err, "leave out run")
	}
	const insert = `INSERT INTO runs (` + runColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $11, 0, '', '', '', '')`
	_, err := s.exec(ctx, insert, v.ID, v.Tenant, v.Canvas, v.Session, v.User, v.Message, v.Source, RunCanceled, []byte{},
		printable(v.Error), s.ms())
	return fail(err, "leave out run %q", v.ID)
}

// SetActor records for whom a run acts that was accepted before that was known.
func (s Runs) SetActor(ctx context.Context, tenant, id string, a access.Actor) error {
	const update = `UPDATE runs SET actor = $1, actor_as = $2 WHERE id = $3 AND tenant_id = $4`
	_, err := s.exec(ctx, update, a.User, string(a.As), id, tenant)
	return fail(err, "actor of run %q", id)
}

// RunEnd is the end of a run.
type RunEnd struct {
	ID      string
	Tenant  string // of the session
	Session string // freed in the same commit if the run owns it; "" for a run without one
	Status  string // any status but RunActive
	Error   string
	Tokens  int64
	Cost    int64 // millionths of the currency of the prices
	Time    int64 // Unix milliseconds; 0 means now
	Wait    *Wait // that a paused run leaves; nil for none
	Answers bool  // whether the run answered another one, whose state is not needed any more
}

// End records the end of a run and frees its session. A session that is not nil is the new state
// of the session and is saved in the same commit; see [Sessions.Save]. End can be repeated
// after a crash: a run keeps the first end recorded.
//
// Errors: those of Save; an unknown run is not an error.
func (s Runs) End(ctx context.Context, end RunEnd, session *Session) (rev int64, err error) {
	const update = `UPDATE runs SET status = $1, error = $2, tokens = $3, end_time = $4, input = $5, cost = $6
		WHERE id = $7 AND status = '` + RunActive + `'`
	args := []any{end.Status, printable(end.Error), end.Tokens, cmp.Or(end.Time, s.ms()), []byte{}, end.Cost, end.ID}
	if session == nil && end.Session == "" && end.Wait == nil && !end.Answers {
		_, err := s.exec(ctx, update, args...)
		return 0, fail(err, "end run %q", end.ID)
	}
	err = s.write(ctx, fmt.Sprintf("end run %q", end.ID), func(ctx context.Context, q querier) (err error) {
		if session == nil {
			if end.Session != "" {
				err = freeSession(ctx, q, end.Tenant, end.Session, end.ID)
			}
		} else if rev, err = Sessions(s).save(ctx, q, *session); err != nil {
			err = fmt.Errorf("session %q: %w", session.ID, err)
		}
		if err != nil {
			return err
		}
		res, err := q.ExecContext(ctx, update, args...)
		if err != nil {
			return err
		}
		return Waits(s).waitOrDone(ctx, q, res, &end)
	})
	return rev, err
}

// Withdraw removes a run that was not accepted in the end, and frees its session.
func (s Runs) Withdraw(ctx context.Context, tenant, session, id string) error {
	defer s.totals.forget()
	return s.writeAlways(ctx, fmt.Sprintf("withdraw run %q", id), func(ctx context.Context, q querier) error {
		if session != "" {
			if err := freeSession(ctx, q, tenant, session, id); err != nil {
				return err
			}
		}
		if err := reopen(ctx, q, tenant, id); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, `DELETE FROM runs WHERE id = $1 AND tenant_id = $2 AND `+isActive, id, tenant)
		return err
	})
}

// Get returns a run. Errors: [ErrNotFound].
func (s Runs) Get(ctx context.Context, tenant, id string) (Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs WHERE id = $1 AND tenant_id = $2`
	v, err := scanRun(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "run %q", id)
}

// OfMessage returns the run whose events have a message id other than its own id, the newest if
// there are several. Errors: [ErrNotFound].
func (s Runs) OfMessage(ctx context.Context, tenant, message string) (Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs WHERE message_id = $1 AND message_id <> id AND tenant_id = $2
		ORDER BY create_time DESC LIMIT 1`
	v, err := scanRun(s.read.QueryRowContext(ctx, query, message, tenant))
	return v, fail(err, "run of message %q", message)
}

// Active returns the active runs of all tenants, oldest first.
func (s Runs) Active(ctx context.Context) ([]Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs WHERE ` + isActive + ` ORDER BY create_time, id`
	out, err := queryAll(ctx, s.read, scanRun, query)
	return out, fail(err, "active runs")
}

// RunFilter selects runs; empty fields match all.
type RunFilter struct {
	Tenant string // required
	// Viewer leaves out runs of canvases that it may not use; the zero value leaves out none.
	Viewer  access.Viewer
	Canvas  string
	Session string
	Status  string
	Source  string // what began them
	User    string // the value of sys.user_id
	// From and Until bound when they were created, in Unix milliseconds with both ends; 0 bounds
	// nothing.
	From, Until int64
	// Schedule selects the runs of a schedule: their ids are its id, "-" and the time. The query is
	// fast only with Canvas set as well.
	Schedule string
}

var runList = listing[Run]{table: "runs", columns: runColumns, large: []string{"input"}, scan: scanRun, order: map[string]string{
	"create_time": "create_time", "end_time": "end_time", "id": "id", "tokens": "tokens",
}}

// Position returns the position of the run in a list of [Runs.List] with the given order.
func (v *Run) Position(order string) Position {
	switch order {
	case "end_time":
		return Position{v.EndTime, v.ID}
	case "tokens":
		return Position{v.Tokens, v.ID}
	}
	return Position{v.CreateTime, v.ID}
}

// List returns a page of the run history and the number of all matching runs.
func (s Runs) List(ctx context.Context, f RunFilter, p Page) ([]Run, int, error) {
	if f.Tenant == "" {
		return nil, 0, fail(ErrInvalid, "list runs: no tenant")
	}
	others, err := s.othersOf(ctx, &f.Viewer)
	if err != nil {
		return nil, 0, fail(err, "list runs")
	}
	w := where{changing: f.Status != ""}
	all := RunFilter{Tenant: f.Tenant, Canvas: f.Canvas}
	succeeded := all
	succeeded.Status = RunDone
	if f == all || f == succeeded {
		w.scope = &scope{"runs", f.Tenant, f.Canvas}
	}
	if f == succeeded {
		w.except = []string{isActive, isStopped}
	}
	w.equal("tenant_id", f.Tenant)
	w.equal("canvas_id", f.Canvas)
	if f.Session != "" {
		w.add("session_id <> ''") // the condition of an index
		w.equal("session_id", f.Session)
	}
	w.ofStatus(f.Status)
	w.equal("source", f.Source)
	w.equal("user_id", f.User)
	w.between("create_time", f.From, f.Until)
	w.ofUsable(f.Viewer)
	switch {
	case f.Viewer == (access.Viewer{}) || f.Viewer.Partial() || f != (RunFilter{Tenant: f.Tenant, Viewer: f.Viewer}):
	case len(others) <= mostApart:
		w.scope, w.apart = &scope{"runs", f.Tenant, ""}, others
	default:
		// Each canvas is looked up once, not for each of its runs.
		w.known = `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (SELECT canvas_id, COUNT(*) AS n FROM runs
			WHERE ` + w.conds[0] + ` GROUP BY canvas_id) AS each WHERE ` + w.conds[1]
	}
	if f.Schedule != "" {
		w.add("source = 'schedule'")
		w.begins("id", f.Schedule+"-")
	}
	return list(ctx, s.database, &runList, &w, p)
}

// The conditions of the indexes by status: a query names the same ones to use them.
const (
	isActive  = `status = '` + RunActive + `'`
	isStopped = `status <> '` + RunActive + `' AND status <> '` + RunDone + `'`
)

// ofStatus adds that runs have a status; "" adds nothing.
func (w *where) ofStatus(status string) {
	switch status {
	case RunActive:
		w.add(isActive)
		return
	case RunFailed, RunCanceled, RunPaused:
		w.add(isStopped)
	}
	w.equal("status", status)
}

// Forget deletes at most the given number of runs that ended before a time (Unix milliseconds)
// and returns how many it deleted.
func (s Runs) Forget(ctx context.Context, before int64, most int) (n int64, err error) {
	// The index of lists begins with the tenant, so the runs of each are looked up.
	const ended = `WITH RECURSIVE tenant(id) AS (SELECT MIN(tenant_id) FROM runs UNION ALL
		SELECT (SELECT MIN(tenant_id) FROM runs WHERE tenant_id > tenant.id) FROM tenant WHERE id IS NOT NULL)
		SELECT id FROM runs WHERE tenant_id IN (SELECT id FROM tenant) AND create_time < $1
		AND end_time < $1 AND NOT (` + isActive + `) AND status <> '` + RunPaused + `' LIMIT $2`
	err = s.writeAlways(ctx, "forget runs", func(ctx context.Context, q querier) error {
		if err := s.markGone(ctx, q, `id IN (`+ended+`)`, before, most); err != nil {
			return err
		}
		for _, rows := range []string{"waits WHERE id", "readers WHERE object"} {
			if _, err := q.ExecContext(ctx, `DELETE FROM `+rows+` IN (`+ended+`)`, before, most); err != nil {
				return err
			}
		}
		n, err = deleteListed(ctx, q, "runs", `DELETE FROM runs WHERE id IN (`+ended+`)`, before, most)
		return err
	})
	if n > 0 {
		s.totals.forget()
	}
	return n, err
}
