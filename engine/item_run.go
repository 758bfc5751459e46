package engine

import (
	"context"
	"strconv"
	"sync"
)

// itemRun is the running body of one element.
type itemRun struct {
	group    *itemGroup
	index    int
	path     Value // see itemScope
	resumed  bool
	form     Value
	err      error
	events   innerEvents
	memories int // entries of the memory before it
}

// prepare makes the run of the body.
func (x *itemRun) prepare(ctx context.Context) (*run, error) {
	c := x.group.call
	opt := c.subOptions(c.run.opt.CanvasID)
	opt.AsCompleted = x.group.completed
	opt.Scheduling, opt.Seed = Eager, mix(opt.Seed^uint64(x.index))|1
	opt.Ports.IDs = &innerIDs{IDs: c.run.opt.Ports.IDs, first: x.group.key + "." + strconv.Itoa(x.index)}
	if around := c.run.opt.item; around != nil {
		x.path = around.path
	}
	x.path = x.path.Append(Int(int64(x.index)))
	opt.item = &itemScope{container: c.node.index, index: x.index, path: x.path}
	st, err := x.state()
	if err != nil {
		return nil, err
	}
	x.memories = len(st.memory)
	kept := st.progress
	r := newRun(ctx, c.run.c, st, c.run.in, opt, x.take)
	r.instructions = c.run.instructions
	r.enc.name(c.run.messageID, c.run.taskID, c.run.created)
	if x.resumed {
		r.messageID, opt.item.entered = kept.messageID, true
		return r, nil
	}
	r.bodies = []body{{container: c.node.index, cursor: int64(x.index), started: c.started}}
	r.sched.Enter(c.node.index)
	return r, nil
}

// state returns the initial state of the body: a copy of the container's view, or the state in
// which it waited.
func (x *itemRun) state() (*State, error) {
	c := x.group.call
	if form := x.group.paused[x.index]; !form.IsNull() {
		x.resumed = true
		return c.run.c.foreignState(form.Get("state"))
	}
	st := c.st.Clone()
	for _, w := range x.group.texts {
		st.setOut(w.node, w.output, w.text)
	}
	for _, o := range c.outs { // of the container itself, such as the variables of a Loop
		st.setOut(c.node.index, o.name, o.value)
	}
	st.path, st.waiting, st.progress, st.dirty, st.globals.dirty = nil, nil, nil, nil, nil
	last := Reference{}
	if n := len(st.retrieval); n > 0 {
		last = st.retrieval[n-1].clone()
	}
	st.retrieval = []Reference{last}
	for i := range st.nodes {
		st.nodes[i].dirty = false
	}
	return st, nil
}

// take handles an event of the body.
func (x *itemRun) take(e *Event, err error) bool {
	if err != nil {
		x.err = err
		return false
	}
	c := x.group.call
	switch e.Type {
	case EventUserInputs:
		x.form = e.Data()
	case EventNodeStarted, EventNodeFinished, EventMessage, EventMessageEnd:
		v := e.Value()
		inner := innerEvent{e.Type, e.Node, v.With("data", x.indexed(v.Get("data")))}
		x.events.add(inner)
		x.group.hand(x.index, inner)
	case EventUsage, EventQueued, EventToolStarted, EventToolFinished, EventLimitReached, EventProgress, EventInner,
		EventExchange:
		c.run.note(e.Type, c.node, x.indexed(e.Data()))
	case EventWarning:
		data := e.Data()
		if data.find("component_id") >= 0 {
			data = x.indexed(data)
		}
		c.run.note(e.Type, c.node, data)
	}
	return true
}

// indexed adds the path of the element to the data of an event, unless it is of a body inside.
func (x *itemRun) indexed(data Value) Value {
	if data.find("index_path") < 0 {
		data = data.With("index_path", x.path)
	}
	return data
}

// record returns the effects of the body.
func (x *itemRun) record(r *run, err error) Value {
	outs, sets := NewObject(4), List()
	for i := range r.st.nodes {
		n, held := &r.c.nodes[i], &r.st.nodes[i]
		if !held.dirty {
			continue
		}
		own := NewObject(len(held.outs))
		for _, o := range held.outs {
			own.Set(o.name, o.value)
			if !r.c.graph.Encloses(x.group.call.node.index, n.index) {
				sets = sets.Append(List(String(n.id+"@"+o.name), o.value))
			}
		}
		if r.c.graph.Encloses(x.group.call.node.index, n.index) {
			outs.Set(n.id, own.Value())
		}
	}
	for _, name := range r.st.globals.dirty {
		v, _ := r.st.globals.get(name)
		sets = sets.Append(List(String(name), v))
	}
	given := Object("outs", outs.Value(), "sets", sets, "cites", citesValue(r.cited),
		"memory", List(r.st.memory[min(x.memories, len(r.st.memory)):]...))
	if err != nil {
		given = given.With("error", String(errorText(err)))
	}
	return given
}

// innerEvent is an event of a body on its way to the owner of the run around it.
type innerEvent struct {
	typ  EventType
	node string
	json Value
}

// innerEvents is a list of events, safe for concurrent use.
type innerEvents struct {
	mu   sync.Mutex
	list []innerEvent
}

func (l *innerEvents) add(events ...innerEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, events...)
}

// takeAll returns the events since the last call.
func (l *innerEvents) takeAll() []innerEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

func (l *innerEvents) value() Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	return innerEventsValue(l.list)
}

func innerEventsValue(events []innerEvent) Value {
	vals := make([]Value, len(events))
	for i, e := range events {
		vals[i] = List(String(string(e.typ)), String(e.node), e.json)
	}
	return listOf(vals)
}

// readInnerEvents reads what innerEventsValue wrote.
func readInnerEvents(v Value) []innerEvent {
	var events []innerEvent
	for _, e := range v.Elements() {
		events = append(events, innerEvent{EventType(e.At(0).Str()), e.At(1).Str(), e.At(2)})
	}
	return events
}

// flushInner emits the events of bodies that run side by side. The record of an element comes
// before its messages, so that a takeover does not ask the model again for a text that was sent.
func (e *emitter) flushInner() {
	events := e.inner.takeAll()
	e.flushNotes()
	for _, x := range events {
		if !e.room(x.json.Size()) {
			return
		}
		e.enc.reserve(x.json.Size())
		e.enc.buf = x.json.AppendJSON(e.enc.buf[:0])
		f := ReadFacts(x.typ, e.enc.buf)
		e.emitWire(x.typ, x.node, &f)
	}
}

// keep drops nodes outside the body of an element, and the start of a second turn.
func (s *itemScope) keep(r *run, taken []nodeIndex) []nodeIndex {
	kept := taken[:0]
	for _, n := range taken {
		again := n == r.c.nodes[s.container].item && s.entered
		if again || !r.c.graph.Encloses(s.container, n) {
			r.sched.Withdraw(n)
			continue
		}
		s.entered = s.entered || n == r.c.nodes[s.container].item
		kept = append(kept, n)
	}
	return kept
}
