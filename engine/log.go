package engine

import (
	"errors"
	"slices"
	"time"
)

// progress is where a run stands between two batches. With the rest of the State it is all that another process
// needs to go on.
type progress struct {
	messageID string
	taskID    string
	created   int64  // Unix seconds
	seq       uint64 // number of the last event
	step      int64  // executions so far
	steps     int    // executions outside bodies without progress
	seed      uint64
	usage     Usage
	inputs    Value
	userID    string
	webhook   Value
	answers   Value // given to the forms this run resumed with, earlier partial ones included
	asked     bool  // the forms of the next batch have been answered

	next    []int32  // scheduled for the next batch, in order
	held    []held   // waiting for sources, in order
	scopes  []*scope // open bodies, outer ones first
	pending []int32  // nodes whose stream has not been read
	streams map[int32]*Call

	// Read from a saved state, until a run takes over.
	unread  []Value // streams: {node, output, request, ...}
	results []Value // what members of an unsettled batch gave
}

func (p *progress) clone() *progress {
	c := *p
	c.next, c.held, c.pending = slices.Clone(p.next), slices.Clone(p.held), slices.Clone(p.pending)
	c.scopes = make([]*scope, len(p.scopes))
	for i, s := range p.scopes {
		x := *s
		c.scopes[i] = &x
	}
	return &c
}

func scopeIn(scopes []*scope, container int32) *scope {
	for _, s := range scopes {
		if s.container == container {
			return s
		}
	}
	return nil
}

// checkpoint logs what the last batch changed, and now and then everything.
func (r *run) checkpoint() {
	if !r.opt.Checkpoints || r.gone {
		return
	}
	b := r.enc.begin(EventCheckpoint)
	from := len(b)
	b = r.appendDelta(b)
	r.logSize += len(b) - from
	r.enc.buf = append(b, '}')
	r.st.progress = &r.progress // the consumer may save the state now, or leave and continue it later
	r.emit(EventCheckpoint, "")
	if r.gone {
		return
	}
	r.st.progress = nil
	// A large state is written less often, so that all snapshots together grow with the log and not with its square.
	if r.logSize > max(r.opt.SnapshotBytes, r.stateSize) {
		r.logSize = 0
		r.snapshot()
	}
}

// snapshot logs the whole state in the middle of a run.
func (r *run) snapshot() {
	r.seq++ // the snapshot counts itself, so that a run continued from it goes on behind it
	b := r.enc.begin(EventSnapshot)
	from := len(b)
	b = r.appendState(b, &r.progress)
	r.stateSize = len(b) - from
	r.seq--
	r.enc.buf = append(b, '}')
	r.emit(EventSnapshot, "")
}

// lastSnapshot logs the state a finished or paused run leaves.
func (r *run) lastSnapshot() {
	if !r.opt.Checkpoints || r.gone {
		return
	}
	b := r.appendState(r.enc.begin(EventSnapshot), r.st.progress)
	if r.failed != nil { // nothing else in the log tells that the run failed
		b = append(b[:len(b)-1], `,"failed":`...)
		b = append(AppendQuoted(b, r.redactText(errorText(r.failed))), '}')
	}
	r.enc.buf = append(b, '}')
	r.emit(EventSnapshot, "")
}

// appendState appends the state without the document: the buckets as the document has them, outputs under
// nodes. The canvas itself does not change during a run, so it is not logged with it.
func (r *run) appendState(b []byte, p *progress) []byte {
	st := r.st
	b = append(b, `{"task_id":`...)
	b = AppendQuoted(b, st.taskID)
	b = append(b, `,"path":`...)
	b = r.appendIDs(b, st.path)
	b = append(b, `,"history":`...)
	b = st.appendHistory(b)
	b = append(b, `,"retrieval":`...)
	b = st.appendRetrieval(b)
	b = append(b, `,"memory":`...)
	b = List(st.memory...).AppendJSON(b)
	b = append(b, `,"globals":`...)
	b = st.globals.append(b)
	b = append(b, `,"nodes":{`...)
	first := true
	for i := range st.nodes {
		if len(st.nodes[i].outs) == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, r.c.nodes[i].quoted...)
		b = append(b, ':')
		b = appendSlots(b, st.nodes[i].outs)
	}
	b = append(b, '}')
	if len(st.waiting) > 0 {
		b = append(b, `,"waiting":`...)
		b = r.appendIDs(b, st.waiting)
	}
	if p != nil {
		b = append(b, `,"run":`...)
		b = r.c.runValue(p, st).AppendJSON(b)
	}
	return append(b, '}')
}

// appendDelta appends what changed since the last checkpoint:
//
//	{"path": [...], "nodes": {id: {name: value}}, "ran": [...], "ended": [...], "cleared": [...],
//	 "globals": {...}, "cites": [[node, chunks, aggs]], "memory": [...], "run": {...}}
//
// Executed nodes are in path. Of the run member only what changes from batch to batch is written.
func (r *run) appendDelta(b []byte) []byte {
	b = append(b, `{"path":`...)
	b = r.appendIDs(b, r.batchNodes())
	b = append(b, `,"nodes":{`...)
	first := true
	for _, i := range r.st.dirty {
		b, first = r.appendDirty(b, i, first)
	}
	r.st.dirty = r.st.dirty[:0]
	b = append(b, '}')
	if len(r.ended) > 0 {
		b = append(b, `,"ended":`...)
		b = r.appendIDs(b, r.ended)
	}
	if len(r.cleared) > 0 {
		b = append(b, `,"cleared":`...)
		b = r.appendIDs(b, r.cleared)
	}
	if g := &r.st.globals; len(g.dirty) > 0 {
		o := NewObject(len(g.dirty))
		for _, k := range g.dirty {
			v, _ := g.get(k)
			o.Set(k, v)
		}
		g.dirty = g.dirty[:0]
		b = append(b, `,"globals":`...)
		b = o.Value().AppendJSON(b)
	}
	if len(r.cited) > 0 {
		b = append(b, `,"cites":`...)
		b = citesValue(r.cited).AppendJSON(b)
	}
	if n := len(r.st.memory); n > r.loggedMemory {
		b = append(b, `,"memory":`...)
		b = List(r.st.memory[r.loggedMemory:]...).AppendJSON(b)
		r.loggedMemory = n
	}
	b = append(b, `,"run":`...)
	r.seq++
	b = r.appendRunDelta(b)
	r.seq--
	return append(b, '}')
}

func (r *run) batchNodes() []int32 {
	r.ids = r.ids[:0]
	for _, call := range r.calls {
		r.ids = append(r.ids, call.node.index)
	}
	return r.ids
}

func (r *run) appendDirty(b []byte, i int32, first bool) ([]byte, bool) {
	ns := &r.st.nodes[i]
	if !ns.dirty {
		return b, first
	}
	ns.dirty = false
	if !first {
		b = append(b, ',')
	}
	b = append(b, r.c.nodes[i].quoted...)
	b = append(b, ':')
	return appendSlots(b, ns.outs), false
}

func (r *run) appendIDs(b []byte, nodes []int32) []byte { return r.c.appendIDs(b, nodes) }

func (c *Canvas) appendIDs(b []byte, nodes []int32) []byte {
	b = append(b, '[')
	for i, n := range nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c.nodes[n].quoted...)
	}
	return append(b, ']')
}

func citesValue(cites []citation) Value {
	vals := make([]Value, len(cites))
	for i, c := range cites {
		vals[i] = List(String(c.node), List(c.chunks...), List(c.aggs...))
	}
	return listOf(vals)
}

func readCites(v Value) []citation {
	var cites []citation
	for _, c := range v.Elements() {
		cites = append(cites, citation{node: c.At(0).Str(), chunks: elements(c.At(1)), aggs: elements(c.At(2))})
	}
	return cites
}

func elements(v Value) []Value {
	if v.Kind() != KindList {
		return nil
	}
	return v.tree.vals
}

// logResult logs what a member of a batch that may have had outside effects gave, before the batch is settled: a
// crash then repeats only members without a result.
func (r *run) logResult(call *Call) {
	if !r.opt.Checkpoints || r.gone || call.err != nil && errors.Is(call.err, ErrCanceled) {
		return
	}
	r.emitData(EventResult, call.id, call.resultValue())
}

// resultValue is everything an execution left behind, as data.
func (c *Call) resultValue() Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := NewObject(8)
	b.Set("node", String(c.id)).Set("started", Int(c.started.UnixNano()))
	b.Set("outs", slotsValue(c.outs)).Set("ins", slotsValue(c.ins))
	if c.err != nil {
		b.Set("error", String(errorText(c.err)))
	}
	if len(c.sets) > 0 {
		vals := make([]Value, len(c.sets))
		for i, s := range c.sets {
			vals[i] = List(String(s.ref.Expr), s.value)
		}
		b.Set("sets", listOf(vals))
	}
	if len(c.cites) > 0 {
		b.Set("cites", citesValue(c.cites))
	}
	if len(c.memories) > 0 {
		b.Set("memory", List(c.memories...))
	}
	if c.branched {
		ids := make([]string, len(c.next))
		for i, n := range c.next {
			ids[i] = c.run.c.nodes[n].id
		}
		b.Set("next", Strings(ids...))
	}
	if c.deferred != nil {
		b.Set("stream", Object("output", c.deferred.output, "request", c.deferred.stream.request))
	}
	if c.usage != (Usage{}) {
		b.Set("usage", usageValue(c.usage))
	}
	return b.Value()
}

// reviveCall makes a finished call of a logged result.
func (r *run) reviveCall(n *node, v Value) *Call {
	c := &Call{run: r, node: n, id: n.id}
	started, _ := v.Get("started").Int()
	c.started = time.Unix(0, started)
	c.outs, c.ins = readSlots(v.Get("outs")), readSlots(v.Get("ins"))
	if e := v.Get("error"); !e.IsNull() {
		c.err = errors.New(e.Str())
	}
	for _, s := range v.Get("sets").Elements() {
		ref := ParseRef(s.At(0).Str())
		c.sets = append(c.sets, assignment{&ref, s.At(1)})
	}
	c.cites, c.memories = readCites(v.Get("cites")), elements(v.Get("memory"))
	if next, ok := v.Lookup("next"); ok {
		c.branched = true
		for _, id := range next.Elements() {
			c.next = append(c.next, r.c.find([]string{id.Str()})...)
		}
	}
	if s := v.Get("stream"); !s.IsNull() {
		_ = c.Defer(s.Get("output").Str(), s.Get("request")) // it streamed before, so it can
	}
	c.usage = readUsage(v.Get("usage"))
	return c
}

func slotsValue(slots []slot) Value {
	b := NewObject(len(slots))
	for _, s := range slots {
		b.Set(s.name, s.value)
	}
	return b.Value()
}

func readSlots(v Value) []slot {
	var slots []slot
	for k, x := range v.Fields() {
		slots = append(slots, slot{k, x})
	}
	return slots
}

func usageValue(u Usage) Value {
	return List(Int(int64(u.Prompt)), Int(int64(u.Completion)), Int(int64(u.Calls)))
}

func readUsage(v Value) Usage {
	n := func(i int) int { x, _ := v.At(i).Int(); return int(x) }
	return Usage{Prompt: n(0), Completion: n(1), Calls: n(2)}
}
