package engine

import (
	"errors"
	"time"
)

// This file writes and reads results of executions, so that a crash does not repeat them before
// their batch is settled.

// logResult logs the result of a member of a batch that may have had outside effects, before the
// batch is settled: a crash then repeats only members without a result.
func (j *journal) logResult(call *Call) {
	if !j.opt.Checkpoints || j.gone || call.err != nil && errors.Is(call.err, ErrCanceled) {
		return
	}
	v := call.resultValue()
	if j.eager && call.node.inline { // its text came from another node: it runs again, in its turn
		v = Object("node", call.id, "again", true)
	}
	if j.eager {
		v = v.With("step", Int(call.step))
	}
	j.emitData(EventResult, call.id, j.redact(v))
}

// resultValue returns everything an execution left behind, as data.
func (c *Call) resultValue() Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := NewObject(8)
	b.Set("node", String(c.id)).Set("started", Int(c.started.UnixNano()))
	b.Set("outs", slotsValue(c.outs)).Set("ins", slotsValue(c.ins))
	if s := suspensionOf(c.err); s != nil {
		b.Set("suspended", Object("fields", s.Fields, "tips", s.Tips, "state", c.stateOf(s)))
	} else if c.err != nil {
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
	if c.itemsRan {
		b.Set("items", Bool(true))
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
	c := newCall(r, n)
	started, _ := v.Get("started").Int()
	c.started = time.Unix(0, started)
	c.outs, c.ins, c.long = readSlots(v.Get("outs")), readSlots(v.Get("ins")), true
	if e := v.Get("error"); !e.IsNull() {
		c.err = errors.New(e.Str())
	}
	if s := v.Get("suspended"); !s.IsNull() {
		c.err = &Suspension{Fields: s.Get("fields"), Tips: s.Get("tips").Str(), State: s.Get("state")}
	}
	for _, s := range v.Get("sets").Elements() {
		ref := ParseRef(s.At(0).Str())
		c.sets = append(c.sets, assignment{&ref, s.At(1)})
	}
	c.cites, c.memories = readCites(v.Get("cites")), elements(v.Get("memory"))
	c.itemsRan = v.Get("items").True()
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
	return List(Int(int64(u.Prompt)), Int(int64(u.Completion)), Int(int64(u.Calls)), Int(u.Cost))
}

func readUsage(v Value) Usage {
	n := func(i int) int { x, _ := v.At(i).Int(); return int(x) }
	return Usage{Prompt: n(0), Completion: n(1), Calls: n(2), Cost: int64(n(3))}
}

// usageOf reads what Usage.Value wrote.
func usageOf(v Value) Usage {
	n := func(name string) int { x, _ := v.Get(name).Int(); return int(x) }
	cost, _ := v.Get("cost").Float()
	return Usage{
		Prompt: n("prompt_tokens"), Completion: n("completion_tokens"), Calls: n("calls"), Cost: MicrosOf(cost),
	}
}

// adopt restores the result of c's execution before a crash. A stream is announced again: effects
// of its writer count for c.
func adopt(c, done *Call) {
	c.effects, c.err = done.effects, done.err
	if d := done.deferred; d != nil {
		c.refuse(c.Defer(d.output, d.stream.request))
	}
}
