package runs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ByHost starts the runs that continue without an answer. The id of such a principal is the id of
// the key with which the first of them was started, whose limits stay; "" for none.
const ByHost = "host"

// sourceExpiry is the source of runs that continue without an answer.
const sourceExpiry = "expiry"

// lastSnapshot returns the last snapshot among records, or nil.
func lastSnapshot(records []runlog.Record) []byte {
	for _, r := range slices.Backward(records) {
		if engine.EventType(r.Kind) == engine.EventSnapshot {
			return r.Data
		}
	}
	return nil
}

// waitOf returns what a paused run waits for, nil for one that has ended otherwise. The state goes
// with it unless a session or canvas has it.
func waitOf(w *work, said *Transcript, end End, state []byte) *store.Wait {
	j := &w.job
	if end.Status != store.RunPaused || w.saved || w.state == nil {
		return nil
	}
	asked := said.Asked().Get("data")
	fields := asked.Get("inputs")
	kind := store.WaitForm
	for _, field := range fields.Fields() {
		if !field.Get("approval").IsNull() {
			kind = store.WaitApproval
		}
	}
	expiry := engine.ExpiryOf(w.state, fields)
	v := &store.Wait{
		ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, Session: j.Session, User: j.User, Visitor: j.VisitorKey,
		Runner: j.Principal.Runner(), Kind: kind, Node: expiry.Node, Kept: string(j.Keep),
		OnExpiry: "fail", Form: engine.Object("inputs", fields, "tips", asked.Get("tips")).AppendJSON(nil),
		After: expiry.After,
	}
	if !expiry.Inputs.IsNull() {
		v.OnExpiry = "default"
	}
	if j.Keep == KeepNothing {
		v.Data = packState(w.doc, state)
	}
	return v
}

var (
	statePacker, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	stateUnpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
)

// packState packs a document and a snapshot of the engine.
func packState(doc, snapshot []byte) []byte {
	data := binary.AppendUvarint(make([]byte, 0, len(doc)+len(snapshot)+8), uint64(len(doc)))
	return statePacker.EncodeAll(append(append(data, doc...), snapshot...), nil)
}

// unpackState is the reverse of packState.
func unpackState(packed []byte) (doc, snapshot []byte, err error) {
	data, err := stateUnpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, nil, err
	}
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return nil, nil, errors.New("the state is damaged")
	}
	data = data[size:]
	return data[:n:n], data[n:], nil
}

// prepareWait makes the work of a job that answers a run, of the state that is stored with what it
// waits for; done is false when none is.
func (l *loader) prepareWait(ctx context.Context, w *work) (done bool, err error) {
	packed, err := l.store.Waits.Data(ctx, w.job.Tenant, w.job.Answers)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(packed) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	doc, snapshot, err := unpackState(packed)
	if err != nil {
		return false, fmt.Errorf("run %q: %w", w.job.Answers, err)
	}
	w.doc, w.rerun = doc, true
	if err := l.hold(w); err != nil {
		return false, err
	}
	if w.canvas, err = l.plans.load(w.doc); err != nil {
		return false, err
	}
	w.state, err = w.canvas.StateAt([]*engine.Event{{Type: engine.EventSnapshot, JSON: snapshot}}, 0)
	return err == nil, err
}

// answers returns the paused run that the work continues.
func (r *Runs) answers(ctx context.Context, w *work) (a store.Answers, err error) {
	j := &w.job
	a = store.Answers{Run: j.Answers, Optional: j.Answers == ""}
	switch {
	case j.Keep == KeepNothing || w.state == nil:
		return a, nil
	case !w.state.Paused() && j.Answers != "":
		return a, fmt.Errorf("run %q: %w", j.Answers, ErrAnswered)
	case !w.state.Paused():
		return store.Answers{}, nil
	}
	waits := w.session.LastRun
	if j.Keep == KeepCanvas {
		if waits, err = r.cfg.Store.Waits.OfCanvas(ctx, j.Tenant, j.Canvas); err != nil {
			return a, err
		}
	}
	if j.Answers != "" && waits != j.Answers {
		return a, fmt.Errorf("run %q: %w", j.Answers, ErrAnswered)
	}
	a.Run = waits
	return a, nil
}

// expireEvery separates two searches for runs that were not answered in time; expireMost bounds the
// runs of one read.
const (
	expireEvery = 30 * time.Second
	expireMost  = 100
)

// expiry ends the waiting of runs that were not answered in time.
type expiry struct {
	*Runs
	every  time.Duration
	logger *slog.Logger
}

// work looks for expired runs until ctx ends. Hosts that share the records do so side by side: one
// of them changes the run.
func (x *expiry) work(ctx context.Context) {
	tick := time.NewTicker(x.every)
	defer tick.Stop()
	for {
		if err := x.expireDue(ctx); err != nil && ctx.Err() == nil {
			x.logger.Warn("expired runs still wait", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// expireDue ends the waiting of all runs whose time has passed.
func (x *expiry) expireDue(ctx context.Context) error {
	due, err := x.cfg.Store.Waits.Due(ctx, expireMost)
	for i := range due {
		one := x.expire(ctx, &due[i])
		if errors.Is(one, ErrAnswered) || errors.Is(one, store.ErrConflict) {
			continue // it was answered, or is looked at again
		}
		if one != nil {
			err = errors.Join(err, fmt.Errorf("run %q: %w", due[i].ID, one))
		}
	}
	return err
}

// expire continues a run that was not answered, or cancels it.
func (x *expiry) expire(ctx context.Context, v *store.Wait) error {
	row, err := x.cfg.Store.Runs.Get(ctx, v.Tenant, v.ID)
	if err == nil && row.Status == store.RunPaused {
		return x.expireRun(ctx, v, row)
	}
	if err == nil || errors.Is(err, store.ErrNotFound) {
		return x.cfg.Store.Waits.Close(ctx, *v)
	}
	return err
}

func (x *expiry) expireRun(ctx context.Context, v *store.Wait, row store.Run) error {
	if v.OnExpiry != "fail" {
		err := x.goOn(ctx, v, row)
		if err == nil || !errors.Is(err, ErrGone) && !errors.Is(err, ErrCanvas) && !errors.Is(err, ErrSession) {
			return err
		}
		x.logger.Warn("run cannot go on without an answer", "run", v.ID, "err", err)
	}
	reason := fmt.Sprintf("%s: not answered until %s", engine.CodeExpired,
		time.UnixMilli(v.ExpireTime).UTC().Format(time.RFC3339))
	session, err := x.leftSession(ctx, v)
	if err != nil {
		return err
	}
	if err := x.cfg.Store.Waits.Expire(ctx, *v, reason, session); err != nil || Keep(v.Kept) != KeepCanvas {
		return err
	}
	return x.leaveCanvas(ctx, v)
}

// goOn starts the run that continues with the values of the form.
func (x *expiry) goOn(ctx context.Context, v *store.Wait, row store.Run) error {
	form, err := engine.ParseJSON(v.Form)
	if err != nil {
		return err
	}
	j := AnswerJob(row, v.Kept, engine.DefaultAnswers(form.Get("inputs")))
	j.Principal = Principal{Kind: ByHost, ID: PrincipalOf(row.Principal).Key()}
	j.Source, j.Actor = sourceExpiry, row.Actor
	_, err = x.Start(ctx, j)
	return err
}

// AnswerJob returns the job that continues a paused run with answers; kept is as of [store.Wait].
func AnswerJob(row store.Run, kept string, inputs engine.Value) Job {
	j := Job{
		Tenant: row.Tenant, Canvas: row.Canvas, User: row.User, Inputs: inputs, Query: engine.String(""),
		VisitorKey: row.Visitor, Answers: row.ID, Keep: Keep(kept),
	}
	switch j.Keep {
	case KeepSession:
		j.Session = row.Session
	case KeepNothing:
		j.Base = row.ID
	}
	return j
}

// leftSession returns the session in which a run waits, with a state that waits no longer; nil when
// it does not wait in one.
func (x *expiry) leftSession(ctx context.Context, v *store.Wait) (*store.Session, error) {
	if Keep(v.Kept) != KeepSession {
		return nil, nil
	}
	s, err := x.cfg.Store.Sessions.Head(ctx, v.Tenant, v.Session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Run != "" || s.LastRun != v.ID {
		return nil, store.ErrConflict // a turn is about to answer
	}
	w := &work{job: Job{Tenant: v.Tenant, Canvas: v.Canvas, Session: v.Session}}
	if err := x.loader.planOfSession(ctx, w, &s); err != nil {
		return nil, err
	}
	if w.canvas == nil {
		if w.canvas, err = x.loader.plans.load(w.doc); err != nil {
			return nil, err
		}
	}
	if err := x.loader.joinSession(ctx, w, &s); err != nil {
		return nil, err
	}
	engine.StopWaiting(w.state)
	s.State, _ = w.state.Split()
	s.LastRun, s.Added = "", nil
	return &s, nil
}

// leaveCanvas makes the state of a canvas one that waits no longer.
func (x *expiry) leaveCanvas(ctx context.Context, v *store.Wait) error {
	_, err := x.cfg.Store.Canvases.Edit(ctx, v.Tenant, v.Canvas, "", func(c *store.Canvas) error {
		canvas, err := x.loader.plans.load(c.DSL)
		if err != nil {
			return nil // it is being edited, and nothing of it runs
		}
		state := canvas.State()
		if state.Paused() {
			engine.StopWaiting(state)
			c.DSL = canvas.Save(state)
		}
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
