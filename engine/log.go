package engine

import (
	"strconv"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// This file writes the entries of a log from which a run can be continued: snapshots hold
// everything, checkpoints what a batch changed. takeover.go reads them.

// startLog logs the state at the start, so that checkpoints have something to build on.
func (r *run) startLog() {
	if !r.opt.Checkpoints || r.gone {
		return
	}
	r.snapshot()
	for _, i := range r.st.dirty {
		r.st.nodes[i].dirty = false
	}
	r.st.dirty = r.st.dirty[:0]
	r.st.globals.dirty = r.st.globals.dirty[:0]
	r.loggedMemory = len(r.st.memory)
}

// checkpoint logs what the last batch changed, and now and then everything.
func (r *run) checkpoint() {
	for _, i := range r.pending { // each checkpoint repeats what unread streams wait with
		r.bytes += r.streams[i].deferred.stream.request.Size()
	}
	if !r.opt.Checkpoints || r.gone {
		return
	}
	b := r.enc.begin(EventCheckpoint)
	from := len(b)
	b = r.appendDelta(b)
	r.logSize += len(b) - from
	r.enc.buf = append(b, '}')
	r.st.progress = &r.progress // the consumer may save the state now, or leave and continue it later
	r.emit(EventCheckpoint, "", nil)
	if r.gone {
		return
	}
	r.st.progress = nil
	// A large state is written less often, so that all snapshots together grow with the log and not
	// with its square.
	if r.logSize > max(r.opt.SnapshotBytes, r.stateSize) {
		r.logSize = 0
		r.snapshot()
	}
}

// snapshot logs the whole state in the middle of a run.
func (r *run) snapshot() {
	r.seq++ // the snapshot counts itself, so that a run continued from it goes on behind it
	r.enc.reserve(r.size())
	b := r.enc.begin(EventSnapshot)
	from := len(b)
	b = r.st.appendLog(b, &r.progress)
	r.stateSize = len(b) - from
	r.seq--
	r.enc.buf = append(b, '}')
	r.emit(EventSnapshot, "", nil)
}

// lastSnapshot logs the state a finished or paused run leaves.
func (r *run) lastSnapshot() {
	if !r.opt.Checkpoints || r.gone {
		return
	}
	r.enc.reserve(r.size())
	b := r.st.appendLog(r.enc.begin(EventSnapshot), r.st.progress)
	if r.failed != nil { // nothing else in the log tells that the run failed
		b = append(b[:len(b)-1], `,"failed":`...)
		b = append(AppendQuoted(b, r.redactText(errorText(r.failed))), '}')
	}
	r.enc.buf = append(b, '}')
	r.emit(EventSnapshot, "", nil)
}

// appendLog appends the state without the document: the buckets as the document has them, outputs
// under nodes. The canvas itself does not change during a run, so it is not logged with it.
func (s *State) appendLog(b []byte, p *progress) []byte {
	c := s.canvas
	b = append(b, `{"task_id":`...)
	b = AppendQuoted(b, s.taskID)
	b = append(b, `,"path":`...)
	b = c.appendIDs(b, s.path)
	b = append(b, `,"history":`...)
	b = s.appendHistory(b)
	b = append(b, `,"retrieval":`...)
	b = s.appendRetrieval(b)
	b = append(b, `,"memory":`...)
	b = List(s.memory...).AppendJSON(b)
	b = append(b, `,"globals":`...)
	b = s.globals.append(b)
	b = append(b, `,"nodes":{`...)
	first := true
	for i := range s.nodes {
		if len(s.nodes[i].outs) == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, c.nodes[i].quoted...)
		b = append(b, ':')
		b = appendSlots(b, s.nodes[i].outs)
	}
	b = append(b, '}')
	if len(s.waiting) > 0 {
		b = append(b, `,"waiting":`...)
		b = c.appendIDs(b, s.waiting)
	}
	if p != nil {
		b = append(b, `,"run":`...)
		b = p.value(s).AppendJSON(b)
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
	b = r.c.appendIDs(b, r.batchNodes())
	b = append(b, `,"nodes":`...)
	b = r.st.appendDirty(b)
	changes := r.sched.Changes()
	if len(changes.Ended) > 0 {
		b = append(b, `,"ended":`...)
		b = r.c.appendIDs(b, changes.Ended)
	}
	if len(changes.Cleared) > 0 {
		b = append(b, `,"cleared":`...)
		b = r.c.appendIDs(b, changes.Cleared)
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
	b = r.progress.appendDelta(b, r.c, changes)
	r.seq--
	return append(b, '}')
}

// appendDelta appends what moves from batch to batch.
func (p *progress) appendDelta(b []byte, c *Canvas, changes *scheduler.Changes) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, p.seq, 10)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, p.step, 10)
	b = append(b, `,"steps":`...)
	b = strconv.AppendInt(b, int64(p.schedule.Steps), 10)
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, p.bytes, 10)
	b = append(b, `,"next":`...)
	b = c.appendIDs(b, p.schedule.Frontier)
	if p.usage != (Usage{}) {
		b = append(b, `,"usage":`...)
		b = usageValue(p.usage).AppendJSON(b)
	}
	if len(p.schedule.Scopes) > 0 {
		b = append(b, `,"scopes":`...)
		b = p.scopesValue(c).AppendJSON(b)
	}
	if len(changes.Held) > 0 {
		b = append(b, `,"held":`...)
		b = pendingValue(c, changes.Held).AppendJSON(b)
	}
	if len(changes.Woken) > 0 {
		b = append(b, `,"woken":`...)
		b = c.appendIDs(b, changes.Woken)
	}
	if len(p.pending) > 0 {
		b = append(b, `,"streams":`...)
		b = p.streamsValue(c).AppendJSON(b)
	}
	return append(b, '}')
}

func (r *run) batchNodes() []nodeIndex {
	r.ids = r.ids[:0]
	for _, call := range r.calls {
		r.ids = append(r.ids, call.node.index)
	}
	return r.ids
}

// appendDirty appends the outputs of the nodes that have changed since the last checkpoint.
func (s *State) appendDirty(b []byte) []byte {
	b = append(b, '{')
	first := true
	for _, i := range s.dirty {
		n := &s.nodes[i]
		if !n.dirty {
			continue
		}
		n.dirty = false
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, s.canvas.nodes[i].quoted...)
		b = append(b, ':')
		b = appendSlots(b, n.outs)
	}
	s.dirty = s.dirty[:0]
	return append(b, '}')
}

func (c *Canvas) appendIDs(b []byte, nodes []nodeIndex) []byte {
	b = append(b, '[')
	for i, n := range nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c.nodes[n].quoted...)
	}
	return append(b, ']')
}

func elements(v Value) []Value {
	if v.Kind() != KindList {
		return nil
	}
	return v.tree.vals
}
