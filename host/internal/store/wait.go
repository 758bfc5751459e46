package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
)

// States of a [Wait]. All but WaitOpen are final.
const (
	WaitOpen     = "open"
	WaitAnswered = "answered"
	WaitExpired  = "expired"
	WaitCanceled = "canceled" // a later run waits in its place, or its session or canvas was deleted
)

// Kinds of a [Wait].
const (
	WaitForm     = "form"
	WaitApproval = "approval" // among its fields is an approval
)

// Wait describes the form or approval of a paused run, with the ID of the run.
type Wait struct {
	ID       string
	Tenant   string
	Canvas   string
	Session  string
	User     string
	Visitor  Visitor
	Runner   string // who started the run: a member, or another principal as kind and id; "" if unknown
	Kind     string
	Node     string // the first node that waits
	Kept     string // where the state is that an answer continues: "session", "canvas", or "" for Data
	State    string
	OnExpiry string
	Form     []byte // what is asked, as JSON {"inputs", "tips"}
	Data     []byte // the state, unless it is elsewhere; only [Waits.Data] reads it

	After      time.Duration // of a new one: how long it waits
	CreateTime int64         // Unix milliseconds
	ExpireTime int64         // Unix milliseconds
	By         string        // who answered it, as JSON; "" for the host itself
	Via        string        // source of the run that continues
	AnswerTime int64         // Unix milliseconds; 0 while it is open
	Next       string        // the run that continues
}

// Answers names the paused run that a new run continues. Unless it is optional, the new run starts
// only while that run waits.
type Answers struct {
	Run      string
	Optional bool
}

// Waits has the runs that wait for a person.
type Waits struct{ *database }

const waitColumns = `id, tenant_id, canvas_id, session_id, user_id, visitor, runner, kind, node, kept, state,
	on_expiry, form, create_time, expire_time, answered_by, via, answer_time, next_run`

func (s Waits) scanWait(r row) (Wait, error) {
	var v Wait
	var form []byte
	err := r.Scan(&v.ID, &v.Tenant, &v.Canvas, &v.Session, &v.User, &v.Visitor, &v.Runner, &v.Kind, &v.Node, &v.Kept,
		&v.State, &v.OnExpiry, &form, &v.CreateTime, &v.ExpireTime, &v.By, &v.Via, &v.AnswerTime, &v.Next)
	if err == nil && len(form) > 0 {
		v.Form, err = s.seal.open(form, "wait form", v.Tenant, v.ID)
	}
	return v, err
}

// addWait stores what a run that has just paused waits for. Whatever waited before with the same
// session or canvas is canceled: an answer cannot reach it any more.
func (s Waits) addWait(ctx context.Context, q querier, v *Wait) error {
	form, err := s.seal.close(v.Form, "wait form", v.Tenant, v.ID)
	if err != nil {
		return err
	}
	data := []byte{}
	if len(v.Data) > 0 {
		if data, err = s.seal.close(v.Data, "wait data", v.Tenant, v.ID); err != nil {
			return err
		}
	}
	created := s.ms()
	if v.Kept != "" {
		err := s.cancel(ctx, q, "a later run asks instead", `tenant_id = $1 AND canvas_id = $2 AND session_id = $3 AND
			kept = $4`, v.Tenant, v.Canvas, v.Session, v.Kept)
		if err != nil {
			return err
		}
	}
	const insert = `INSERT INTO waits (id, run_id, tenant_id, canvas_id, session_id, user_id, visitor, runner, kind,
		node, kept, state, on_expiry, form, data, create_time, expire_time, answered_by, via, answer_time, next_run)
		VALUES ($1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '` + WaitOpen + `',
			$11, $12, $13, $14, $15, '', '', 0, '')`
	_, err = q.ExecContext(ctx, insert, v.ID, v.Tenant, v.Canvas, v.Session, v.User, v.Visitor, v.Runner, v.Kind,
		v.Node, v.Kept, v.OnExpiry, form, data, created, created+v.After.Milliseconds())
	return err
}

// cancel cancels the runs of open waits for which a condition holds, with the reason.
func (s Waits) cancel(ctx context.Context, q querier, reason, cond string, args ...any) error {
	waiting := cond + ` AND state = '` + WaitOpen + `'`
	last := fmt.Sprintf("$%d", len(args)+1)
	update := `UPDATE runs SET status = '` + RunCanceled + `', error = ` + last + ` WHERE id IN
		(SELECT id FROM waits WHERE ` + waiting + `) AND status = '` + RunPaused + `'`
	if _, err := q.ExecContext(ctx, update, append(args, reason)...); err != nil {
		return err
	}
	update = `UPDATE waits SET state = '` + WaitCanceled + `', answer_time = ` + last + ` WHERE ` + waiting
	_, err := q.ExecContext(ctx, update, append(args, s.ms())...)
	return err
}

// waitOrDone stores the wait of a run whose end was recorded with res, unless it had ended before,
// and drops the state that it continued.
func (s Waits) waitOrDone(ctx context.Context, q querier, res sql.Result, end *RunEnd) error {
	if end.Answers {
		const drop = `UPDATE waits SET data = $1 WHERE next_run = $2 AND next_run <> ''`
		if _, err := q.ExecContext(ctx, drop, []byte{}, end.ID); err != nil {
			return err
		}
	}
	if end.Wait == nil {
		return nil
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	return s.addWait(ctx, q, end.Wait)
}

// answer makes the run that v answers one that has succeeded; v continues it.
//
// Errors: [ErrAnswered].
func (s Waits) answer(ctx context.Context, q querier, v *Run) error {
	if v.Answers.Run == "" {
		return nil
	}
	const update = `UPDATE runs SET status = '` + RunDone + `' WHERE id = $1 AND tenant_id = $2
		AND status = '` + RunPaused + `'`
	res, err := q.ExecContext(ctx, update, v.Answers.Run, v.Tenant)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	switch {
	case err != nil:
		return err
	case n == 0 && v.Answers.Optional:
		return nil
	case n == 0:
		return fmt.Errorf("run %q: %w", v.Answers.Run, ErrAnswered)
	}
	const answered = `UPDATE waits SET state = '` + WaitAnswered + `', answered_by = $1, via = $2, answer_time = $3,
		next_run = $4 WHERE id = $5 AND tenant_id = $6 AND state = '` + WaitOpen + `'`
	_, err = q.ExecContext(ctx, answered, v.Principal, v.Source, v.CreateTime, v.ID, v.Answers.Run, v.Tenant)
	return err
}

// reopen lets a run wait again whose answer was not accepted in the end.
func reopen(ctx context.Context, q querier, tenant, next string) error {
	const paused = `UPDATE runs SET status = '` + RunPaused + `' WHERE tenant_id = $1 AND status = '` + RunDone + `'
		AND id IN (SELECT id FROM waits WHERE next_run = $2 AND next_run <> '')`
	if _, err := q.ExecContext(ctx, paused, tenant, next); err != nil {
		return err
	}
	const open = `UPDATE waits SET state = '` + WaitOpen + `', answered_by = '', via = '', answer_time = 0,
		next_run = '' WHERE tenant_id = $1 AND next_run = $2 AND next_run <> ''`
	_, err := q.ExecContext(ctx, open, tenant, next)
	return err
}

// Get returns what a run waits for, or has waited for. Errors: [ErrNotFound].
func (s Waits) Get(ctx context.Context, tenant, run string) (Wait, error) {
	const query = `SELECT ` + waitColumns + ` FROM waits WHERE id = $1 AND tenant_id = $2`
	v, err := s.scanWait(s.read.QueryRowContext(ctx, query, run, tenant))
	return v, fail(err, "wait of run %q", run)
}

// Data returns the state that an answer to a run continues; empty when it is elsewhere.
//
// Errors: [ErrNotFound].
func (s Waits) Data(ctx context.Context, tenant, run string) (data []byte, err error) {
	const query = `SELECT data FROM waits WHERE id = $1 AND tenant_id = $2`
	err = s.read.QueryRowContext(ctx, query, run, tenant).Scan(&data)
	if err == nil && len(data) > 0 {
		data, err = s.seal.open(data, "wait data", tenant, run)
	}
	return data, fail(err, "wait of run %q", run)
}

// OfCanvas returns the run that waits with the state of a canvas; "" for none.
func (s Waits) OfCanvas(ctx context.Context, tenant, canvas string) (string, error) {
	const query = `SELECT id FROM waits WHERE tenant_id = $1 AND canvas_id = $2 AND kept = 'canvas'
		AND state = '` + WaitOpen + `'`
	scan := func(r row) (id string, err error) { return id, r.Scan(&id) }
	ids, err := queryAll(ctx, s.read, scan, query, tenant, canvas)
	if err != nil || len(ids) == 0 {
		return "", fail(err, "wait of canvas %q", canvas)
	}
	return ids[0], nil
}

// WaitFilter selects waits; empty fields match all.
type WaitFilter struct {
	Tenant string // required
	Viewer access.Viewer
	State  string
	Runner string
}

var waitList = listing[Wait]{
	table: "waits", columns: waitColumns, order: map[string]string{"create_time": "create_time"},
}

// Position returns the position of the wait in a list of [Waits.List].
func (v *Wait) Position() Position { return Position{v.CreateTime, v.ID} }

// List returns a page of waits and the number of all that match.
func (s Waits) List(ctx context.Context, f WaitFilter, p Page) ([]Wait, int, error) {
	if f.Tenant == "" {
		return nil, 0, fail(ErrInvalid, "list waits: no tenant")
	}
	w := where{changing: true}
	w.equal("tenant_id", f.Tenant)
	w.equal("state", f.State)
	w.equal("runner", f.Runner)
	w.ofUsable(f.Viewer)
	of := waitList
	of.scan = s.scanWait
	return list(ctx, s.database, &of, &w, p)
}

// Due returns open waits of all tenants that have expired, the oldest first.
func (s Waits) Due(ctx context.Context, most int) ([]Wait, error) {
	const query = `SELECT ` + waitColumns + ` FROM waits WHERE state = '` + WaitOpen + `' AND expire_time <= $1
		ORDER BY expire_time LIMIT $2`
	out, err := queryAll(ctx, s.read, s.scanWait, query, s.ms(), most)
	return out, fail(err, "expired waits")
}

// Expire cancels a run that was not answered in time, with the reason. A session that is not nil
// has the state that waits no longer, and is saved in the same commit.
//
// Errors: [ErrAnswered], and those of [Sessions.Save].
func (s Waits) Expire(ctx context.Context, v Wait, reason string, session *Session) error {
	return s.write(ctx, fmt.Sprintf("expire run %q", v.ID), func(ctx context.Context, q querier) error {
		const update = `UPDATE runs SET status = '` + RunCanceled + `', error = $1 WHERE id = $2 AND tenant_id = $3
			AND status = '` + RunPaused + `'`
		res, err := q.ExecContext(ctx, update, reason, v.ID, v.Tenant)
		if err := changed(res, err, ErrAnswered); err != nil {
			return err
		}
		if session != nil {
			if _, err := Sessions(s).save(ctx, q, *session); err != nil {
				return err
			}
		}
		const expire = `UPDATE waits SET state = '` + WaitExpired + `', answer_time = $1, data = $2
			WHERE id = $3 AND tenant_id = $4`
		_, err = q.ExecContext(ctx, expire, s.ms(), []byte{}, v.ID, v.Tenant)
		return err
	})
}

// Close ends a wait whose run does not wait any more, such as one of a deleted session.
func (s Waits) Close(ctx context.Context, v Wait) error {
	const update = `UPDATE waits SET state = '` + WaitCanceled + `', answer_time = $1 WHERE id = $2 AND tenant_id = $3
		AND state = '` + WaitOpen + `'`
	_, err := s.exec(ctx, update, s.ms(), v.ID, v.Tenant)
	return fail(err, "close wait of run %q", v.ID)
}
