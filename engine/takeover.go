package engine

import (
	"context"
	"fmt"
	"time"
)

// This file continues a run that another process started: it rebuilds the state and the position of
// the run from its log.

// StateAt returns the state as it was after entry seq of a run's log, which must begin with a
// snapshot: the last checkpoint up to there, and the results of a batch that was not settled. seq 0
// means the end of the log.
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
		case EventUsage:
			if st != nil && st.progress != nil {
				st.progress.spent = usageOf(e.Data().Get("run"))
			}
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

// applyDelta applies one checkpoint.
func (s *State) applyDelta(v Value) error {
	c := s.canvas
	path, err := c.indexes(v.Get("path"))
	if err != nil {
		return err
	}
	s.path = append(s.path, path...)
	grown, err := regrow(s, v.Get("grown"))
	if err != nil {
		return err
	}
	for id, outs := range v.Get("nodes").Fields() {
		i, ok := c.index[id]
		if !ok {
			return c.unknownNode(String(id))
		}
		s.nodes[i].outs = readSlots(outs)
		s.nodes[i].touched = true
	}
	if mask := v.Get("ran"); !mask.IsNull() {
		readMask(s.ran, mask.Str())
		path = nil
	}
	for _, n := range path {
		s.ran[n] = c.nodes[n].container == nil
	}
	for _, step := range [...]struct {
		name string
		do   func(nodeIndex)
	}{
		{"ended", func(n nodeIndex) { s.ran[n] = true }},
		{"cleared", func(n nodeIndex) { c.graph.ClearRan(s.ran, n) }},
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
	for _, x := range grown {
		if i, ok := s.canvas.index[x.id]; ok {
			s.setOut(i, x.name, x.value)
		} else {
			s.globals.set(x.name, x.value)
		}
	}
	for _, x := range readCites(v.Get("cites")) {
		if len(s.retrieval) == 0 {
			s.retrieval = append(s.retrieval, Reference{})
		}
		s.cite(x)
	}
	s.memory = append(s.memory, elements(v.Get("memory"))...)
	s.progress.results = nil
	return s.progress.apply(c, v.Get("run"))
}

// reviveRun prepares a run that another process began.
func reviveRun(ctx context.Context, c *Canvas, st *State, opt Options, yield func(*Event, error) bool) *run {
	kept := st.progress
	if opt.TaskID == "" {
		opt.TaskID = kept.taskID
	}
	opt.Seed = kept.seed
	if kept.eager {
		opt.Scheduling, opt.Until = Eager, ""
	} else if opt.Scheduling == Auto && kept.step > 0 {
		opt.Scheduling = Batch // what is proved may have changed since
	}
	r := newRun(ctx, c, st, Input{}, opt, yield)
	r.takeOver(kept)
	if !opt.Rerun {
		r.messageID, r.taskID, r.created, r.seq = kept.messageID, kept.taskID, kept.created, kept.seq
		r.bytes = kept.bytes
		r.began = time.Unix(kept.created, 0)
	}
	r.in = Input{Inputs: kept.inputs, UserID: kept.userID, Webhook: kept.webhook}
	if !kept.answers.IsNull() {
		r.in.Inputs = kept.answers
	}
	r.instructions = kept.instructions
	r.inputs, r.userID, r.webhook = kept.inputs, kept.userID, kept.webhook
	r.enc.name(r.messageID, r.taskID, r.created)
	r.loggedMemory = len(st.memory)
	r.given = r.givenSize()
	st.taskID = r.taskID
	st.progress = nil
	return r
}

// takeOver continues from kept: schedule, bodies, waiting nodes and unread streams.
func (r *run) takeOver(kept *progress) {
	r.step, r.usage = kept.step, kept.usage
	r.spending.restore(kept.usage)
	if kept.spent != (Usage{}) {
		r.spending.restore(kept.spent)
	}
	r.answers, r.asked = kept.answers, kept.asked
	r.sched.Restore(kept.schedule)
	r.bodies, r.suspended = kept.bodies, kept.suspended
	r.overlap, r.loggedWays = kept.overlap, len(kept.stretch.ways)
	r.eager = r.opt.Scheduling == Eager
	for _, s := range elements(kept.streamsValue(r.c)) {
		r.reopen(s)
	}
	r.itemLog, kept.results = splitItems(kept.results)
	if r.opt.Scheduling == Eager {
		r.logged = kept.results
		return
	}
	for _, v := range kept.results {
		if i, ok := r.c.index[v.Get("node").Str()]; ok {
			if r.results == nil {
				r.results = map[nodeIndex]*Call{}
			}
			r.results[i] = r.reviveCall(&r.c.nodes[i], v)
		}
	}
}

// splitItems separates the results of bodies before a crash from the results of a log.
func splitItems(results []Value) (items, others []Value) {
	for _, v := range results {
		if v.Get("item").IsNull() {
			others = append(others, v)
		} else {
			items = append(items, v)
		}
	}
	return items, others
}

// reopen makes a stream of the request that was saved for it.
func (r *run) reopen(v Value) {
	i, ok := r.c.index[v.Get("node").Str()]
	if !ok {
		return
	}
	n := &r.c.nodes[i]
	call := newCall(r, n)
	if r.opt.Scheduling == Eager {
		call.st = r.st.view()
	}
	call.step, _ = v.Get("step").Int()
	started, _ := v.Get("started").Int()
	call.started = time.Unix(0, started)
	call.ins, call.long = readSlots(v.Get("ins")), true
	if call.Defer(v.Get("output").Str(), v.Get("request")) != nil {
		return
	}
	if written := v.Get("written"); !written.IsNull() {
		call.fill(written)
	}
	r.st.setOut(i, call.deferred.output, streamValue(call.deferred.stream))
	r.pending = append(r.pending, i)
	if r.streams == nil {
		r.streams = map[nodeIndex]*Call{}
	}
	r.streams[i] = call
}
