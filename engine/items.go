package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// Items configures how the body of a container runs for the elements of a list, see
// [Call.RunItems].
type Items struct {
	Count       int  // elements
	Concurrency int  // bodies at once
	Stop        bool // the first error ends them all and fails the node
}

// ItemResult is the result of the body for one element.
type ItemResult struct{ given Value }

// Err returns the error of the body, or nil.
func (r *ItemResult) Err() error {
	if text := r.given.Get("error"); !text.IsNull() {
		return errors.New(text.Str())
	}
	return nil
}

// Output returns the value of a reference to a node of the body at the end; ok is false for another
// node.
func (r *ItemResult) Output(ref *Ref) (v Value, ok bool) {
	outs, ok := r.given.Get("outs").Lookup(ref.Node)
	if !ok {
		return Null, false
	}
	if v = outs.Get(ref.Output); len(ref.Path) > 0 {
		v = Walk(v, ref.Path)
	}
	return v, true
}

// itemScope marks a run as the body of a container for one element.
type itemScope struct {
	container nodeIndex
	index     int
	path      Value // indexes of the elements whose bodies this one lies in, the outer first, and its own
	entered   bool  // its item node has started
}

// SingleItem reports whether this execution belongs to a body that runs for one element only,
// concurrently with those of other elements: nothing is collected from an earlier turn.
func (c *execution) SingleItem() bool { return c.run.opt.item != nil }

// RunItems runs the body of this container once for each element, each time as a separate run that
// sees the state as it was when the container started. What they write counts in the order of the
// elements when all are done. The messages of an element are emitted together when it is done and
// all before it are, or at once with Options.AsCompleted; other events are emitted as they occur,
// with the index of the element. A form pauses its element only: the others are completed, and then
// the execution is to end with the *Suspension.
func (c *Call) RunItems(ctx context.Context, items Items) ([]ItemResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &itemGroup{
		call: c, items: items, cancel: cancel, key: c.Key(), completed: c.run.opt.AsCompleted,
		given: make([]Value, items.Count), paused: make([]Value, items.Count), held: make([][]innerEvent, items.Count),
	}
	if err := g.awaitTexts(ctx); err != nil {
		return nil, err
	}
	resumed := g.restore()
	g.runAll(ctx, resumed)
	if err := c.Canceled(); err != nil {
		return nil, err
	}
	if g.err != nil {
		return nil, g.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s := g.suspension(); s != nil {
		return nil, s
	}
	return g.results(), nil
}

// itemGroup is the running bodies of one container.
type itemGroup struct {
	call      *Call
	items     Items
	key       string
	cancel    context.CancelFunc
	completed bool // see Options.AsCompleted; a form keeps the choice of the run that asked

	mu     sync.Mutex
	given  []Value        // by element: what its body gave; null until it is done
	paused []Value        // by element: the form it waits with
	held   [][]innerEvent // by element: messages until it is their turn
	texts  []written
	next   int // the first element that is not done
	err    error
}

// written is an output that was still being written when the container started.
type written struct {
	node   nodeIndex
	output string
	text   Value
}

// awaitTexts waits for the texts that the bodies read and nodes around them still write: a body is
// not woken when they grow.
func (g *itemGroup) awaitTexts(ctx context.Context) error {
	c := g.call
	for i := range c.run.c.nodes {
		if !c.run.c.graph.Encloses(c.node.index, nodeIndex(i)) {
			continue
		}
		for _, r := range c.run.c.nodes[i].refs {
			if r.slot == 0 || r.Node == "" {
				continue
			}
			from := nodeIndex(r.slot - 1)
			v, _ := c.st.nodes[from].out(r.Output)
			if v.Stream() == nil {
				continue
			}
			text, err := g.readEarly(ctx, v.Stream())
			if err != nil && (ctx.Err() != nil || c.run.canceled()) {
				return err
			}
			g.texts = append(g.texts, written{from, r.Output, String(text)}) // an error is its writer's
		}
	}
	return nil
}

// readEarly returns the whole text of a stream, which takes a slot if it is not open yet.
func (g *itemGroup) readEarly(ctx context.Context, s *Stream) (string, error) {
	c := g.call
	if !s.isOpen() {
		slot := &slotHold{slots: c.run.slots}
		if err := slot.wait(ctx); err != nil {
			return "", err
		}
		s.openEarly(c.run.work(), slot)
	}
	return s.await(ctx, c.run.work(), nil, nil)
}

// restore restores the results from before a pause or a crash. It returns the element whose form
// was answered, or -1.
func (g *itemGroup) restore() (resumed int) {
	resumed = -1
	state, waited := g.call.Resumed()
	g.completed = g.completed || state.Get("completed").True()
	for i := range g.given {
		name := strconv.Itoa(i)
		if waited {
			g.given[i], g.paused[i] = state.Get("given").Get(name), state.Get("paused").Get(name)
			g.held[i] = readInnerEvents(state.Get("held").Get(name))
		}
		if resumed < 0 && !g.paused[i].IsNull() {
			resumed = i
		}
	}
	g.skipDone()
	for _, v := range g.call.run.itemLog {
		i, _ := v.Get("item").Int()
		step, _ := v.Get("step").Int()
		if v.Get("node").Str() != g.call.id || step != g.call.step || int(i) >= len(g.given) {
			continue
		}
		given := v.Get("given")
		for _, e := range readInnerEvents(given.Get("events")) {
			g.hand(int(i), e)
		}
		g.finish(int(i), given.With("events", Null), Null)
	}
	return resumed
}

// runAll runs the remaining bodies, some at once.
func (g *itemGroup) runAll(ctx context.Context, resumed int) {
	todo := make(chan int, len(g.given))
	for i := range g.given {
		if g.given[i].IsNull() && (g.paused[i].IsNull() || i == resumed) {
			todo <- i
		}
	}
	close(todo)
	var all sync.WaitGroup
	for range min(max(g.items.Concurrency, 1), len(todo)) {
		all.Go(func() {
			for i := range todo {
				if ctx.Err() != nil {
					return
				}
				g.runItem(ctx, i)
			}
		})
	}
	all.Wait()
}

// runItem runs the body for one element.
func (g *itemGroup) runItem(ctx context.Context, i int) {
	x := &itemRun{group: g, index: i}
	r, err := x.prepare(ctx)
	if err == nil {
		defer r.close()
		if x.resumed {
			if r.resumeForms() {
				r.goEager()
			}
		} else {
			r.goEager()
		}
		err = x.err
		if err == nil && r.canceled() {
			err = ErrCanceled
		}
	}
	switch {
	case errors.Is(err, ErrCanceled) || ctx.Err() != nil:
		return
	case !x.form.IsNull():
		state, err := ParseJSON(r.st.appendLog(nil, r.st.progress))
		if err == nil {
			g.mu.Lock()
			g.paused[i] = x.form.With("state", state)
			g.mu.Unlock()
			return
		}
		x.err = err
		fallthrough
	default:
		g.done(x, r, err)
	}
}

// done stores the result of the body for an element.
func (g *itemGroup) done(x *itemRun, r *run, err error) {
	if err != nil && g.items.Stop {
		g.mu.Lock()
		if g.err == nil {
			g.err = fmt.Errorf("item %d: %w", x.index, err)
		}
		g.mu.Unlock()
		g.cancel()
		return
	}
	given, record := x.record(r, err), Null
	c := g.call
	if c.run.opt.Checkpoints {
		record = Object(
			"node", c.id, "step", c.step, "item", x.index, "given", given.With("events", x.events.value()))
	}
	g.finish(x.index, given, record)
}

// finish marks an element as done, logs its record unless that is null, and emits the messages
// whose turn it is.
func (g *itemGroup) finish(i int, given, record Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !record.IsNull() {
		g.call.run.note(EventResult, g.call.node, record)
	}
	g.given[i], g.paused[i] = given, Null
	if g.completed {
		g.release(i)
	}
	g.skipDone()
}

// skipDone emits the messages of all elements before the first that is not done.
func (g *itemGroup) skipDone() {
	for ; g.next < len(g.given) && !g.given[g.next].IsNull(); g.next++ {
		g.release(g.next)
	}
	g.call.run.wakeUp()
}

// release emits the messages of an element.
func (g *itemGroup) release(i int) {
	g.call.run.inner.add(g.held[i]...)
	g.held[i] = nil
}

// hand emits an event of an element: messages when all elements before it are done, other events at
// once.
func (g *itemGroup) hand(i int, e innerEvent) {
	if e.typ == EventMessage || e.typ == EventMessageEnd {
		g.mu.Lock()
		g.held[i] = append(g.held[i], e)
		g.mu.Unlock()
		return
	}
	g.call.run.inner.add(e)
	g.call.run.wakeUp()
}

// suspension returns the form of the first element that waits, with all results so far, or nil. The
// messages of that element come before its form.
func (g *itemGroup) suspension() error {
	given, paused, held := NewObject(len(g.given)), NewObject(1), NewObject(0)
	var form Value
	for i := range g.given {
		name := strconv.Itoa(i)
		if !g.given[i].IsNull() {
			given.Set(name, g.given[i])
		}
		if !g.paused[i].IsNull() {
			paused.Set(name, g.paused[i])
			if form.IsNull() {
				form = g.paused[i]
				g.release(i)
			}
		}
		if len(g.held[i]) > 0 {
			held.Set(name, innerEventsValue(g.held[i]))
		}
	}
	if form.IsNull() {
		return nil
	}
	return &Suspension{
		Fields: form.Get("inputs"), Tips: form.Get("tips").Str(),
		State: Object(
			"given", given.Value(), "paused", paused.Value(), "held", held.Value(), "completed", g.completed),
	}
}

// results adds the writes of the bodies to those of this execution, in the order of the elements.
func (g *itemGroup) results() []ItemResult {
	c := g.call
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]ItemResult, len(g.given))
	for i, v := range g.given {
		list[i].given = v
		for _, s := range v.Get("sets").Elements() {
			ref := ParseRef(s.At(0).Str())
			c.sets = append(c.sets, assignment{&ref, s.At(1)})
		}
		c.cites = append(c.cites, readCites(v.Get("cites"))...)
		c.memories = append(c.memories, elements(v.Get("memory"))...)
	}
	if n := len(g.given); n > 0 {
		for node, outs := range g.given[n-1].Get("outs").Fields() {
			for name, v := range outs.Fields() {
				ref := ParseRef(node + "@" + name)
				c.sets = append(c.sets, assignment{&ref, v})
			}
		}
	}
	c.itemsRan = true
	return list
}
