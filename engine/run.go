package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
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

// Continue continues a state that was saved in the middle of a run: same message, same numbering,
// no event twice. Any other state is an error.
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
		if opt.Rerun {
			r.startLog() // the log of the run before is not that of this one
		}
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
	st.principal = opt.Principal
	r.opt.setDefaults()
	r.clock = r.opt.Ports.Clock
	r.connect()
	r.yield = yield
	if opt.Internal || opt.Checkpoints {
		r.signal = make(chan struct{}, 1)
	}
	c.settings.narrow(&r.opt)
	if r.opt.Scheduling == Auto {
		r.opt.Scheduling = OrderOf(c)
	}
	r.wake, r.wakeUp = r.opt.waker(c.sideBySide)
	r.opt.Concurrency = r.opt.slots()
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

// execute performs a whole run from its start.
func (r *run) execute() {
	resume := r.st.Paused()
	err := r.opt.Check(r.c)
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
	takeInstructions(r)
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

// pathRoom is the initial capacity of a path, in steps.
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
	lines, _ := r.st.globals.get(historyVariable)
	if lines.IsNull() && r.st.recalled != nil {
		return
	}
	r.st.globals.set(historyVariable, lines.Append(String(role+": "+text)))
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
	files = askedFiles{r, nil, files}
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
