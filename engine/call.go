package engine

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Call is one execution of a component: its view of the state, and the place where its effects are
// collected. The state itself changes only when the execution is over, so members of a batch see it
// as it was when the batch began.
//
// Concurrency: a component may use its Call from several goroutines. When the run goes on without
// it (timeout, cancel), the call is closed: reads fail with ErrCanceled and writes go nowhere.
type Call struct {
	run    *run
	node   *node
	id     string // "Agent:A", or "Agent:A-->Search" inside an agent
	args   Value  // what a model or a debugger gave; null otherwise
	isTool bool
	debug  bool
	parent *Call // the agent's call, for a tool
	step   int64 // number of this execution in the run
	subs   int64 // tool and model calls so far, for idempotency keys

	reserved atomic.Int64 // bytes of memory until the end of this execution
	exceeds  atomic.Bool  // over is set
	long     bool         // an input is not small

	mu     sync.Mutex
	closed bool
	effects
}

// effects are what an execution leaves behind.
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
	turned   bool // an item decided about its turn
	bodyEnd  bool
	usage    Usage
	started  time.Time
	elapsed  time.Duration
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

// Speech is what a component says to the user.
type Speech struct {
	// Parts are said in order: texts as they are, streams piece by piece. Other values read as
	// text.
	Parts    []Value
	Voice    bool // through the speech port as well
	Rendered bool // one whole text, said in one piece
}

// Said is told to a Speaker when everything is out.
type Said struct {
	Text        string // without reasoning
	Status      Value  // fields of message_end; null is left out
	Attachment  Value  // {doc_id, format, file_name}
	Downloads   Value  // list of file descriptors
	Interrupted bool   // an error or a cancel cut it short
}

// NodeID is the id of the node; tools inside an agent have the agent's id, "-->" and their own
// name.
func (c *Call) NodeID() string { return c.id }

// Name is the display name of the node.
func (c *Call) Name() string { return c.node.name }

// Ports are the run's ways to the world.
func (c *Call) Ports() *Ports { return &c.run.opt.Ports }

// TopLevel reports whether the node stands in the canvas itself, not inside an agent.
func (c *Call) TopLevel() bool { return !c.isTool }

// Debugging reports whether the node is run alone, with values given by hand.
func (c *Call) Debugging() bool { return c.debug }

// RunInfo names a run, for ports that keep things by it. What the caller of the run did not give is
// "".
type RunInfo struct {
	UserID    string // owner of the conversation, see [Input]
	TenantID  string // whose run it is, see [Options]
	CanvasID  string
	TaskID    string
	MessageID string // of this execution; a run that continues elsewhere keeps it
}

// RunInfo names the run.
func (c *Call) RunInfo() RunInfo {
	r := c.run
	return RunInfo{
		UserID: r.userID, TenantID: r.opt.TenantID, CanvasID: r.opt.CanvasID, TaskID: r.opt.TaskID, MessageID: r.messageID,
	}
}

// Key names one outside effect of this execution, the same after a take-over: run/step/call. A tool
// can use it to do a thing once.
func (c *Call) Key() string {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.subs++
	return c.run.messageID + "/" + strconv.FormatInt(root.step, 10) + "/" + strconv.FormatInt(root.subs, 10)
}

func (c *Call) root() *Call {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// Now is the run's time.
func (c *Call) Now() time.Time { return c.run.clock.Now() }

// Sleep waits, unless the run is cancelled.
func (c *Call) Sleep(ctx context.Context, d time.Duration) error { return c.run.clock.Sleep(ctx, d) }

// Canceled gives ErrCanceled once the run was told to stop.
func (c *Call) Canceled() error {
	if c.run.canceled() {
		return ErrCanceled
	}
	return nil
}

// CancelRun tells the run to stop, as its cancel port would.
func (c *Call) CancelRun() { c.run.cancelNow() }

// Rand is a number in [0, n). It depends only on the run's seed and on the step, so a continued run
// draws the same.
func (c *Call) Rand(n int) int {
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

// randomSeed is drawn when the caller gave none.
func randomSeed() uint64 { return maphash.String(maphash.MakeSeed(), "run") }

// Resolve is the value of a reference. A node that has not run in this run gives null; a text that
// is still being written is awaited. An unknown node or variable is an error (ErrRef).
func (c *Call) Resolve(ctx context.Context, r *Ref) (Value, error) {
	v, _, err := c.resolve(ctx, r)
	return v, err
}

func (c *Call) resolve(ctx context.Context, r *Ref) (v Value, absent bool, err error) {
	v, absent, err = c.peek(r)
	if s := v.Stream(); s != nil && err == nil {
		text, err := c.await(ctx, s)
		return String(text), false, err
	}
	return v, absent, err
}

// await is the whole text of a stream.
func (c *Call) await(ctx context.Context, s *Stream) (string, error) {
	if c.node.inline && !c.isTool { // on the goroutine of the run's owner
		return s.await(ctx, c.run.work(), c.run.signal, c.run.flushNotes)
	}
	return s.await(ctx, c.run.work(), nil, nil)
}

// Peek is Resolve that leaves a text that is still being written as a stream.
func (c *Call) Peek(r *Ref) (Value, error) {
	v, _, err := c.peek(r)
	return v, err
}

func (c *Call) peek(r *Ref) (v Value, absent bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view(r)
}

// view looks a reference up; mu is held. What this execution has written to it already counts.
func (c *Call) view(r *Ref) (v Value, absent bool, err error) {
	if c.closed {
		return Null, false, ErrCanceled
	}
	given := false
	if c.debug {
		v, given = c.args.Lookup(r.Expr)
	}
	if !given {
		v, absent, err = c.run.st.lookup(r)
	}
	if err != nil || len(c.sets) == 0 {
		return v, absent, err
	}
	return c.overlay(r, v, absent)
}

// overlay puts this execution's own writes over a value: those of the reference itself, of
// something above it and of something below it.
func (c *Call) overlay(r *Ref, v Value, absent bool) (Value, bool, error) {
	for _, a := range c.sets {
		if a.ref.Expr == r.Expr {
			v, absent = a.value, false
		} else if below, ok := strings.CutPrefix(r.Expr, a.ref.Expr+"."); ok {
			v, absent = Walk(a.value, strings.Split(below, ".")), false
		} else if below, ok := strings.CutPrefix(a.ref.Expr, r.Expr+"."); ok {
			v, absent = Put(v, strings.Split(below, "."), a.value), false
		}
	}
	return v, absent, nil
}

// Global is a variable of the conversation, or null.
func (c *Call) Global(name string) Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return Null
	}
	v, _ := c.run.st.globals.get(name)
	return v
}

// Arg is an argument of a tool: what the model gave, or when the node runs by itself the
// parameter's value. It is noted as an input. given is false when there is none.
func (c *Call) Arg(ctx context.Context, name string, param *Expr) (v Value, given bool, err error) {
	if x, ok := c.args.Lookup(name); ok {
		v, given = x, true
	} else if !param.IsEmpty() {
		if v, err = c.Eval(ctx, param); err != nil {
			return Null, false, err
		}
		given = true
	}
	if given && !c.isTool {
		c.In(name, v)
	}
	return v, given, nil
}

// Args are the arguments a model gave, or null when the node runs by itself.
func (c *Call) Args() Value {
	if c.isTool {
		return c.args
	}
	return Null
}

// IsTool reports whether a model called this component.
func (c *Call) IsTool() bool { return c.isTool }

// RunInputs are the inputs the caller of the run passed, by name, for forms and the start; null
// when none.
func (c *Call) RunInputs() Value {
	if c.debug {
		return c.args
	}
	return c.run.in.Inputs
}

// Webhook is the payload of a run that a web request started; null otherwise.
func (c *Call) Webhook() Value { return c.run.in.Webhook }

// In notes an input as node_finished shows it.
func (c *Call) In(name string, v Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(len(c.ins), name, v)
}

// Out sets an output. One that is larger than outputs may be is null, and the execution fails when
// it returns.
func (c *Call) Out(name string, v Value) {
	err := c.CheckValue(v)
	if err == nil && c.isTool {
		err = c.reserve(v.Size()) // an agent holds it until it is done
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		v = Null
		if c.over == nil {
			c.exceeds.Store(true)
			c.over = fmt.Errorf("output %s: %w", name, err)
		}
	}
	c.setOut(name, v)
}

func (c *Call) setOut(name string, v Value) {
	if c.closed {
		return
	}
	for i := range c.outs {
		if c.outs[i].name == name {
			c.outs[i].value = v
			return
		}
	}
	c.outs = append(c.outs, slot{name, v})
}

// Written is an output this execution has set already.
func (c *Call) Written(name string) (Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.outs {
		if c.outs[i].name == name {
			return c.outs[i].value, true
		}
	}
	return Null, false
}

// Defer announces a stream as the output: the component's Stream is asked for it when somebody
// first reads it.
func (c *Call) Defer(output string, request Value) error {
	s, ok := c.node.comp.(Streamer)
	if !ok {
		return fmt.Errorf("%s cannot stream", c.node.spec.Name)
	}
	if err := c.CheckValue(request); err != nil {
		return err
	}
	stream := newStream(request, func(ctx context.Context, emit func(string) error) error {
		m := meter{call: c}
		return s.Stream(ctx, c, request, func(piece string) error {
			if err := m.add(len(piece)); err != nil {
				return err
			}
			return emit(piece)
		})
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deferred = &deferred{output: output, stream: stream}
	c.setOut(output, streamValue(stream))
	return nil
}

// CanStream reports whether somebody downstream speaks what this node writes, and nothing stands in
// the way.
func (c *Call) CanStream() bool { return !c.isTool && c.node.feeds && len(c.node.gotos) == 0 }

// Say hands over what the node tells the user.
func (c *Call) Say(s Speech) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.speech = &s
}

// Set writes to a reference when the execution is over. An unknown variable is an error now.
func (c *Call) Set(ctx context.Context, r *Ref, v Value) error {
	if _, err := c.Peek(r); err != nil {
		return err
	}
	if err := c.CheckValue(v); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = append(c.sets, assignment{r, v})
	return nil
}

// Next chooses the successors, instead of all edges. It must name ids from Targets. An id the
// canvas lacks is an error (ErrRef), and nothing is chosen.
func (c *Call) Next(ids []string) error {
	next := make([]nodeIndex, len(ids))
	for i, id := range ids {
		n, ok := c.run.c.index[id]
		if !ok {
			return fmt.Errorf("%w: it leads to %q, which is no component of this canvas", ErrRef, id)
		}
		next[i] = n
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.branched, c.next = true, append(c.next, next...)
	c.setOut("_next", Strings(ids...))
	return nil
}

// NodeName is the display name of a node.
func (c *Call) NodeName(id string) string {
	if i, ok := c.run.c.index[id]; ok {
		return c.run.c.nodes[i].name
	}
	return ""
}

// History is the last n turns of the conversation, two entries each, oldest first; the last entry
// is what the user said now.
func (c *Call) History(n int) []Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	return c.run.st.window(n)
}

// Cite adds passages an answer may rest on.
func (c *Call) Cite(chunks, docAggs []Value) {
	if c.parent != nil {
		c.parent.Cite(chunks, docAggs)
		return
	}
	chunks, docAggs = elements(c.run.redact(listOf(chunks))), elements(c.run.redact(listOf(docAggs)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cites = append(c.cites, citation{c.id, chunks, docAggs})
}

// meter bounds a text that comes in pieces.
type meter struct {
	call           *Call
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

// Chunks are the passages found so far in this run, by citation number, those of this execution
// included.
func (c *Call) Chunks() Value {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	if root.closed {
		return Null
	}
	ref := newReference()
	if n := len(c.run.st.retrieval); n > 0 {
		ref = c.run.st.retrieval[n-1].clone()
	}
	for _, x := range root.cites {
		ref.add(x.node, x.chunks, x.aggs)
	}
	return ref.chunks.value()
}

// Remember adds a summary to the memory of the conversation.
func (c *Call) Remember(user, assistant, summary string) {
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.memories = append(root.memories, Strings(user, assistant, summary))
}

// Count adds used tokens.
func (c *Call) Count(u Usage) {
	c.run.spent.add(u)
	root := c.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	root.usage.add(u)
}

// Container is the component around an item's body, or nil.
func (c *Call) Container() Component {
	if c.node.parent < 0 {
		return nil
	}
	return c.run.c.nodes[c.node.parent].comp
}

// ContainerRef is a reference to an output of the container around this node.
func (c *Call) ContainerRef(output string) Ref {
	if c.node.parent < 0 {
		return Ref{}
	}
	return Ref{
		Expr: c.run.c.nodes[c.node.parent].id + "@" + output, Node: c.run.c.nodes[c.node.parent].id,
		Output: output, slot: int32(c.node.parent) + 1,
	}
}

// Body is the ids of the nodes in the same body as this item, in document order.
func (c *Call) Body() []string {
	var ids []string
	for _, i := range c.run.c.bodies[c.node.parent] {
		ids = append(ids, c.run.c.nodes[i].id)
	}
	return ids
}

// Cursor is how many turns this item has begun since its container was entered.
func (c *Call) Cursor() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.cursor)
}

// Turn begins a turn of the body: the cursor moves on by one.
func (c *Call) Turn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cursor++
	c.turned = true
}

// EndBody ends the container: there is no further turn.
func (c *Call) EndBody() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turned, c.bodyEnd = true, true
}

// Log writes an entry of the run's log that is not one of the wire's events: tool_started,
// progress, usage, ...
func (c *Call) Log(typ EventType, data Value) { c.run.note(typ, c.node, data) }

// close cuts the call off from the state.
func (c *Call) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}
