package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// results writes how runs ended.
type results struct {
	store    *store.Store
	registry *engine.Registry
	report   func(j *Job, end End, took time.Duration) // may be nil
	trace    func(e Ended)                             // may be nil
	logger   *slog.Logger
}

// Ended is a run whose end is recorded.
type Ended struct {
	Tenant, Canvas, Run string
	// Time is the recorded end in Unix milliseconds; 0 if another host may have recorded it.
	Time int64
	// Records are the document and those that [runlog.Config].Collect selects; nil if they have to
	// be read from the log.
	Records []runlog.Record
}

// settle writes the result of a run whose last records are in the log, and
// ends the log. It tries until it succeeds or the run is another host's. state is the last snapshot
// of a run that pauses.
func (s *results) settle(
	ctx context.Context, lease *runlog.Lease, w *work, said *Transcript, end End, state []byte,
) error {
	again := 20 * time.Millisecond
	wait := waitOf(w, said, end, state)
	ended := Ended{Tenant: w.job.Tenant, Canvas: w.job.Canvas, Run: w.job.ID}
	records, whole := lease.Collected()
	if whole && !w.saved {
		ended.Time, ended.Records = time.Now().UnixMilli(), records
	}
	for {
		err := s.save(ctx, w, said, end, ended.Time, wait)
		if err == nil {
			break
		}
		s.logger.Error("result of a run was not saved yet", "run", w.job.ID, "err", err)
		if err := pause(ctx, lease, again); err != nil {
			return err
		}
		again = min(2*again, 5*time.Second)
	}
	if s.report != nil {
		s.report(&w.job, end, time.Since(w.began))
	}
	if s.trace != nil {
		s.trace(ended)
	}
	lease.Last() // an end promises a saved result
	err := lease.End(ctx)
	for errors.Is(err, broker.ErrFull) {
		if err := pause(ctx, lease, again); err != nil {
			return err
		}
		err = lease.End(ctx)
	}
	return err
}

// save stores state and turn as the job requires, once; at is the time of the end, 0 means now.
func (s *results) save(
	ctx context.Context, w *work, said *Transcript, end End, at int64, wait *store.Wait,
) error {
	if w.saved {
		return nil
	}
	j := &w.job
	row := store.RunEnd{
		ID: j.ID, Tenant: j.Tenant, Status: end.Status, Error: end.Error, Tokens: said.Tokens, Cost: said.Cost,
		Time: at, Wait: wait, Answers: j.Answers != "" && j.Base != "",
	}
	var session *store.Session
	switch {
	case j.Keep == KeepCanvas && w.state != nil:
		if err := s.saveCanvas(ctx, w); err != nil {
			return err
		}
	case j.Keep == KeepSession:
		row.Session = j.Session
		v, err := s.store.Sessions.Head(ctx, j.Tenant, j.Session)
		switch {
		case errors.Is(err, store.ErrNotFound):
			// The session was deleted during its run.
		case err != nil:
			return err
		case v.LastRun != j.ID:
			if err := s.addTurn(ctx, &v, w, said, end); err != nil {
				return err
			}
			session = &v
		}
	}
	_, err := s.store.Runs.End(ctx, row, session)
	return err
}

// saveCanvas puts the state into the canvas as it is now: an edit made while
// the run went on stays. A document that no longer fits the state keeps its
// own.
func (s *results) saveCanvas(ctx context.Context, w *work) error {
	after := w.canvas.Save(w.state)
	_, err := s.store.Canvases.Edit(ctx, w.job.Tenant, w.job.Canvas, "", func(c *store.Canvas) error {
		if string(c.DSL) == string(w.doc) {
			c.DSL = after
			return nil
		}
		edited, err := engine.Load(s.registry, c.DSL)
		if err != nil {
			return nil // half-drawn: the edit counts
		}
		state, err := edited.Restore(after)
		if err != nil || state.Unfinished() {
			return nil // what waits is no longer there
		}
		c.DSL = edited.Save(state)
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted since the run started
	}
	return err
}

// addTurn adds the result of a run to its session.
func (s *results) addTurn(ctx context.Context, v *store.Session, w *work, said *Transcript, end End) error {
	v.LastRun = w.job.ID
	v.Errors = end.Error
	if end.Status == store.RunFailed || w.state == nil {
		// The state of a run that broke off is not kept, so that the next turn
		// begins where the last good one ended.
		return nil
	}
	if !engine.HasTurnsApart(w.state) {
		// A host of a former version began the run, with the whole conversation in its log.
		whole, err := s.store.Sessions.Get(ctx, v.Tenant, v.ID)
		if err != nil {
			return err
		}
		before, err := engine.ParseJSON(whole.DSL)
		if err != nil {
			return fmt.Errorf("session %q: %w", v.ID, err)
		}
		engine.SetTurnsApart(w.state, before)
	}
	var added engine.Added
	v.State, added = w.state.Split()
	if v.Plan == "" {
		v.Plan = store.PlanOf(w.doc)
	}
	v.Rounds++
	v.Tokens += said.Tokens
	v.Duration += time.Since(w.began).Milliseconds()
	id := uuid.NewString()
	question, answer := w.job.Query, said.Text.String()
	// Each turn has its references, so that answers find theirs.
	v.Added = store.NewSessionTurn([]engine.Value{
		engine.Object("role", "user", "content", question, "id", id),
		engine.Object(
			"role", "assistant", "content", answer, "created_at", float64(time.Now().UnixMicro())/1e6, "id", id),
	}, said.Reference(), question.Text()+"\n"+answer, added)
	return nil
}

// fail ends a run that would fail again.
func (s *results) fail(ctx context.Context, lease *runlog.Lease, j *Job, why error) error {
	if errors.Is(why, store.ErrUnavailable) || errors.Is(why, ErrBusy) {
		return why
	}
	row, err := s.store.Runs.Get(ctx, j.Tenant, j.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	w := &work{job: *j, began: time.Now(), saved: err == nil && row.Status != store.RunActive}
	end := End{Status: store.RunFailed, Code: CodeOf(why), Error: why.Error()}
	if w.saved {
		end = End{Status: row.Status, Error: row.Error}
	} else {
		s.logger.Error("run failed and is not tried again", "run", j.ID, "canvas", j.Canvas, "err", why)
	}
	if _, err := lease.Append(ctx, append(takeoverMark(lease), end.record())...); err != nil {
		return err
	}
	return s.settle(ctx, lease, w, &Transcript{}, end, nil)
}

// Dead ends a run that failed too often, as [runlog.Config].Dead wants it.
func (s *results) Dead(ctx context.Context, lease *runlog.Lease) error {
	var j Job
	if err := json.Unmarshal(lease.Run.Data, &j); err != nil {
		return nil // nothing is known of it
	}
	j = Named(j, lease.Run.ID)
	return s.fail(context.WithoutCancel(ctx), lease, &j,
		fmt.Errorf("the run failed %d times with its host and is not tried again", lease.Run.Failures))
}
