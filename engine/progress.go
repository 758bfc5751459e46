package engine

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// progress is where a run stands between two batches. With the rest of the State it is all that
// another process needs to go on.
type progress struct {
	messageID string
	taskID    string
	created   int64  // Unix seconds
	seq       uint64 // number of the last event
	bytes     int64  // of the events so far, see Limits.Events
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

// runValue is everything about where a run stands, for a snapshot.
func (c *Canvas) runValue(p *progress, st *State) Value {
	b := NewObject(24)
	b.Set("message_id", String(p.messageID)).Set("task_id", String(p.taskID)).Set("created_at", Int(p.created))
	b.Set("seq", Int(int64(p.seq))).Set("step", Int(p.step)).Set("steps", Int(int64(p.steps)))
	if p.bytes > 0 {
		b.Set("bytes", Int(p.bytes))
	}
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

// readProgress reads the run member of a saved document. The streams it names are kept as data
// until a run opens them.
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
	p.bytes, _ = v.Get("bytes").Int()
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
