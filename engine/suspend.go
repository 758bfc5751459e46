package engine

import (
	"errors"
	"slices"
)

// Suspension is the error by which a component waits for a person: the run pauses with a form, and
// the component runs again with the answers, see [Call.Resumed].
type Suspension struct {
	Fields Value // of the form, by name; the answers are among RunInputs
	Tips   string
	State  Value // what the component continues with
}

func (*Suspension) Error() string { return "waits for a person" }

// JoinSuspensions returns one suspension with the fields of all that are among errs, or nil without
// any.
func JoinSuspensions(errs []error) error {
	var all *Suspension
	for _, err := range errs {
		var one *Suspension
		if !errors.As(err, &one) {
			continue
		}
		if all == nil {
			all = &Suspension{Fields: emptyObject}
		}
		for name, field := range one.Fields.Fields() {
			all.Fields = all.Fields.With(name, field)
		}
		if all.Tips == "" {
			all.Tips = one.Tips
		}
	}
	if all == nil {
		return nil
	}
	return all
}

// suspensionOf returns the suspension that an error is, or nil.
func suspensionOf(err error) *Suspension {
	if err == nil {
		return nil
	}
	var s *Suspension
	errors.As(err, &s)
	return s
}

// suspended is a node that waits for a person in the middle of its execution, or before it.
type suspended struct {
	node   nodeIndex
	fields Value
	tips   string
	state  Value // null for a node that has not begun
}

// suspendedAt returns the suspension of a node, or nil.
func (p *progress) suspendedAt(n nodeIndex) *suspended {
	for i := range p.suspended {
		if p.suspended[i].node == n {
			return &p.suspended[i]
		}
	}
	return nil
}

// dropSuspended removes the suspension of a node that has continued.
func (p *progress) dropSuspended(n nodeIndex) {
	if len(p.suspended) > 0 {
		p.suspended = slices.DeleteFunc(p.suspended, func(s suspended) bool { return s.node == n })
	}
}

// suspend takes back a node whose execution waits for a person: the next batch pauses the run.
func (r *run) suspend(call *Call, s *Suspension) {
	call.mu.Lock()
	r.takeCites(call)
	r.addUsage(call)
	call.mu.Unlock()
	r.flushNotes()
	state := call.stateOf(s)
	n := call.node.index
	r.dropSuspended(n)
	r.suspended = append(r.suspended, suspended{n, r.redact(s.Fields), r.redactText(s.Tips), r.redact(state)})
	r.bytes += state.Size()
	r.sched.Withdraw(n)
	r.sched.Schedule(n)
}

// stateOf returns the state with which the execution continues after a suspension.
func (c *execution) stateOf(s *Suspension) Value {
	if s.State.IsNull() && c.tape != nil {
		return c.tape.value()
	}
	return s.State
}

// Resumed returns the state with which this execution was suspended.
func (c *execution) Resumed() (state Value, ok bool) { return c.resumed, !c.resumed.IsNull() }

func suspendedValue(c *Canvas, list []suspended) Value {
	vals := make([]Value, len(list))
	for i, s := range list {
		vals[i] = Object("node", c.nodes[s.node].id, "fields", s.fields, "tips", s.tips, "state", s.state)
	}
	return listOf(vals)
}

// applySuspended reads the nodes that wait for a person.
func (p *progress) applySuspended(c *Canvas, list Value) error {
	p.suspended = nil
	for _, v := range list.Elements() {
		n, ok := c.index[v.Get("node").Str()]
		if !ok {
			return c.unknownNode(v.Get("node"))
		}
		p.suspended = append(p.suspended, suspended{n, v.Get("fields"), v.Get("tips").Str(), v.Get("state")})
	}
	return nil
}
