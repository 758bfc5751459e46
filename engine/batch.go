package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// runBatch starts every node of a batch and waits until all have returned or were abandoned.
func (r *run) runBatch(batch []nodeIndex) {
	r.calls = r.calls[:0]
	background := 0
	for _, i := range batch {
		n := &r.c.nodes[i]
		call := r.newCall(n)
		r.calls = append(r.calls, call)
		r.st.dropError(i)
		r.emitNodeStarted(call)
		if !n.inline {
			background++
		}
		if r.gone {
			return
		}
	}
	var b *crew
	if background > 0 {
		b = r.startBackground(background)
	}
	for _, call := range r.calls {
		if r.skip(call) || !call.node.inline {
			continue
		}
		if r.flag.Load() { // whatever has started finishes, with this error
			call.err = ErrCanceled
			continue
		}
		call.err = r.attempt(r.inline(), call)
	}
	if b != nil {
		b.wait()
	}
}

// newCall returns a call for one execution of a node.
func (r *run) newCall(n *node) *Call {
	var call *Call
	if k := len(r.spare); k > 0 {
		call = r.spare[k-1]
		r.spare = r.spare[:k-1]
		outs, ins := call.outs[:0], call.ins[:0]
		*call = Call{}
		call.outs, call.ins = outs, ins
		call.run, call.st, call.node, call.id = r, r.st, n, n.id
	} else {
		call = newCall(r, n)
	}
	r.step++
	call.step = r.step
	call.started = r.clock.Now()
	if n.suspends || n.toolUser || len(r.suspended) > 0 {
		r.attach(call)
	}
	if n.isItem {
		if b := r.body(n.parent); b != nil {
			call.cursor = b.cursor
		}
	}
	return call
}

// release keeps a call for reuse; calls that may still be referenced are left to the collector.
func (r *run) release(call *Call) {
	if call.node.inline && call.deferred == nil && call.speech == nil && call.node.container == nil {
		clear(call.outs)
		clear(call.ins)
		r.spare = append(r.spare, call)
	}
}

// skip fills in the results that need no execution: pinned outputs, and results logged before a
// crash.
func (r *run) skip(call *Call) bool {
	if done := r.results[call.node.index]; done != nil {
		adopt(call, done)
		return true
	}
	pin, ok := r.opt.Pins[call.node.id]
	if !ok {
		return false
	}
	for name, v := range pin.Fields() {
		v = unwrapped(v)
		call.refuse(r.opt.Limits.checkValue(v))
		call.setOut(name, v)
		if name == "_next" {
			call.branched = true
			for _, id := range v.Elements() {
				call.next = append(call.next, r.c.find([]string{id.Str()})...)
			}
		}
	}
	if call.node.speaker != nil {
		content, _ := call.Written("content")
		call.speech = &Speech{Parts: []Value{content}, Rendered: true}
	}
	if call.node.isItem {
		call.turned, call.bodyEnd = true, true
	}
	return true
}

// crew runs the members of a batch that may block, a few at a time.
type crew struct {
	r      *run
	queue  []*Call   // not started yet
	since  time.Time // when the queue began to wait; zero if all could start at once
	active []*job
	done   chan *job
}

type job struct {
	call     *Call
	cancel   context.CancelFunc
	deadline time.Time // zero: none
	err      error
}

func (r *run) startBackground(n int) *crew {
	b := &crew{r: r, done: make(chan *job, n)}
	r.shared = true
	for _, call := range r.calls {
		if !call.node.inline && !r.skip(call) {
			b.queue = append(b.queue, call)
		}
	}
	b.fill()
	if len(b.queue) > 0 {
		b.since = r.clock.Now()
	}
	return b
}

// fill starts members while there is room.
func (b *crew) fill() {
	for len(b.active) < b.r.opt.Concurrency && len(b.queue) > 0 {
		call := b.queue[0]
		b.queue = b.queue[1:]
		if b.r.canceled() {
			call.err = ErrCanceled
			continue
		}
		j := &job{call: call}
		ctx := b.r.work()
		if d := call.node.timeout; d > 0 {
			ctx, j.cancel = context.WithTimeout(ctx, d)
			j.deadline, _ = ctx.Deadline()
		} else {
			ctx, j.cancel = context.WithCancel(ctx)
		}
		b.active = append(b.active, j)
		since := b.since
		go func() {
			j.err = b.attemptWithSlot(ctx, call, since)
			b.done <- j
		}()
	}
}

// attemptWithSlot calls attempt for a member of a batch, which may have to wait for a slot that
// tools of another member hold. since is the time at which it began to wait, or zero.
func (b *crew) attemptWithSlot(ctx context.Context, call *Call, since time.Time) error {
	if call.node.container == nil {
		call.slot = &slotHold{slots: b.r.slots}
		defer call.slot.end()
		switch err := call.waitForSlot(ctx, call.slot, since); {
		case errors.Is(err, context.DeadlineExceeded):
			return timeoutError(call.node)
		case err != nil:
			return ErrCanceled
		}
	}
	return b.r.attempt(ctx, call)
}

// wait collects members as they end, emits their notes, and abandons those that do not return.
func (b *crew) wait() {
	stop := b.r.work().Done()
	var giveUp <-chan time.Time
	overdue := b.overdue()
	for len(b.active) > 0 {
		select {
		case j := <-b.done:
			b.ended(j)
			overdue = b.overdue()
		case <-b.r.signal:
			b.r.flushNotes()
		case <-b.r.wake:
			b.r.flushInner()
		case <-stop:
			stop, giveUp = nil, after(grace)
		case <-giveUp:
			for len(b.active) > 0 {
				b.abandon(b.active[0], ErrCanceled)
			}
		case <-overdue:
			b.expire()
			overdue = b.overdue()
		}
	}
	b.r.flushNotes()
}

func (b *crew) ended(j *job) {
	j.call.err = j.err
	b.remove(j)
	b.r.flushInner()
	b.r.logResult(j.call)
	b.fill()
	if len(b.active) > 0 {
		b.r.logWorked(j.call)
	}
}

func (b *crew) remove(j *job) {
	j.cancel()
	for i := range b.active {
		if b.active[i] == j {
			b.active = append(b.active[:i], b.active[i+1:]...)
			return
		}
	}
}

// abandon continues without a member that does not return. Its call is closed, so it cannot touch
// the state.
func (b *crew) abandon(j *job, err error) {
	j.call.close()
	fresh := newCall(b.r, j.call.node)
	fresh.step, fresh.started, fresh.err = j.call.step, j.call.started, err
	for i := range b.r.calls {
		if b.r.calls[i] == j.call {
			b.r.calls[i] = fresh
		}
	}
	b.remove(j)
	b.fill()
}

// overdue fires when the first member is past its deadline and its grace.
func (b *crew) overdue() <-chan time.Time {
	var first time.Time
	for _, j := range b.active {
		if !j.deadline.IsZero() && (first.IsZero() || j.deadline.Before(first)) {
			first = j.deadline
		}
	}
	if first.IsZero() {
		return nil
	}
	return after(until(first) + grace)
}

func (b *crew) expire() {
	for i := 0; i < len(b.active); i++ {
		if j := b.active[i]; !j.deadline.IsZero() && until(j.deadline) <= 0 {
			b.abandon(j, timeoutError(j.call.node))
			i--
		}
	}
}

func timeoutError(n *node) error {
	return fmt.Errorf("no answer within %s: %w", n.timeout, context.DeadlineExceeded)
}

// attempt runs a component with its retries and converts panics and timeouts to errors.
func (r *run) attempt(ctx context.Context, call *Call) error {
	tries := 1
	if call.node.spec.Retries {
		tries += call.node.retries
	}
	for try := 1; ; try++ {
		err := r.once(ctx, call)
		if err == nil {
			return nil
		}
		if r.canceled() || errors.Is(err, ErrCanceled) {
			return ErrCanceled
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return timeoutError(call.node)
		}
		if try >= tries || errors.Is(err, ErrLimit) || suspensionOf(err) != nil {
			return err
		}
		logRetry(call, try, tries, r.redactError(err))
		if r.clock.Sleep(ctx, call.node.delay) != nil {
			return err
		}
		call.forget()
	}
}

// logRetry reports that an attempt failed and that another one follows.
func logRetry(c *Call, try, tries int, err error) {
	text := c.NodeID() + ": attempt " + strconv.Itoa(try) + " of " + strconv.Itoa(tries) + " failed: " + err.Error()
	c.Log(EventWarning, Object(
		"text", text, "component_id", c.NodeID(), "attempt", Int(int64(try+1)), "attempts", Int(int64(tries)),
	))
}

// forget drops the effects of a failed attempt.
func (c *Call) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exceeds.Store(false)
	started, cursor := c.started, c.cursor
	c.effects = effects{started: started, cursor: cursor, ins: c.ins[:0]}
}

// exceeded returns the error of an output that was refused, or of effects that the log cannot take.
func (c *Call) exceeded() error {
	if c.node.inline && !c.exceeds.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil || c.node.inline {
		return c.over
	}
	size := int64(0)
	for _, list := range [...][]slot{c.ins, c.outs} {
		for i := range list {
			size += slotSize(list[i].name, list[i].value)
		}
	}
	for i := range c.sets {
		size += c.sets[i].value.Size()
	}
	for i := range c.cites {
		size += c.cites[i].size()
	}
	return within(ErrEventTooLarge, size, c.run.opt.Limits.Event)
}

func (r *run) once(ctx context.Context, call *Call) (err error) {
	defer recovered(&err)
	if !call.asked.IsNull() && !call.isTool {
		if err := call.begin(); err != nil {
			return err
		}
	}
	if err = call.node.comp.Run(ctx, call); err == nil {
		err = call.exceeded()
	}
	return err
}
