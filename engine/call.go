package engine

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Call is one execution of a component: its view of the state and its collected effects. The state
// itself changes only when the execution is over, so members of a batch see the state at the start
// of the batch.
//
// Concurrency: a component may use its Call from several goroutines. When the run continues without
// it (timeout, cancel), the call is closed: reads fail with ErrCanceled and writes are dropped.
//
// It consists of layers, each of which uses those below: the execution and its size limits, its
// inputs ([CallInputs]), its effects and its position in a body ([CallOutputs]), and here models,
// tools, streams and secrets. A function that only reads can take a *CallInputs.
type Call struct{ CallOutputs }

// execution is the data of one execution in a run.
type execution struct {
	run    *run
	st     *State // what this execution reads; see State.view
	node   *node
	id     string // "Agent:A", or "Agent:A-->Search" inside an agent
	args   Value  // what a model or a debugger gave; null otherwise
	isTool bool
	debug  bool
	parent *CallOutputs // the agent's call, for a tool
	step   int64        // number of this execution in the run
	subs   int64        // tool and model calls so far, for idempotency keys

	slot     *slotHold    // nil when it takes none
	found    *passages    // of a tool in a parallel step
	waits    time.Time    // since when its stream waits for a slot; zero if it does not
	reserved atomic.Int64 // bytes of memory until the end of this execution
	exceeds  atomic.Bool  // over is set
	long     bool         // an input is not small
	away     bool         // on a worker, while the owner of an eager run settles other nodes

	allowance *allowance // of an agent with limits
	tape      *tape      // of the node in the canvas; nil when it does not wait for people
	scope     string     // of this execution in the tape
	resumed   Value      // see Resumed
	asked     Value      // fields that a person has answered
	edited    bool       // a person gave args
	used      Usage      // guarded by the run's spending

	mu     sync.Mutex
	closed bool
	effects
}

// effects are the results of an execution.
type effects struct {
	outs     []slot
	ins      []slot
	sets     []assignment
	cites    []citation
	memories []Value
	next     []nodeIndex
	branched bool
	deferred *deferred
	speech   *Speech
	cursor   int64
	usage    Usage
	turned   bool // an item decided about its turn
	bodyEnd  bool
	itemsRan bool // a container whose body ran for the elements concurrently
	started  time.Time
	elapsed  time.Duration
	ended    time.Time // when the work was over, where that was noted; else when it is settled
	err      error
	over     error // an output was too large
}

type assignment struct {
	ref   *Ref
	value Value
}

type citation struct {
	node         string
	chunks, aggs []Value
}

func (c *citation) size() int64 {
	n := int64(0)
	for _, list := range [...][]Value{c.chunks, c.aggs} {
		for _, v := range list {
			n += keySize + v.Size()
		}
	}
	return n
}

// deferred is a stream an execution announced.
type deferred struct {
	output string
	stream *Stream
}

// Speech is a message of a component to the user.
type Speech struct {
	// Parts are sent in order: texts as they are, streams piece by piece. Other values read as
	// text.
	Parts    []Value
	Late     map[int]func() (string, error) // texts that replace streams among Parts, at their end
	Voice    bool                           // through the speech port as well
	Rendered bool                           // one whole text, said in one piece
}

// Said is passed to a Speaker after its last event.
type Said struct {
	Text        string // without reasoning
	Status      Value  // fields of message_end; null is left out
	Attachment  Value  // {doc_id, format, file_name}
	Downloads   Value  // list of file descriptors
	Interrupted bool   // an error or a cancel cut it short
}

func newCall(r *run, n *node) *Call {
	c := &Call{}
	c.run, c.st, c.node, c.id = r, r.st, n, n.id
	return c
}

// NodeID returns the id of the node; tools inside an agent have the agent's id, "-->" and their own
// name.
func (c *execution) NodeID() string { return c.id }

// Name returns the display name of the node.
func (c *execution) Name() string { return c.node.name }

// Ports returns the ports of the run.
func (c *execution) Ports() *Ports {
	if logsExchanges(c.run) {
		return askedPorts(c, c.run.opt.Ports)
	}
	return &c.run.opt.Ports
}

// Debugging reports whether the node runs alone, with values from the caller of [Canvas.Debug].
func (c *execution) Debugging() bool { return c.debug }

// RunInfo names a run, for ports that store data by it. A value that the caller did not give is "".
type RunInfo struct {
	UserID    string // owner of the conversation, see [Input]
	TenantID  string // whose run it is, see [Options]
	CanvasID  string
	TaskID    string
	MessageID string // of this execution; a run that continues elsewhere keeps it
}

// RunInfo names the run.
func (c *execution) RunInfo() RunInfo {
	r := c.run
	return RunInfo{
		UserID: r.userID, TenantID: r.opt.TenantID, CanvasID: r.opt.CanvasID,
		TaskID: r.opt.TaskID, MessageID: r.messageID,
	}
}

// Key returns an idempotency key for an outside effect of this execution, the same after a
// takeover: run/step/call.
func (c *execution) Key() string {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.subs++
	return c.run.messageID + "/" + strconv.FormatInt(root.step, 10) + "/" + strconv.FormatInt(root.subs, 10)
}

// root returns the execution of the node in the canvas, for a tool inside of it.
func (c *execution) root() *execution {
	for c.parent != nil {
		c = &c.parent.execution
	}
	return c
}

// passages collects citations of a parallel step. Until all steps have ended, only this step sees
// them. The mutex of the root execution guards them.
type passages struct {
	cites  []citation
	around *passages // of the step around this one
}

// parallelSteps returns n steps of an execution, each without a slot.
func parallelSteps(c *Call, n int) []parallelStep {
	steps := make([]parallelStep, n)
	for i := range steps {
		steps[i].slot = &slotHold{slots: c.run.slots}
		steps[i].found.around = passagesOf(&c.execution)
	}
	return steps
}

// joinSteps adds the citations of steps to those of their execution, in the order of the steps. A
// step that was abandoned may still find something, which is dropped.
func joinSteps(c *Call, steps []parallelStep) {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	kept := citesOf(&c.execution)
	for i := range steps {
		*kept = append(*kept, steps[i].found.cites...)
	}
}

// passagesOf returns where an execution collects its citations; nil means with the node.
func passagesOf(c *execution) *passages {
	for {
		if c.found != nil || c.parent == nil {
			return c.found
		}
		c = &c.parent.execution
	}
}

// citesOf returns the citations to which those of an execution are added.
func citesOf(c *execution) *[]citation {
	if found := passagesOf(c); found != nil {
		return &found.cites
	}
	return &c.root().cites
}

// addTo adds the citations of the steps around this one, and its own.
func (p *passages) addTo(ref *Reference) {
	if p == nil {
		return
	}
	p.around.addTo(ref)
	for _, x := range p.cites {
		ref.add(x.node, x.chunks, x.aggs)
	}
}

// Now returns the run's time.
func (c *execution) Now() time.Time { return c.run.clock.Now() }

// Sleep waits for d or until the run is canceled.
func (c *execution) Sleep(ctx context.Context, d time.Duration) error {
	return c.run.clock.Sleep(ctx, d)
}

// Canceled returns ErrCanceled once the run is canceled.
func (c *execution) Canceled() error {
	if c.run.canceled() {
		return ErrCanceled
	}
	return nil
}

// CancelRun cancels the run, as its cancel port would.
func (c *execution) CancelRun() { c.run.cancelNow() }

// Rand returns a number in [0, n). It depends only on the run's seed and on the step, so a
// continued run draws the same.
func (c *execution) Rand(n int) int {
	if n <= 1 {
		return 0
	}
	x := mix(c.run.opt.Seed ^ mix(uint64(c.root().step)+0x9e3779b97f4a7c15))
	return int(x % uint64(n))
}

// mix spreads the bits of x (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// randomSeed returns a seed for a caller without one.
func randomSeed() uint64 { return maphash.String(maphash.MakeSeed(), "run") }

// IsTool reports whether a model called this component.
func (c *execution) IsTool() bool { return c.isTool }

// meter bounds a text that comes in pieces.
type meter struct {
	call           *execution
	total, waiting int64 // bytes so far, and those that are not reserved yet
}

// add counts n bytes more.
func (m *meter) add(n int) error {
	m.total += int64(n)
	m.waiting += int64(n)
	if err := within(ErrTextTooLarge, m.total, m.call.run.opt.Limits.Text); err != nil {
		return err
	}
	if m.waiting < memoryStep {
		return nil
	}
	n, m.waiting = int(m.waiting), 0
	return m.call.reserve(int64(n))
}

// close cuts the call off from the state.
func (c *Call) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}
