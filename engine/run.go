package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// run is one execution of a canvas.
//
// Concurrency: the goroutine that iterates owns the run and the State. Workers run components and
// streams; they read the state through their Call while the owner waits, and send results back.
// Both sides use only the flag of the cancellation, the redactor, the notebook and the memory.
//
// It consists of parts, each with its own state, that use the parts before them; run itself is the
// loop.
type run struct {
	basis
	ending
	progress
	cancellation
	redactor
	notebook
	account
	emitter
	applier
	streaming
	journal
	forms

	shared  bool                // a worker may still hold a call
	wake    chan struct{}       // capacity 1: a text grew; nil in batch mode
	wakeUp  func()              // fills wake from any goroutine; nil in batch mode
	slots   *slots              // shared with the runs of bodies and canvases inside
	own     slots               // of a run that is in no other one
	itemLog []Value             // what bodies gave before a crash, in the order of the log
	logged  []Value             // results of an eager run that a crash left unsettled, in their order
	results map[nodeIndex]*Call // members of a batch whose result was logged before a crash
}

// basis is the input and the environment of a run.
type basis struct {
	c     *Canvas
	st    *State
	in    Input
	opt   Options
	clock Clock
	began time.Time
	*scratch
}

// ending is the reason why a run has stopped.
type ending struct {
	gone   bool  // the consumer left
	failed error // an unhandled error
}

// failWith ends the run with err, unless there is an earlier error.
func (e *ending) failWith(err error) {
	if e.failed == nil {
		e.failed = err
	}
}

// scratch is memory a run needs while it lasts, kept by the canvas for the next one. A run that is
// not referenced after its end is kept with it.
type scratch struct {
	run   *run // nil if the last one is still referred to
	enc   encoder
	calls []*Call // of the current batch
	spare []*Call // calls that may be used again
	ids   []nodeIndex
	slots []slot
	sched scheduler.Scheduler
}

// Run executes the canvas once: a turn of the conversation, or the rest of one that waited for a
// form. Events come in order; an error comes at most once and last. Stopping the iteration cancels
// the run silently. The state belongs to the run until the iteration ends.
func (c *Canvas) Run(ctx context.Context, st *State, in Input, opt Options) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if err := c.runnable(st); err != nil {
			yield(nil, err)
			return
		}
		if kept := st.progress; kept != nil && st.Paused() {
			opt.Scheduling = kept.scheduling() // which decided what waits
		}
		r := newRun(ctx, c, st, in, opt, yield)
		defer r.close()
		r.execute()
	}
}

// Continue continues a state that was saved in the middle of a run: same message, same
// numbering, no event twice. A state that is not unfinished gives an error.
func (c *Canvas) Continue(ctx context.Context, st *State, opt Options) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		err := c.runnable(st)
		if err == nil && !st.Unfinished() {
			err = fmt.Errorf("%w: it was not saved in the middle of a run", ErrState)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		r := reviveRun(ctx, c, st, opt, yield)
		defer r.close()
		r.goOn()
	}
}

func (c *Canvas) takeScratch() *scratch {
	s, _ := c.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
		s.enc.buf = make([]byte, 0, 1024)
	}
	s.calls = s.calls[:0]
	return s
}

func (c *Canvas) runnable(st *State) error {
	if st == nil || st.canvas != c {
		return fmt.Errorf("%w: it belongs to another canvas", ErrState)
	}
	return nil
}

func newRun(ctx context.Context, c *Canvas, st *State, in Input, opt Options, yield func(*Event, error) bool) *run {
	s := c.takeScratch()
	r := s.run
	if s.run = nil; r == nil {
		r = &run{}
	}
	r.c, r.st, r.in, r.opt, r.scratch = c, st, in, opt, s
	r.opt.setDefaults()
	r.clock = r.opt.Ports.Clock
	r.connect()
	r.yield = yield
	if opt.Internal || opt.Checkpoints {
		r.signal = make(chan struct{}, 1)
	}
	c.settings.narrow(&r.opt)
	r.wake, r.wakeUp = r.opt.waker(c.sideBySide)
	r.spending.run.limits = &r.opt.Limits
	if opt.around != nil {
		r.spending.outer, r.slots = &opt.around.run.spending, opt.around.run.slots
	} else {
		r.own.most = r.opt.Concurrency
		r.slots = &r.own
	}
	r.memory.budget, r.smallBelow = opt.Ports.Budget, r.opt.Limits.measureFrom()
	r.st.recount()
	r.outer = ctx
	r.began = r.clock.Now()
	r.progress = progress{
		messageID: r.opt.Ports.IDs.NewID(), taskID: r.opt.TaskID, created: r.began.Unix(), seed: r.opt.Seed,
		inputs: in.Inputs, userID: in.UserID, webhook: in.Webhook, schedule: &r.sched.State,
	}
	graph := c.graph
	if r.opt.Scheduling == Eager {
		graph = joinGraph(c)
	}
	r.sched.Reset(graph, st.ran)
	r.watch()
	return r
}

// waker sets the mode of the run, and creates the channel that wakes the owner of an eager run when
// a text grows.
func (o *Options) waker(sideBySide bool) (wake chan struct{}, wakeUp func()) {
	if o.Scheduling != Eager || o.Until != "" {
		o.Scheduling = Batch
		if !sideBySide {
			return nil, nil
		}
	}
	signal := make(chan struct{}, 1)
	return signal, func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
}

// connect links the parts of the run.
func (r *run) connect() {
	r.account.basis, r.account.ending, r.account.progress = &r.basis, &r.ending, &r.progress
	r.emitter.basis, r.emitter.ending, r.emitter.progress = &r.basis, &r.ending, &r.progress
	r.emitter.account, r.emitter.cancellation = &r.account, &r.cancellation
	r.emitter.redactor, r.emitter.notebook = &r.redactor, &r.notebook
	r.applier.basis, r.applier.progress, r.applier.emitter = &r.basis, &r.progress, &r.emitter
	r.streaming.applier, r.journal.applier = &r.applier, &r.applier
	r.forms.journal = &r.journal
}

// watch connects the cancel port, and makes the encoder.
func (r *run) watch() {
	r.enc.name(r.messageID, r.taskID, r.created)
	if r.opt.CancelBefore {
		r.flag.Store(true)
	}
	if r.opt.Ports.Cancel == nil {
		return
	}
	r.port = r.opt.Ports.Cancel.Canceled(r.taskID)
	ctx := r.work()
	go func() {
		select {
		case <-r.port:
			r.cancelNow()
		case <-ctx.Done():
		}
	}()
}

// mostKept is the largest buffer for events that a canvas keeps for its next run.
const mostKept = 1 << 20

// close releases the resources of the run.
func (r *run) close() {
	r.halt()
	r.memory.close()
	if r.st.progress == &r.progress { // the consumer left at a checkpoint
		r.st.progress = r.progress.clone()
	}
	if cap(r.enc.buf) > mostKept {
		r.enc.buf = nil
	}
	for i := range r.c.nodes {
		for _, kept := range r.c.nodes[i].resets {
			reset(kept, r.messageID)
		}
	}
	if r.shared {
		return
	}
	c, s := r.c, r.scratch
	if r.streams == nil && r.timer == nil && r.port == nil { // nothing refers to it any more
		*r = run{}
		s.run = r
	}
	c.scratch.Put(s)
}

// reset notifies a component of the end of a run. Its errors have no run to be shown in.
func reset(kept Resetter, runID string) {
	var err error
	defer recovered(&err)
	kept.Reset(runID)
}

// execute performs a whole run from its start.
func (r *run) execute() {
	resume := r.st.Paused()
	err := r.opt.check(r.c)
	if err == nil {
		err = r.checkGiven()
	}
	if err == nil {
		err = r.prepare(resume)
	}
	if err == nil {
		err = r.checkState()
	}
	if err != nil {
		r.fail(err)
		return
	}
	if r.canceled() {
		r.finishCanceled()
		return
	}
	r.emitWorkflowStarted()
	r.st.retrieval = append(r.st.retrieval, Reference{})
	switch {
	case resume:
		if !r.resumeForms() {
			return
		}
	case r.opt.From != "":
		r.sched.Schedule(r.c.index[r.opt.From])
	default:
		r.sched.Schedule(r.c.start)
	}
	r.startLog()
	r.goOn()
}

// resumeForms continues with the answers of a paused run. It returns false if the run ends here.
func (r *run) resumeForms() bool {
	if kept := r.st.progress; kept != nil {
		r.takeOver(kept)
	}
	resumed, err := r.forms.resume(r.newCall)
	if err != nil {
		r.failWith(err)
		r.endFailed()
	}
	return resumed
}

// pathRoom is how many steps a path holds before it has to grow.
const pathRoom = 64

// prepare brings the state to the start of a turn.
func (r *run) prepare(resume bool) error {
	st := r.st
	if st.history == nil {
		st.history = make([]Turn, 0, 2) // question and answer
	}
	st.say(Turn{Role: "user", Content: r.in.Query})
	if !resume && r.opt.From == "" {
		for i := range st.nodes {
			st.clearOuts(nodeIndex(i))
		}
	}
	if !resume {
		if st.path == nil {
			st.path = make([]nodeIndex, 0, min(len(st.nodes), pathRoom))
		}
		st.path, st.waiting, st.progress = st.path[:0], nil, nil
		for i := range st.nodes {
			st.ran[i] = r.opt.From != "" && holds(&st.nodes[i])
		}
	}
	st.taskID = r.taskID
	if r.in.Query.Truthy() {
		st.globals.set("sys.query", r.in.Query)
	}
	if r.in.UserID != "" {
		st.globals.set("sys.user_id", String(r.in.UserID))
	}
	turns, _ := st.globals.get("sys.conversation_turns")
	n, _ := turns.Int()
	st.globals.set("sys.conversation_turns", Int(n+1))
	st.globals.set("sys.date", r.c.date(r.began))
	r.remember("user", r.in.Query.Text())
	return r.readFiles()
}

// holds reports whether a node has an output that is not null.
func holds(n *nodeState) bool {
	for _, o := range n.outs {
		if !o.value.IsNull() {
			return true
		}
	}
	return false
}

// remember adds a line to sys.history.
func (r *run) remember(role, text string) {
	lines, _ := r.st.globals.get("sys.history")
	r.st.globals.set("sys.history", lines.Append(String(role+": "+text)))
}

// readFiles turns the uploads of this turn into texts and data URLs.
func (r *run) readFiles() error {
	if !r.in.Files.Truthy() {
		return nil
	}
	if r.c.pipeline { // its Parser reads them
		r.st.globals.set("sys.files", r.in.Files)
		return nil
	}
	files := r.opt.Ports.Files
	if files == nil {
		return fmt.Errorf("files: %w", ErrNoPort)
	}
	texts := make([]Value, 0, r.in.Files.Len())
	for _, f := range r.in.Files.Elements() {
		text, err := files.Read(r.work(), f)
		if err != nil {
			return fmt.Errorf("file %q: %w", f.Get("name").Text(), err)
		}
		texts = append(texts, String(text))
	}
	r.st.globals.set("sys.files", listOf(texts))
	return nil
}

// goOn runs batch after batch until no node is left, a form has to be answered, or something stops
// the run.
func (r *run) goOn() {
	if s := r.opt.Limits.Seconds; s < math.MaxInt64/int64(time.Second) {
		r.stopAfter(time.Duration(s)*time.Second - r.clock.Now().Sub(r.began))
	}
	if r.opt.Scheduling == Eager {
		r.goEager()
		return
	}
	for !r.gone {
		if r.canceled() {
			r.finishCanceled()
			return
		}
		r.sched.ResetChanges()
		batch := r.sched.Take()
		if len(batch) == 0 {
			break
		}
		if r.asked {
			if batch = r.answered(batch); len(batch) == 0 {
				continue
			}
		}
		if r.due(batch) {
			if err := r.pause(batch, r.newCall); err != nil {
				r.failWith(err)
				r.endFailed()
			}
			return
		}
		if r.failed = r.countSteps(batch); r.failed != nil || !r.room(0) {
			r.endFailed()
			return
		}
		if !r.drainRestarted(batch) {
			r.stop()
			return
		}
		r.runBatch(batch)
		if !r.settleBatch(batch) {
			return
		}
		if r.opt.Until != "" && r.ranUntil(batch) {
			break
		}
		r.checkpoint()
	}
	if !r.gone {
		r.finish()
	}
}

func (r *run) ranUntil(batch []nodeIndex) bool {
	for _, n := range batch {
		if r.c.nodes[n].id == r.opt.Until {
			return true
		}
	}
	return false
}

// finish ends a successful run.
func (r *run) finish() {
	if !r.drainAll() {
		r.stop()
		return
	}
	r.flushNotes()
	st := r.st
	outs := emptyObject
	if n := len(st.path); n > 0 {
		outs = st.outputsOf(st.path[n-1])
	}
	turn := Turn{Role: "assistant", Content: outs}
	// The answer is stored twice: as all outputs, and as a line of sys.history.
	if err := r.admit(2 * outs.Size()); err != nil {
		r.failWith(err)
	}
	if r.failed != nil || !r.room(outs.Size()+r.inputs.Size()) {
		r.endFailed()
		return
	}
	st.say(turn)
	r.remember("assistant", turn.Text())
	st.progress = nil
	r.emitWorkflowFinished(outs)
	r.lastSnapshot()
}

// stop ends a run that was cancelled or has failed.
func (r *run) stop() {
	switch {
	case r.canceled():
		r.finishCanceled()
	case r.failed != nil:
		r.endFailed()
	}
}

// finishCanceled ends a run that was canceled, by a person or by its time limit.
func (r *run) finishCanceled() {
	if r.late.Load() {
		over := &LimitError{Kind: ErrTooSlow, Size: r.opt.Limits.Seconds, Limit: r.opt.Limits.Seconds}
		r.note(EventLimitReached, nil, Object("code", CodeOf(over), "message", over.Error()))
		r.failWith(over)
		r.endFailed()
		return
	}
	r.flushNotes()
	r.dropStreams(ErrCanceled)
	r.forget()
	r.emitWorkflowFinished(String(CanceledText))
	r.lastSnapshot()
	r.fail(ErrCanceled)
}

// endFailed ends a run with an unhandled error: no further event.
func (r *run) endFailed() {
	r.flushNotes()
	r.dropStreams(nil)
	r.forget()
	r.lastSnapshot()
	r.fail(r.failed)
}

// forget drops the position of the run. A session that still waits for a form keeps it: the form
// can be answered later.
func (r *run) forget() {
	if !r.st.Paused() {
		r.st.progress = nil
	}
}

// fail yields the error that ends the iteration.
func (r *run) fail(err error) {
	if !r.gone {
		r.gone = true
		r.yield(nil, err)
	}
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		if e, ok := p.(error); ok {
			*err = fmt.Errorf("panic: %w", e)
			return
		}
		*err = fmt.Errorf("panic: %v", p)
	}
}

// errorText returns the text of an error in events and outputs.
func errorText(err error) string {
	if errors.Is(err, ErrCanceled) || errors.Is(err, context.Canceled) {
		return CanceledText
	}
	return strings.ToValidUTF8(err.Error(), "\uFFFD")
}
