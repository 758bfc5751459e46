package engine

import (
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// This file writes and reads the additional entries in the log of an eager run: the nodes that are
// running at a checkpoint, and the order in which nodes were settled after it.

// started is a node that was running at a checkpoint.
type started struct {
	node nodeIndex
	step int64 // 0 for a node that waits for a slot
	at   time.Time
}

// overlap is the part of a position that only eager runs have.
type overlap struct {
	eager   bool
	running []started
	stretch stretch
}

// scheduling returns the mode of the run.
func (o *overlap) scheduling() Scheduling {
	if o.eager {
		return Eager
	}
	return Batch
}

// noteRunning brings running up to date.
func (e *eager) noteRunning() {
	e.running = e.running[:0]
	for _, s := range e.speeches {
		e.running = append(e.running, started{s.call.node.index, s.call.step, s.call.started})
	}
	for _, j := range e.active {
		e.running = append(e.running, started{j.call.node.index, j.call.step, j.call.started})
	}
	for _, n := range e.queue {
		e.running = append(e.running, started{node: n})
	}
}

// save writes a checkpoint if something has changed. It writes none in the middle of a message,
// which would be sent twice, nor before a replay has reached the end of the log.
func (e *eager) save() {
	midway := len(e.speeches) > 0 && e.speeches[0].opened || slices.ContainsFunc(e.active, runsBodies)
	if !e.unsaved || midway || e.replay.pending() || e.stopped() {
		return
	}
	e.unsaved = false
	e.noteRunning()
	e.checkpoint()
	e.settled = e.settled[:0]
	if e.opt.item == nil {
		e.cited = e.cited[:0]
	}
}

// runsBodies reports whether a worker runs bodies, whose events would repeat after a crash.
func runsBodies(j *job) bool { return j.call.node.container != nil }

// value returns an overlap as the log has it: all of it, or the ways from the first new one on.
func (o *overlap) value(c *Canvas, schedule *scheduler.State, from int) Value {
	running := make([]Value, len(o.running))
	for i, s := range o.running {
		running[i] = List(String(c.nodes[s.node].id), Int(s.step), Int(s.at.UnixNano()))
	}
	ways := make([]Value, 0, len(o.stretch.ways)-from)
	for _, w := range o.stretch.ways[from:] {
		ways = append(ways, List(String(c.nodes[w.node].id), Int(int64(w.how)), Strings(idsOf(c, w.next)...)))
	}
	b := NewObject(6)
	b.Set("running", listOf(running)).Set("taken", Strings(idsOf(c, schedule.Running)...))
	b.Set("over", Strings(idsOf(c, schedule.Ended)...)).Set("ways", listOf(ways))
	if from == 0 && o.stretch.origin != nil {
		s := &o.stretch
		b.Set("from", Int(int64(s.from))).Set("ran", String(maskOf(s.ran))).Set("origin", scheduleValue(c, s.origin))
	}
	return b.Value()
}

// apply restores what value wrote.
func (o *overlap) apply(c *Canvas, schedule *scheduler.State, v Value) (err error) {
	o.eager, o.running = true, nil
	for _, s := range v.Get("running").Elements() {
		n, ok := c.index[s.At(0).Str()]
		if !ok {
			return c.unknownNode(s.At(0))
		}
		step, _ := s.At(1).Int()
		at, _ := s.At(2).Int()
		o.running = append(o.running, started{n, step, time.Unix(0, at)})
	}
	if schedule.Running, err = c.indexes(v.Get("taken")); err != nil {
		return err
	}
	if schedule.Ended, err = c.indexes(v.Get("over")); err != nil {
		return err
	}
	if origin := v.Get("origin"); !origin.IsNull() {
		from, _ := v.Get("from").Int()
		o.stretch = stretch{from: int(from), ran: make([]bool, len(c.nodes))}
		readMask(o.stretch.ran, v.Get("ran").Str())
		if o.stretch.origin, err = readSchedule(c, origin); err != nil {
			return err
		}
	}
	for _, w := range v.Get("ways").Elements() {
		n, ok := c.index[w.At(0).Str()]
		if !ok {
			return c.unknownNode(w.At(0))
		}
		how, _ := w.At(1).Int()
		next, err := c.indexes(w.At(2))
		if err != nil {
			return err
		}
		o.stretch.ways = append(o.stretch.ways, way{n, scheduler.Outcome(how), next})
	}
	return nil
}

// scheduleValue returns the position at which a stretch began.
func scheduleValue(c *Canvas, s *scheduler.State) Value {
	scopes := make([]Value, len(s.Scopes))
	for i, x := range s.Scopes {
		scopes[i] = Object(
			"container", c.nodes[x.Container].id, "live", x.Live, "leaf", x.Leaf, "again", x.Again, "steps", x.Steps)
	}
	return Object(
		"next", Strings(idsOf(c, s.Frontier)...), "held", pendingValue(c, s.Pending), "scopes", listOf(scopes))
}

// readSchedule reads what scheduleValue wrote.
func readSchedule(c *Canvas, v Value) (*scheduler.State, error) {
	p := progress{schedule: &scheduler.State{}}
	var err error
	if p.schedule.Frontier, err = c.indexes(v.Get("next")); err != nil {
		return nil, err
	}
	if err = p.applyScopes(c, v.Get("scopes")); err != nil {
		return nil, err
	}
	err = p.applyPending(c, v.Get("held"), Null)
	return p.schedule, err
}

// idsOf returns the ids of nodes.
func idsOf(c *Canvas, nodes []nodeIndex) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = c.nodes[n].id
	}
	return ids
}

// maskOf returns a set of nodes as hex digits.
func maskOf(set []bool) string {
	bits := make([]byte, (len(set)+7)/8)
	for i, in := range set {
		if in {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return hex.EncodeToString(bits)
}

// readMask reads what maskOf wrote; digits that are missing are nodes that are not in the set.
func readMask(set []bool, mask string) {
	bits, _ := hex.DecodeString(mask) // what is no mask is an empty set
	for i := range set {
		set[i] = i/8 < len(bits) && bits[i/8]&(1<<(i%8)) != 0
	}
}

// noteStreams logs the complete texts, so that a run that is taken over does not request them
// again.
func (e *eager) noteStreams() {
	if !e.opt.Checkpoints {
		return
	}
	for _, n := range e.pending {
		call := e.streams[n]
		if s := call.deferred.stream; s.ended() && !s.logged && !e.gone {
			s.logged = true
			if v := call.writtenValue(); !v.IsNull() {
				e.flushNotes()
				v = v.With("node", String(call.id)).With("step", Int(call.step))
				e.emitData(EventResult, call.id, e.redact(v))
			}
		}
	}
}

// writtenValue returns the result of a complete text's writer, or null where it was cut short.
func (c *Call) writtenValue() Value {
	text, err := c.deferred.stream.result()
	if err != nil && (errors.Is(err, ErrCanceled) || c.run.canceled()) {
		return Null
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	outs := NewObject(len(c.outs))
	for _, o := range c.outs {
		if o.value.Stream() == nil {
			outs.Set(o.name, o.value)
		}
	}
	v := Object("text", text, "usage", usageValue(c.usage), "outs", outs.Value(), "cites", citesValue(c.cites),
		"memory", List(c.memories...), "over", c.deferred.stream.endedAt().UnixNano())
	if err != nil {
		v = v.With("error", String(errorText(err)))
	}
	return v
}

// fill completes a text with the result of its writer from before the takeover.
func (c *Call) fill(v Value) {
	over, _ := v.Get("over").Int()
	var err error
	if text := v.Get("error"); !text.IsNull() {
		err = errors.New(text.Str())
	}
	c.deferred.stream.fill(v.Get("text").Str(), err, time.Unix(0, over))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage = readUsage(v.Get("usage"))
	for name, x := range v.Get("outs").Fields() {
		c.setOut(name, x)
	}
	c.cites, c.memories = readCites(v.Get("cites")), slices.Clone(elements(v.Get("memory")))
}

// replay holds the results in the log after the last checkpoint of a run that is taken over. They
// are settled in the same order again.
type replay struct {
	results map[int64]*Call // by step
	texts   map[int64]Value // by step of the writer
	order   []int64         // steps, as they were settled
	arrived []*Call         // done, before their turn
}

// pending reports whether results of the log are not settled yet.
func (p *replay) pending() bool { return len(p.order)+len(p.arrived) > 0 }

// take returns the result of an execution before the takeover, or nil.
func (p *replay) take(step int64) *Call {
	call := p.results[step]
	delete(p.results, step)
	return call
}

// defers keeps an execution that ended before its turn.
func (p *replay) defers(call *Call) bool {
	if len(p.order) == 0 {
		return false
	}
	p.arrived = append(p.arrived, call)
	return true
}

// next returns the execution that is settled next, or nil. When idle, no worker is active:
// executions that the log names and that did not start are skipped.
func (p *replay) next(idle bool) *Call {
	for len(p.order) > 0 {
		isNext := func(c *Call) bool { return c.step == p.order[0] }
		if i := slices.IndexFunc(p.arrived, isNext); i >= 0 {
			call := p.arrived[i]
			p.order, p.arrived = p.order[1:], slices.Delete(p.arrived, i, i+1)
			return call
		}
		if !idle {
			return nil
		}
		p.order = p.order[1:]
	}
	if len(p.arrived) == 0 {
		return nil
	}
	call := p.arrived[0]
	p.arrived = p.arrived[1:]
	return call
}

// restart continues the nodes that were running when the log was written.
func (e *eager) restart() {
	e.readResults()
	running := e.running
	e.running = nil
	going := map[nodeIndex]bool{}
	for _, s := range running {
		going[s.node] = true
	}
	for _, n := range e.sched.Running {
		if !going[n] {
			e.due = append(e.due, n)
		}
	}
	for _, s := range running {
		if s.step == 0 {
			e.queue = append(e.queue, s.node)
			continue
		}
		call := e.newCall(&e.c.nodes[s.node])
		e.step--
		if call.step, call.started = s.step, s.at; e.opt.Rerun {
			call.started = e.clock.Now()
			e.emitNodeStarted(call)
		}
		if e.needsSlot(call.node) {
			e.slots.force() // it had one
			call.slot = e.slots.holdOf()
		}
		e.start(call)
	}
}

// readResults reads the results of executions and texts after the last checkpoint of the log.
func (e *eager) readResults() {
	e.replay.results, e.replay.texts = map[int64]*Call{}, map[int64]Value{}
	for _, v := range e.logged {
		n, ok := e.c.index[v.Get("node").Str()]
		step, numbered := v.Get("step").Int()
		switch {
		case !ok || !numbered:
		case !v.Get("text").IsNull():
			e.replay.texts[step] = v
		case v.Get("again").True():
			e.replay.order = append(e.replay.order, step)
		default:
			e.replay.order = append(e.replay.order, step)
			e.replay.results[step] = e.reviveCall(&e.c.nodes[n], v)
		}
	}
	e.logged = nil
	e.fillStreams()
}

// fillStreams completes the texts whose writers were done before the run was taken over.
func (e *eager) fillStreams() {
	if len(e.replay.texts) == 0 {
		return
	}
	for _, n := range e.pending {
		call := e.streams[n]
		if v, ok := e.replay.texts[call.step]; ok && !call.deferred.stream.isOpen() {
			call.fill(v)
			call.deferred.stream.logged = true
		}
	}
}
