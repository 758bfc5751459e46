package engine

import (
	"strconv"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// This file writes the entries of a log from which a run can be continued: snapshots hold the whole
// state, checkpoints the changes of a batch. takeover.go reads them.

// journal writes the progress of a run, from which it can be continued.
type journal struct {
	*applier
	logSize      int // bytes of checkpoints since the last snapshot
	stateSize    int // bytes of the last snapshot in the middle of the run
	loggedMemory int // entries of the conversation's memory that are in the log
	loggedWays   int // of stretch.ways

	growth  growth
	settled []nodeIndex // nodes of an eager run settled since the last checkpoint
}

// startLog logs the state at the start, as the base of checkpoints.
func (j *journal) startLog() {
	if !j.opt.Checkpoints || j.gone {
		return
	}
	j.snapshot()
	for _, i := range j.st.dirty {
		j.st.nodes[i].dirty = false
	}
	j.st.dirty = j.st.dirty[:0]
	j.st.globals.dirty = j.st.globals.dirty[:0]
	j.loggedMemory = len(j.st.memory)
}

// checkpoint logs the changes of the last batch, and at intervals the whole state.
func (j *journal) checkpoint() {
	for _, i := range j.pending { // each checkpoint repeats what unread streams wait with
		j.bytes += j.streams[i].deferred.stream.request.Size()
	}
	if !j.opt.Checkpoints || j.gone {
		return
	}
	j.tally()
	b := j.enc.begin(EventCheckpoint)
	from := len(b)
	b = j.appendDelta(b)
	j.logSize += len(b) - from
	j.enc.buf = append(b, '}')
	j.st.progress = j.progress // the consumer may save the state now, or leave and continue it later
	j.emit(EventCheckpoint, "", nil)
	if j.gone {
		return
	}
	j.st.progress = nil
	// A large state is written less often, so that all snapshots together grow with the log and not
	// with its square.
	if j.logSize > max(j.opt.SnapshotBytes, j.stateSize) {
		j.logSize = 0
		j.snapshot()
	}
}

// snapshot logs the whole state in the middle of a run.
func (j *journal) snapshot() {
	j.seq++ // the snapshot counts itself, so that a run continued from it is numbered after it
	j.enc.reserve(j.size())
	j.tally()
	b := j.enc.begin(EventSnapshot)
	from := len(b)
	b = j.st.appendLog(b, j.progress)
	j.stateSize = len(b) - from
	j.seq--
	j.enc.buf = append(b, '}')
	j.emit(EventSnapshot, "", nil)
}

// lastSnapshot logs the final state of a finished or paused run.
func (j *journal) lastSnapshot() {
	if !j.opt.Checkpoints || j.gone {
		return
	}
	j.enc.reserve(j.size())
	b := j.st.appendLog(j.enc.begin(EventSnapshot), j.st.progress)
	if j.failed != nil { // nothing else in the log shows that the run failed
		b = append(b[:len(b)-1], `,"failed":`...)
		b = append(AppendQuoted(b, j.redactText(errorText(j.failed))), '}')
	}
	j.enc.buf = append(b, '}')
	j.emit(EventSnapshot, "", nil)
}

// appendLog appends the state without the document: the buckets as the document has them, outputs
// under nodes. The canvas itself does not change during a run, so it is not logged with it.
func (s *State) appendLog(b []byte, p *progress) []byte {
	c := s.canvas
	b = appendText(b, `{"task_id":`)
	b = AppendQuoted(b, s.taskID)
	b = appendText(b, `,"path":`)
	b = c.appendIDs(b, s.path)
	b = appendText(b, `,"history":`)
	b = s.appendHistory(b)
	b = appendText(b, `,"retrieval":`)
	b = s.appendRetrieval(b)
	b = appendText(b, `,"memory":`)
	b = List(s.memory...).AppendJSON(b)
	b = appendText(b, `,"globals":`)
	b = s.globals.append(b)
	b = appendText(b, `,"nodes":{`)
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
		b = appendText(b, `,"waiting":`)
		b = c.appendIDs(b, s.waiting)
	}
	if s.recalled != nil {
		b = appendText(b, `,"recalled":`)
		b = s.recalled.value().AppendJSON(b)
	}
	if p != nil {
		b = appendText(b, `,"run":`)
		b = p.value(s).AppendJSON(b)
	}
	return append(b, '}')
}

// appendDelta appends the changes since the last checkpoint:
//
//	{"path": [...], "nodes": {id: {name: value}}, "ran": [...], "ended": [...], "cleared": [...],
//	 "globals": {...}, "grown": [[node, name, length, elements]], "cites": [[node, chunks, aggs]],
//	 "memory": [...], "run": {...}}
//
// Executed nodes are in path. Of the member run only the parts that change from batch to batch are
// written.
func (j *journal) appendDelta(b []byte) []byte {
	b = appendText(b, `{"path":`)
	changes := j.sched.Changes()
	if j.eager {
		b = j.c.appendIDs(b, j.settled)
		b = appendText(b, `,"ran":"`)
		b = append(append(b, maskOf(j.st.ran)...), '"')
		changes = &scheduler.Changes{Held: j.progress.schedule.Pending}
	} else {
		b = j.c.appendIDs(b, j.batchNodes())
	}
	b = appendText(b, `,"nodes":`)
	b = appendDirty(b, j.st, &j.growth)
	if len(changes.Ended) > 0 {
		b = appendText(b, `,"ended":`)
		b = j.c.appendIDs(b, changes.Ended)
	}
	if len(changes.Cleared) > 0 {
		b = appendText(b, `,"cleared":`)
		b = j.c.appendIDs(b, changes.Cleared)
	}
	if g := &j.st.globals; len(g.dirty) > 0 {
		o := NewObject(len(g.dirty))
		for _, k := range g.dirty {
			if v, _ := g.get(k); !j.growth.global(k, v) {
				o.Set(k, v)
			}
		}
		g.dirty = g.dirty[:0]
		b = appendText(b, `,"globals":`)
		b = o.Value().AppendJSON(b)
	}
	if len(j.growth.grown) > 0 {
		b = appendText(b, `,"grown":`)
		b = j.growth.take(j.c).AppendJSON(b)
	}
	if len(j.cited) > 0 {
		b = appendText(b, `,"cites":`)
		b = citesValue(j.cited).AppendJSON(b)
	}
	if n := len(j.st.memory); n > j.loggedMemory {
		b = appendText(b, `,"memory":`)
		b = List(j.st.memory[j.loggedMemory:]...).AppendJSON(b)
		j.loggedMemory = n
	}
	b = appendText(b, `,"run":`)
	j.seq++
	b = j.progress.appendDelta(b, j.c, changes)
	j.seq--
	if j.eager {
		b = append(b[:len(b)-1], `,"eager":`...)
		b = j.overlap.value(j.c, j.progress.schedule, j.loggedWays).AppendJSON(b)
		b = append(b, '}')
		j.loggedWays = len(j.stretch.ways)
	}
	return append(b, '}')
}

// appendDelta appends the parts that change from batch to batch.
func (p *progress) appendDelta(b []byte, c *Canvas, changes *scheduler.Changes) []byte {
	b = appendText(b, `{"seq":`)
	b = strconv.AppendUint(b, p.seq, 10)
	b = appendText(b, `,"step":`)
	b = strconv.AppendInt(b, p.step, 10)
	b = appendText(b, `,"steps":`)
	b = strconv.AppendInt(b, int64(p.schedule.Steps), 10)
	b = appendText(b, `,"bytes":`)
	b = strconv.AppendInt(b, p.bytes, 10)
	b = appendText(b, `,"next":`)
	b = c.appendIDs(b, p.schedule.Frontier)
	if p.usage != (Usage{}) {
		b = appendText(b, `,"usage":`)
		b = usageValue(p.usage).AppendJSON(b)
	}
	if p.spent != (Usage{}) {
		b = appendText(b, `,"spent":`)
		b = usageValue(p.spent).AppendJSON(b)
	}
	if len(p.schedule.Scopes) > 0 {
		b = appendText(b, `,"scopes":`)
		b = p.scopesValue(c).AppendJSON(b)
	}
	if len(changes.Held) > 0 {
		b = appendText(b, `,"held":`)
		b = pendingValue(c, changes.Held).AppendJSON(b)
	}
	if len(changes.Woken) > 0 {
		b = appendText(b, `,"woken":`)
		b = c.appendIDs(b, changes.Woken)
	}
	if len(p.suspended) > 0 {
		b = appendText(b, `,"suspended":`)
		b = suspendedValue(c, p.suspended).AppendJSON(b)
	}
	if len(p.pending) > 0 {
		b = appendText(b, `,"streams":`)
		b = p.streamsValue(c).AppendJSON(b)
	}
	return append(b, '}')
}

// batchNodes returns the nodes of the last batch that have run; those that wait for a person have
// not.
func (j *journal) batchNodes() []nodeIndex {
	j.ids = j.ids[:0]
	for _, call := range j.calls {
		if len(j.suspended) == 0 || j.suspendedAt(call.node.index) == nil {
			j.ids = append(j.ids, call.node.index)
		}
	}
	return j.ids
}

// appendDirty appends the outputs of the nodes that have changed since the last checkpoint.
func appendDirty(b []byte, s *State, g *growth) []byte {
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
		b = appendSlots(b, g.remaining(i, n.outs))
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
