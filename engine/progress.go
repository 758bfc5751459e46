package engine

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// progress is the position of a run between two batches. With the rest of the State it is
// sufficient to continue the run in another process.
type progress struct {
	messageID string
	taskID    string
	created   int64  // Unix seconds
	seq       uint64 // number of the last event
	bytes     int64  // of the events so far, see Limits.Events
	step      int64  // executions so far
	seed      uint64
	usage     Usage // of executions that are settled
	spent     Usage // of all, those that a crash repeats included; not in a paused state, where usage counts
	inputs    Value
	userID    string
	webhook   Value
	// instructions are the caller's, if they count
	instructions string
	answers      Value // given to the forms this run resumed with, earlier partial ones included
	suspended    []suspended
	asked        bool // the forms of the next batch have been answered

	schedule *scheduler.State // between two batches nothing is running
	overlap                   // of an eager run
	bodies   []body
	pending  []nodeIndex // nodes whose stream has not been read
	streams  map[nodeIndex]*Call

	// Read from a saved state, until a run takes over.
	unread  []Value // streams: {node, output, request, ...}
	results []Value // what members of an unsettled batch gave
}

func (p *progress) clone() *progress {
	c := *p
	c.suspended = slices.Clone(p.suspended)
	c.schedule, c.bodies, c.pending = p.schedule.Clone(), slices.Clone(p.bodies), slices.Clone(p.pending)
	c.running = slices.Clone(p.running)
	return &c
}

// value returns the whole position of a run, for a snapshot.
func (p *progress) value(st *State) Value {
	c := st.canvas
	b := NewObject(24)
	b.Set("message_id", String(p.messageID)).Set("task_id", String(p.taskID)).Set("created_at", Int(p.created))
	b.Set("seq", Int(int64(p.seq))).Set("step", Int(p.step)).Set("steps", Int(int64(p.schedule.Steps)))
	if p.bytes > 0 {
		b.Set("bytes", Int(p.bytes))
	}
	b.Set("seed", String(strconv.FormatUint(p.seed, 16))).Set("usage", usageValue(p.usage))
	if p.spent != (Usage{}) {
		b.Set("spent", usageValue(p.spent))
	}
	b.Set("inputs", p.inputs).Set("user_id", String(p.userID)).Set("webhook", p.webhook).Set("answers", p.answers)
	if p.instructions != "" {
		b.Set("instructions", String(p.instructions))
	}
	if len(p.suspended) > 0 {
		b.Set("suspended", suspendedValue(c, p.suspended))
	}
	if p.asked {
		b.Set("asked", Bool(true))
	}
	b.Set("next", Strings(st.ids(p.schedule.Frontier)...)).Set("held", pendingValue(c, p.schedule.Pending))
	b.Set("scopes", p.scopesValue(c)).Set("streams", p.streamsValue(c))
	if p.eager {
		b.Set("eager", p.overlap.value(c, p.schedule, 0))
	}
	if p.eager && len(p.results) > 0 {
		b.Set("results", List(p.results...))
	}
	var ran []nodeIndex
	for i, has := range st.ran {
		if has {
			ran = append(ran, nodeIndex(i))
		}
	}
	return b.Set("ran", Strings(st.ids(ran)...)).Value()
}

// pendingValue returns nodes that wait, each with the source it waits for.
func pendingValue(c *Canvas, list []scheduler.Pending) Value {
	vals := make([]Value, len(list))
	for i, p := range list {
		vals[i] = Strings(c.nodes[p.Node].id, c.nodes[p.Source].id)
	}
	return listOf(vals)
}

// scopesValue returns the open bodies.
func (p *progress) scopesValue(c *Canvas) Value {
	vals := make([]Value, len(p.schedule.Scopes))
	for i, s := range p.schedule.Scopes {
		b := bodyOf(p.bodies, s.Container)
		vals[i] = Object(
			"container", c.nodes[s.Container].id, "cursor", b.cursor, "live", s.Live, "leaf", s.Leaf,
			"again", s.Again, "steps", s.Steps, "started", b.started.UnixNano(), "ins", slotsValue(b.ins))
	}
	return listOf(vals)
}

// streamsValue returns the unread streams, each as the request it was rendered to.
func (p *progress) streamsValue(c *Canvas) Value {
	vals := append(make([]Value, 0, len(p.unread)+len(p.pending)), p.unread...)
	for _, i := range p.pending {
		call := p.streams[i]
		v := Object(
			"node", c.nodes[i].id, "output", call.deferred.output, "request", call.deferred.stream.request,
			"step", call.step, "started", call.started.UnixNano(), "ins", slotsValue(call.ins))
		if call.deferred.stream.ended() {
			v = v.With("written", call.writtenValue())
		}
		vals = append(vals, v)
	}
	return listOf(vals)
}

// readProgress reads the run member of a saved document. The streams it names are kept as data
// until a run opens them.
func (c *Canvas) readProgress(v Value, st *State) (*progress, error) {
	p := &progress{
		messageID: v.Get("message_id").Str(), taskID: v.Get("task_id").Str(), userID: v.Get("user_id").Str(),
		inputs: v.Get("inputs"), webhook: v.Get("webhook"), answers: v.Get("answers"), schedule: &scheduler.State{},
		instructions: v.Get("instructions").Str(),
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
		st.ran[i] = true
	}
	p.results = elements(v.Get("results"))
	return p, nil
}

// apply reads the members that checkpoints and snapshots share.
func (p *progress) apply(c *Canvas, v Value) (err error) {
	seq, _ := v.Get("seq").Int()
	p.seq = uint64(seq)
	p.step, _ = v.Get("step").Int()
	steps, _ := v.Get("steps").Int()
	p.schedule.Steps = int(steps)
	p.usage, p.spent = readUsage(v.Get("usage")), readUsage(v.Get("spent"))
	p.bytes, _ = v.Get("bytes").Int()
	p.asked = v.Get("asked").True()
	if p.schedule.Frontier, err = c.indexes(v.Get("next")); err != nil {
		return err
	}
	if eager := v.Get("eager"); !eager.IsNull() {
		p.schedule.Pending = nil // held is all of it
		if err := p.overlap.apply(c, p.schedule, eager); err != nil {
			return err
		}
	}
	if err := p.applyScopes(c, v.Get("scopes")); err != nil {
		return err
	}
	if err := p.applyPending(c, v.Get("held"), v.Get("woken")); err != nil {
		return err
	}
	p.unread = elements(v.Get("streams"))
	return p.applySuspended(c, v.Get("suspended"))
}

// applyScopes reads the open bodies, which replace those that were open before.
func (p *progress) applyScopes(c *Canvas, scopes Value) error {
	p.schedule.Scopes, p.bodies = nil, nil
	for _, v := range scopes.Elements() {
		container, ok := c.index[v.Get("container").Str()]
		if !ok {
			return c.unknownNode(v.Get("container"))
		}
		live, _ := v.Get("live").Int()
		steps, _ := v.Get("steps").Int()
		started, _ := v.Get("started").Int()
		b := body{container: container, started: time.Unix(0, started), ins: readSlots(v.Get("ins"))}
		b.cursor, _ = v.Get("cursor").Int()
		p.bodies = append(p.bodies, b)
		p.schedule.Scopes = append(p.schedule.Scopes, scheduler.Scope{
			Container: container, Live: int(live), Steps: int(steps),
			Leaf: v.Get("leaf").True(), Again: v.Get("again").True(),
		})
	}
	return nil
}

// applyPending adds nodes that began to wait and removes those that no longer do.
func (p *progress) applyPending(c *Canvas, held, woken Value) error {
	for _, v := range held.Elements() {
		pair, err := c.indexes(v)
		if err != nil || len(pair) != 2 {
			return fmt.Errorf("%w: held: %s", ErrState, v.JSON())
		}
		p.schedule.Pending = append(p.schedule.Pending, scheduler.Pending{Node: pair[0], Source: pair[1]})
	}
	done, err := c.indexes(woken)
	if err != nil {
		return err
	}
	kept := p.schedule.Pending[:0]
	for _, w := range p.schedule.Pending {
		if !slices.Contains(done, w.Node) {
			kept = append(kept, w)
		}
	}
	p.schedule.Pending = kept
	return nil
}

func (c *Canvas) indexes(ids Value) ([]nodeIndex, error) {
	var list []nodeIndex
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
