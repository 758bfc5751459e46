package engine

import (
	"errors"
	"fmt"
	"sync"
)

// ErrHostMemory means that the host has no memory left for what a node was about to make; run the
// canvas again when other runs have ended.
var ErrHostMemory = errors.New("host is out of memory for runs")

// Budget shares the memory of a process among its runs.
type Budget interface {
	// Grow reserves n more bytes for the run, or gives -n bytes back, which never fails. It is
	// called when what the run holds grows by a step, not for each value, from any goroutine.
	//
	// An error becomes that of the node whose value finds no room, as an ErrHostMemory.
	Grow(n int64) error
}

// memoryStep is how much a run reserves of its Budget at least, and the least that is counted of a
// text that is being made.
const memoryStep = 64 << 10

// memory is what a run holds, for its Budget. It is safe for concurrent use.
type memory struct {
	budget Budget

	mu             sync.Mutex
	used, reserved int64
}

// add counts n bytes more, or -n less.
func (m *memory) add(n int64) error {
	if m.budget == nil || n == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used + n
	step := (used - m.reserved + memoryStep - 1) / memoryStep * memoryStep
	// Values come and go, so that bytes are given back in larger pieces.
	if step > 0 || step <= -16*memoryStep {
		if err := m.budget.Grow(step); err != nil {
			return fmt.Errorf("%w: %w", ErrHostMemory, err)
		}
		m.reserved += step
	}
	m.used = used
	return nil
}

// close gives everything back.
func (m *memory) close() {
	if m.budget == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved > 0 {
		_ = m.budget.Grow(-m.reserved) // giving back never fails
	}
	m.used, m.reserved = 0, 0
}

// reserve counts n bytes as memory of the run until this execution is over.
func (s *CallSizes) reserve(n int64) error {
	if n < memoryStep || s.call.run.memory.budget == nil {
		return nil
	}
	if err := s.call.run.memory.add(n); err != nil {
		return err
	}
	s.call.root().reserved.Add(n)
	return nil
}

// unreserve gives back what reserve has counted.
func (r *run) unreserve(call *Call) {
	if call.reserved.Load() == 0 {
		return
	}
	if n := call.reserved.Swap(0); n != 0 {
		_ = r.memory.add(-n) // giving back never fails
	}
}

// admit is nil when the state of the run may grow by n bytes, which then count as its memory.
func (r *run) admit(n int64) error {
	if n <= r.slack {
		r.slack -= max(n, 0)
		return nil
	}
	size := r.size() + n
	if err := within(ErrStateTooLarge, size, r.opt.Limits.State); err != nil {
		return err
	}
	return r.hold(size)
}

// hold makes size the memory of the run's state, with some slack: what is admitted from then on is
// not added up anew until the slack is used. The slack never passes the limit of the state, so that
// it decides nothing.
func (r *run) hold(size int64) error {
	slack := min(memoryStep, r.opt.Limits.State-size)
	if err := r.memory.add(size + slack - r.holds); err != nil {
		return err
	}
	r.holds, r.slack = size+slack, slack
	return nil
}

// size is the accounted size of everything the run keeps: its state, what it was given and what its
// unread streams wait with.
func (r *run) size() int64 {
	n := r.st.size() + r.given
	for _, i := range r.pending {
		n += r.streams[i].deferred.stream.request.Size()
	}
	return n
}

// givenSize is the size of what a run was started with and keeps.
func (r *run) givenSize() int64 {
	if r.inputs.IsNull() && r.webhook.IsNull() && r.answers.IsNull() {
		return 0
	}
	return r.inputs.Size() + r.webhook.Size() + r.answers.Size()
}

// checkGiven refuses a run whose input is larger than values may be.
func (r *run) checkGiven() error {
	l := &r.opt.Limits
	for _, given := range [...]slot{
		{"query", r.in.Query}, {"inputs", r.in.Inputs}, {"files", r.in.Files}, {"webhook", r.in.Webhook},
	} {
		if err := l.checkValue(given.value); err != nil {
			return fmt.Errorf("%s: %w", given.name, err)
		}
	}
	return nil
}

// checkState refuses to begin a turn of a conversation that has grown too large.
func (r *run) checkState() error {
	r.given = r.givenSize()
	if err := within(ErrStateTooLarge, r.size(), r.opt.Limits.State); err != nil {
		return fmt.Errorf("conversation: %w; a reset of the conversation empties it", err)
	}
	return r.hold(r.size())
}

// room reports whether n more bytes of events may be handed out; otherwise the run has failed.
func (r *run) room(n int64) bool { return r.checkRoom(n) == nil }

func (r *run) checkRoom(n int64) error {
	err := within(ErrEventsTooLarge, r.bytes+n, r.opt.Limits.Events)
	if err != nil && r.failed == nil {
		r.failed = err
	}
	return err
}

// A node_finished need not be measured while the state is smaller than this and no input is longer
// than smallInput: it is smaller than any sensible limit then.
const (
	smallState = 256 << 10
	smallInput = 1 << 10
)

// small reports whether the event of an execution is far from the limits without measuring it.
func (r *run) small(call *Call) bool {
	return !call.long && r.st.size() < smallState && r.bytes < r.smallBelow
}

// measureFrom is the number of bytes of events from which all of them are measured.
func (l *Limits) measureFrom() int64 {
	most := int64(2*smallState + 1000*smallInput)
	if l.Event < most {
		return 0
	}
	return l.Events - most
}

// checkEvent is nil when node_finished of an execution is no larger than an event may be.
func (r *run) checkEvent(call *Call) error {
	if r.small(call) {
		return nil
	}
	return within(ErrEventTooLarge, inputSize(call)+r.st.outSize(call.node.index), r.opt.Limits.Event)
}

func inputSize(call *Call) int64 {
	n := int64(0)
	for i := range call.ins {
		in := &call.ins[i]
		n += slotSize(in.name, in.value)
		if s := in.value.Stream(); s != nil {
			n += s.length()
		}
	}
	return n
}
