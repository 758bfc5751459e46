package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// writer takes the entries of an engine run to the log.
type writer struct {
	lease   *runlog.Lease
	ctx     context.Context // of the run, without its cancel
	held    []runlog.Record // wait for the next entry
	fold    *fold           // of a run that was taken over
	said    *Transcript
	entered bool // the first snapshot has been written
	midway  bool // held is a snapshot, perhaps not the last one
	job     *Job
	doc     []byte
	watch   func(j *Job, r runlog.Record, again bool) // may be nil
}

func (x *executor) writer(ctx context.Context, lease *runlog.Lease, w *work) *writer {
	return &writer{lease: lease, ctx: ctx, job: &w.job, doc: w.doc, said: &Transcript{}, watch: x.watch}
}

// observe adds a record to the transcript and sends it to the watcher.
func (wr *writer) observe(r runlog.Record, again bool) {
	wr.said.Take(r)
	if wr.watch != nil {
		wr.watch(wr.job, r, again)
	}
}

// executor does runs with the engine.
type executor struct {
	results *results
	aborts  *aborts
	engine  engine.Options // of every run
	ports   func(j *Job) engine.Ports
	watch   func(j *Job, r runlog.Record, again bool)
	logger  *slog.Logger
}

// run works on a new run that this host claimed itself.
func (x *executor) run(lease *runlog.Lease, w *work) {
	wr := x.writer(context.WithoutCancel(lease.Context()), lease, w)
	wr.held = append(wr.held, w.first()...)
	if err := x.execute(lease, w, wr); err != nil && !lost(err) {
		x.logger.Error("run was not completed here", "run", w.job.ID, "err", err)
		lease.HandBack(err)
	}
}

// lost means that another host has taken over the run, or will do so.
func lost(err error) bool {
	return errors.Is(err, runlog.ErrFenced) || errors.Is(err, runlog.ErrStopping) || errors.Is(err, runlog.ErrEnded)
}

// first returns the records that a log begins with.
func (w *work) first() []runlog.Record {
	list := []runlog.Record{{Kind: KindDocument, Data: w.doc}}
	if j := &w.job; j.Until != "" || j.Pins.Len() > 0 {
		given := engine.Object("pins", j.Pins, "until", j.Until)
		list = append(list, runlog.Record{Kind: KindOptions, Data: given.AppendJSON(nil)})
	}
	return list
}

// execute runs or continues the work to its end and settles it.
func (x *executor) execute(lease *runlog.Lease, w *work, wr *writer) (err error) {
	defer func() {
		if errors.Is(err, runlog.ErrFenced) {
			x.logger.Warn("run is another host's now", "run", w.job.ID)
		}
	}()
	end, err := x.drive(lease, w, wr)
	if err != nil {
		return err
	}
	last := append(wr.held, end.record())
	if err := wr.store(last...); err != nil {
		return err
	}
	return x.results.settle(wr.ctx, lease, w, wr.said, end, lastSnapshot(last))
}

// drive runs the engine. An error means that this host must not continue;
// how the run itself went is the End.
func (x *executor) drive(lease *runlog.Lease, w *work, wr *writer) (end End, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.logger.Error("run panicked", "run", w.job.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			const text = "the run broke; the host's log says why"
			end, err = End{Status: store.RunFailed, Code: engine.CodeInternal, Error: text}, nil
		}
	}()
	ctx, done := x.aborts.begin(lease.Context(), w.job.ID)
	defer done()
	var failed error
	for e, fail := range x.entries(ctx, w) {
		if over := context.Cause(lease.Context()); over != nil && lost(over) {
			return End{}, over
		}
		if fail != nil {
			failed = fail
			break
		}
		if err := wr.take(e); err != nil {
			return End{}, err
		}
	}
	if over := context.Cause(lease.Context()); over != nil && lost(over) {
		return End{}, over
	}
	if why := context.Cause(ctx); failed != nil && errors.Is(why, ErrMemory) {
		failed = why
	}
	return endOf(w, failed), nil
}

// entries is the engine at work.
func (x *executor) entries(ctx context.Context, w *work) iter.Seq2[*engine.Event, error] {
	opt := x.options(&w.job)
	switch {
	case w.rerun && w.state.Unfinished():
		opt.Rerun = true
		return w.canvas.Continue(ctx, w.state, opt)
	case w.state.Unfinished():
		return w.canvas.Continue(ctx, w.state, opt)
	}
	return w.canvas.Run(ctx, w.state, w.job.input(), opt)
}

// input returns the job in the form for the engine.
func (j *Job) input() engine.Input {
	return engine.Input{
		Query: j.Query, UserID: j.User, Inputs: j.Inputs, Files: j.Files, Webhook: j.Webhook, Visitor: j.Visitor,
		Instructions: j.Instructions,
	}
}

// messageIDs returns the message id of a run first, since the engine names a run's message before
// anything else, and random ids after it.
type messageIDs struct{ first string }

func (m *messageIDs) NewID() string {
	id := m.first
	m.first = ""
	if id == "" {
		return engine.RandomIDs{}.NewID()
	}
	return id
}

// options are the engine's options for the job.
func (x *executor) options(j *Job) engine.Options {
	opt := x.engine
	opt.TaskID, opt.CanvasID, opt.TenantID, opt.From, opt.Until = j.ID, j.Canvas, j.Tenant, j.From, j.Until
	opt.Scheduling, opt.AsCompleted = cmp.Or(j.Scheduling, engine.Auto), j.AsCompleted
	opt.Principal = j.Principal.value()
	if x.ports != nil {
		opt.Ports = x.ports(j)
	}
	opt.Ports.IDs = &messageIDs{j.Message}
	opt.Pins = j.pins()
	return opt
}

// pins returns the outputs of nodes that do not run, by node.
func (j *Job) pins() map[string]engine.Value {
	if j.Pins.Len() == 0 {
		return nil
	}
	pins := make(map[string]engine.Value, j.Pins.Len())
	for id, v := range j.Pins.Fields() {
		pins[id] = v
	}
	return pins
}

// endOf returns the outcome of a run.
func endOf(w *work, failed error) End {
	switch {
	case errors.Is(failed, engine.ErrCanceled), errors.Is(failed, context.Canceled):
		text := "Task " + w.job.ID + " has been canceled"
		return End{Status: store.RunCanceled, Code: engine.CodeCanceled, Error: text}
	case failed != nil:
		return End{Status: store.RunFailed, Code: CodeOf(failed), Error: failed.Error()}
	case w.state.Paused():
		return End{Status: store.RunPaused}
	}
	return End{Status: store.RunDone}
}

// CodeOf is a stable word for the kind of an error.
func CodeOf(err error) string {
	if code := engine.CodeOf(err); code != "" {
		return code
	}
	for _, known := range []struct {
		err  error
		code string
	}{
		{ErrMemory, engine.CodeHostMemory},
		{ErrTooLarge, engine.CodeHostMemory},
		{ErrOutOfMemory, "out_of_memory"},
		{ErrCanvas, engine.CodeBadCanvas},
		{ErrSession, "unknown_session"},
		{ErrBusy, "session_busy"},
		{quota.ErrUsedUp, "quota_used_up"},
		{ErrUnpublished, "not_published"},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return engine.CodeRunFailed
}

// take writes one event of the engine. Results of nodes that may have acted on
// the world are stored before anything else happens; the rest is buffered.
func (wr *writer) take(e *engine.Event) error {
	if wr.midway {
		if err := wr.snapshot(); err != nil {
			return err
		}
	}
	r := recordOf(e)
	switch {
	case e.Type == engine.EventWorkflowStarted && !wr.entered:
		// The document, this and the snapshot go into one message, so that the
		// log of a run never begins with less than what it can be continued from.
		wr.held = append(wr.held, r)
		wr.observe(r, false)
		return nil
	case e.Type == engine.EventSnapshot && !wr.entered:
		wr.entered = true
	case e.Type == engine.EventSnapshot:
		// The last one is written together with how the run ended.
		wr.midway = len(wr.held) == 0
		wr.held = append(wr.held, wr.fold.take(r)...)
		return nil
	}
	records := wr.fold.take(r)
	for i, x := range records {
		wr.observe(x, false)
		if len(x.Data) > mostKnown {
			records[i].Known = nil
		}
	}
	if e.Type == engine.EventWorkflowFinished || e.Type == engine.EventUserInputs {
		wr.held = append(wr.held, records...)
		return nil
	}
	records = append(wr.held, records...)
	wr.held = nil
	if len(records) == 0 {
		return nil
	}
	if e.Type == engine.EventResult {
		return wr.store(records...)
	}
	err := wr.lease.Buffer(wr.ctx, records...)
	if errors.Is(err, broker.ErrFull) {
		return wr.store()
	}
	return err
}

// store stores records and those buffered before them. While there is no room
// it waits, and the run with it: the records keep their numbers, and the run
// continues when space was freed or the run was canceled.
func (wr *writer) store(records ...runlog.Record) error {
	_, err := wr.lease.Append(wr.ctx, records...)
	for wait := 100 * time.Millisecond; errors.Is(err, broker.ErrFull); wait = min(2*wait, 2*time.Second) {
		if err := pause(wr.ctx, wr.lease, wait); err != nil {
			return err
		}
		_, err = wr.lease.Append(wr.ctx)
	}
	return err
}

// pause waits between tries of what must be done before a lease may end.
func pause(ctx context.Context, lease *runlog.Lease, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return ctx.Err()
	case <-lease.Context().Done():
		if over := context.Cause(lease.Context()); lost(over) {
			return over
		}
		time.Sleep(d) // canceled: the result still has to be written
	}
	return nil
}
