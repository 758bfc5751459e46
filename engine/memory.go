package engine

import (
	"errors"
	"fmt"
	"sync"
)

// ErrHostMemory means that the host has no memory left for a value of a node; run the canvas again
// when other runs have ended.
var ErrHostMemory = errors.New("host is out of memory for runs")

// Budget shares the memory of a process among its runs.
type Budget interface {
	// Grow reserves n more bytes for the run, or releases -n bytes, which never fails. It is called
	// when the memory of the run grows by a step, not for each value, from any goroutine.
	//
	// An error fails the node whose value finds no room, as an ErrHostMemory.
	Grow(n int64) error
}

// memoryStep is the smallest reservation of a Budget, and the smallest count for a text that is
// being made.
const memoryStep = 64 << 10

// memory counts the memory of a run for its Budget. It is safe for concurrent use.
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
	// Values come and go, so bytes are released in larger pieces.
	if step > 0 || step <= -16*memoryStep {
		if err := m.budget.Grow(step); err != nil {
			return fmt.Errorf("%w: %w", ErrHostMemory, err)
		}
		m.reserved += step
	}
	m.used = used
	return nil
}

// close returns all reserved memory to the budget.
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
func (c *execution) reserve(n int64) error {
	if n < memoryStep || c.run.memory.budget == nil {
		return nil
	}
	if err := c.run.memory.add(n); err != nil {
		return err
	}
	c.root().reserved.Add(n)
	return nil
}

// checkGiven refuses a run whose input exceeds the limit of values.
func (a *account) checkGiven() error {
	l := &a.opt.Limits
	for _, given := range [...]slot{
		{"query", a.in.Query},
		{"inputs", a.in.Inputs},
		{"files", a.in.Files},
		{"webhook", a.in.Webhook},
		{"instructions", String(a.in.Instructions)},
	} {
		if err := l.checkValue(given.value); err != nil {
			return fmt.Errorf("%s: %w", given.name, err)
		}
	}
	return nil
}

// checkState refuses to begin a turn of a conversation that has grown too large.
func (a *account) checkState() error {
	a.given = a.givenSize()
	if err := within(ErrStateTooLarge, a.size(), a.opt.Limits.State); err != nil {
		return fmt.Errorf("conversation: %w; a reset of the conversation empties it", err)
	}
	return a.hold(a.size())
}

// room reports whether n more bytes of events may be handed out; otherwise the run has failed.
func (a *account) room(n int64) bool { return a.checkRoom(n) == nil }

func (a *account) checkRoom(n int64) error {
	err := within(ErrEventsTooLarge, a.bytes+n, a.opt.Limits.Events)
	if err != nil {
		a.failWith(err)
	}
	return err
}

// A node_finished need not be measured while the state is smaller than this and no input is longer
// than smallInput: it is smaller than any sensible limit then.
const (
	smallState = 256 << 10
	smallInput = 1 << 10
)

// measureFrom returns the number of bytes of events from which all of them are measured.
func (l *Limits) measureFrom() int64 {
	most := int64(2*smallState + 1000*smallInput)
	if l.Event < most {
		return 0
	}
	return l.Events - most
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
