package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// This file writes and reads the parts of a log from which a run can be continued: snapshots hold everything,
// checkpoints what a batch changed.

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
	r.heldIn, r.heldOut = r.heldIn[:0], r.heldOut[:0]
}

// appendRunDelta appends what moves from batch to batch.
func (r *run) appendRunDelta(b []byte) []byte {
	p := &r.progress
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, p.seq, 10)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, p.step, 10)
	b = append(b, `,"steps":`...)
	b = strconv.AppendInt(b, int64(p.steps), 10)
	b = append(b, `,"next":`...)
	b = r.appendIDs(b, p.next)
	if p.usage != (Usage{}) {
		b = append(b, `,"usage":`...)
		b = usageValue(p.usage).AppendJSON(b)
	}
	if len(p.scopes) > 0 {
		b = append(b, `,"scopes":`...)
		b = r.c.scopesValue(p.scopes).AppendJSON(b)
	}
	if len(r.heldIn) > 0 {
		b = append(b, `,"held":`...)
		b = r.c.heldValue(r.heldIn).AppendJSON(b)
	}
	if len(r.heldOut) > 0 {
		b = append(b, `,"woken":`...)
		b = r.appendIDs(b, r.heldOut)
	}
	r.heldIn, r.heldOut = r.heldIn[:0], r.heldOut[:0]
	if len(p.pending) > 0 {
		b = append(b, `,"streams":`...)
		b = r.c.streamsValue(p).AppendJSON(b)
	}
	return append(b, '}')
}

// runValue is everything about where a run stands, for a snapshot.
func (c *Canvas) runValue(p *progress, st *State) Value {
	b := NewObject(24)
	b.Set("message_id", String(p.messageID)).Set("task_id", String(p.taskID)).Set("created_at", Int(p.created))
	b.Set("seq", Int(int64(p.seq))).Set("step", Int(p.step)).Set("steps", Int(int64(p.steps)))
	b.Set("seed", String(strconv.FormatUint(p.seed, 16))).Set("usage", usageValue(p.usage))
	b.Set("inputs", p.inputs).Set("user_id", String(p.userID)).Set("webhook", p.webhook).Set("answers", p.answers)
	if p.asked {
		b.Set("asked", Bool(true))
	}
	b.Set("next", Strings(st.ids(p.next)...)).Set("held", c.heldValue(p.held))
	b.Set("scopes", c.scopesValue(p.scopes)).Set("streams", c.streamsValue(p))
	var ran []int32
	for i := range st.nodes {
		if st.nodes[i].ran {
			ran = append(ran, int32(i))
		}
	}
	return b.Set("ran", Strings(st.ids(ran)...)).Value()
}

func (c *Canvas) heldValue(list []held) Value {
	vals := make([]Value, len(list))
	for i, h := range list {
		vals[i] = Strings(c.nodes[h.node].id, c.nodes[h.source].id)
	}
	return listOf(vals)
}

func (c *Canvas) scopesValue(scopes []*scope) Value {
	vals := make([]Value, len(scopes))
	for i, s := range scopes {
		vals[i] = Object(
			"container", c.nodes[s.container].id, "cursor", s.cursor, "live", s.live, "leaf", s.leaf,
			"again", s.again, "steps", s.steps, "started", s.started.UnixNano(), "ins", slotsValue(s.ins))
	}
	return listOf(vals)
}

// streamsValue is the unread streams, each as the request it was rendered to.
func (c *Canvas) streamsValue(p *progress) Value {
	vals := append(make([]Value, 0, len(p.unread)+len(p.pending)), p.unread...)
	for _, i := range p.pending {
		call := p.streams[i]
		vals = append(vals, Object(
			"node", c.nodes[i].id, "output", call.deferred.output, "request", call.deferred.stream.request,
			"step", call.step, "started", call.started.UnixNano(), "ins", slotsValue(call.ins)))
	}
	return listOf(vals)
}

// readProgress reads the run member of a saved document. The streams it names are kept as data until a run
// opens them.
func (c *Canvas) readProgress(v Value, st *State) (*progress, error) {
	p := &progress{
		messageID: v.Get("message_id").Str(), taskID: v.Get("task_id").Str(), userID: v.Get("user_id").Str(),
		inputs: v.Get("inputs"), webhook: v.Get("webhook"), answers: v.Get("answers"),
	}
	p.created, _ = v.Get("created_at").Int()
	p.seed, _ = strconv.ParseUint(v.Get("seed").Str(), 16, 64)
	if err := p.apply(c, v); err != nil {
		return nil, err
	}
	ran, err := c.indexes(v.Get("ran"))
	if err != nil {
		return nil, err
	}
	for _, i := range ran {
		st.nodes[i].ran = true
	}
	return p, nil
}

// apply takes the members a checkpoint and a snapshot have in common.
func (p *progress) apply(c *Canvas, v Value) (err error) {
	seq, _ := v.Get("seq").Int()
	p.seq = uint64(seq)
	p.step, _ = v.Get("step").Int()
	steps, _ := v.Get("steps").Int()
	p.steps = int(steps)
	p.usage = readUsage(v.Get("usage"))
	p.asked = v.Get("asked").True()
	if p.next, err = c.indexes(v.Get("next")); err != nil {
		return err
	}
	p.scopes = nil
	for _, s := range v.Get("scopes").Elements() {
		container, ok := c.index[s.Get("container").Str()]
		if !ok {
			return c.unknownNode(s.Get("container"))
		}
		x := &scope{container: container, leaf: s.Get("leaf").True(), again: s.Get("again").True(), ins: readSlots(s.Get("ins"))}
		x.cursor, _ = s.Get("cursor").Int()
		live, _ := s.Get("live").Int()
		steps, _ := s.Get("steps").Int()
		started, _ := s.Get("started").Int()
		x.live, x.steps, x.started = int(live), int(steps), time.Unix(0, started)
		p.scopes = append(p.scopes, x)
	}
	woken, err := c.indexes(v.Get("woken"))
	if err != nil {
		return err
	}
	for _, h := range v.Get("held").Elements() {
		pair, err := c.indexes(h)
		if err != nil || len(pair) != 2 {
			return fmt.Errorf("%w: held: %s", ErrState, h.JSON())
		}
		p.held = append(p.held, held{node: pair[0], source: pair[1], cyclic: slices.Contains(c.nodes[pair[0]].cyclic, true)})
	}
	p.held = slices.DeleteFunc(p.held, func(h held) bool { return slices.Contains(woken, h.node) })
	p.unread = elements(v.Get("streams"))
	return nil
}

func (c *Canvas) indexes(ids Value) ([]int32, error) {
	var list []int32
	for _, id := range ids.Elements() {
		i, ok := c.index[id.Str()]
		if !ok {
			return nil, c.unknownNode(id)
		}
		list = append(list, i)
	}
	return list, nil
}

func (c *Canvas) unknownNode(id Value) error {
	return fmt.Errorf("%w: it names the node %s, which this canvas does not have", ErrState, id.JSON())
}

// reviveRun prepares a run that another process began.
func reviveRun(ctx context.Context, c *Canvas, st *State, opt Options, yield func(*Event, error) bool) *run {
	kept := st.progress
	if opt.TaskID == "" {
		opt.TaskID = kept.taskID
	}
	opt.Seed = kept.seed
	r := newRun(ctx, c, st, Input{}, opt, yield)
	r.takeOver(kept)
	if !opt.Rerun {
		r.messageID, r.taskID, r.created, r.seq = kept.messageID, kept.taskID, kept.created, kept.seq
		r.began = time.Unix(kept.created, 0)
	}
	r.in = Input{Inputs: kept.inputs, UserID: kept.userID, Webhook: kept.webhook}
	if !kept.answers.IsNull() {
		r.in.Inputs = kept.answers
	}
	r.inputs, r.userID, r.webhook = kept.inputs, kept.userID, kept.webhook
	r.enc.name(r.messageID, r.taskID, r.created)
	r.loggedMemory = len(st.memory)
	st.taskID = r.taskID
	st.progress = nil
	return r
}

// takeOver goes on where kept stands: schedule, bodies, waiting nodes and unread streams.
func (r *run) takeOver(kept *progress) {
	r.step, r.steps, r.usage = kept.step, kept.steps, kept.usage
	r.answers, r.asked = kept.answers, kept.asked
	r.scopes, r.held, r.next = kept.scopes, kept.held, kept.next
	for _, n := range r.next {
		r.marks[n] = markScheduled
	}
	for _, h := range r.held {
		r.marks[h.node] = markHeld
	}
	for _, s := range elements(r.c.streamsValue(kept)) {
		r.reopen(s)
	}
	for _, v := range kept.results {
		if i, ok := r.c.index[v.Get("node").Str()]; ok {
			if r.results == nil {
				r.results = map[int32]*Call{}
			}
			r.results[i] = r.reviveCall(&r.c.nodes[i], v)
		}
	}
}

// reopen makes a stream of the request that was saved for it.
func (r *run) reopen(v Value) {
	i, ok := r.c.index[v.Get("node").Str()]
	if !ok {
		return
	}
	n := &r.c.nodes[i]
	call := &Call{run: r, node: n, id: n.id}
	call.step, _ = v.Get("step").Int()
	started, _ := v.Get("started").Int()
	call.started = time.Unix(0, started)
	call.ins = readSlots(v.Get("ins"))
	if call.Defer(v.Get("output").Str(), v.Get("request")) != nil {
		return
	}
	r.st.setOut(i, call.deferred.output, streamValue(call.deferred.stream))
	r.pending = append(r.pending, i)
	if r.streams == nil {
		r.streams = map[int32]*Call{}
	}
	r.streams[i] = call
}

// StateAt is the state as it was after entry seq of a run's log, which must begin with a snapshot: the last
// checkpoint up to there, and the results of a batch that was not settled. seq 0 means the end of the log.
func (c *Canvas) StateAt(log []*Event, seq uint64) (*State, error) {
	var st *State
	for _, e := range log {
		if seq > 0 && e.Seq > seq {
			break
		}
		var err error
		switch e.Type {
		case EventSnapshot:
			st, err = c.foreignState(e.Data())
		case EventCheckpoint:
			if st == nil || st.progress == nil {
				return nil, fmt.Errorf("%w: a checkpoint without a snapshot before it", ErrState)
			}
			err = st.applyDelta(e.Data())
		case EventResult:
			if st != nil && st.progress != nil {
				st.progress.results = append(st.progress.results, e.Data())
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if st == nil {
		return nil, fmt.Errorf("%w: no snapshot in the log", ErrState)
	}
	return st, nil
}

// applyDelta takes in one checkpoint.
func (s *State) applyDelta(v Value) error {
	c := s.canvas
	path, err := c.indexes(v.Get("path"))
	if err != nil {
		return err
	}
	s.path = append(s.path, path...)
	for id, outs := range v.Get("nodes").Fields() {
		i, ok := c.index[id]
		if !ok {
			return c.unknownNode(String(id))
		}
		s.nodes[i].outs = readSlots(outs)
		s.nodes[i].touched = true
	}
	for _, n := range path {
		s.nodes[n].ran = c.nodes[n].container == nil
	}
	for _, step := range [...]struct {
		name string
		do   func(int32)
	}{
		{"ended", func(n int32) { s.nodes[n].ran = true }},
		{"cleared", s.clearRan},
	} {
		list, err := c.indexes(v.Get(step.name))
		if err != nil {
			return err
		}
		for _, n := range list {
			step.do(n)
		}
	}
	for k, x := range v.Get("globals").Fields() {
		s.globals.set(k, x)
	}
	for _, x := range readCites(v.Get("cites")) {
		if len(s.retrieval) == 0 {
			s.retrieval = append(s.retrieval, newReference())
		}
		s.retrieval[len(s.retrieval)-1].add(x.node, x.chunks, x.aggs)
	}
	s.memory = append(s.memory, elements(v.Get("memory"))...)
	s.progress.results = nil
	return s.progress.apply(c, v.Get("run"))
}
