package engine

// account checks the sizes of a run's values against its limits and its memory budget.
type account struct {
	*basis
	*ending
	*progress
	memory     memory
	spending   spending
	holds      int64 // of memory: the state and the slack
	slack      int64 // by which the state may grow before it is added up again
	smallBelow int64 // see Limits.measureFrom
	given      int64 // size of inputs, webhook and answers
}

// tally records the run's usage in its position.
func (a *account) tally() { a.spent = a.spending.totals() }

// unreserve releases the bytes counted by reserve.
func (a *account) unreserve(call *Call) {
	if call.reserved.Load() == 0 {
		return
	}
	if n := call.reserved.Swap(0); n != 0 {
		_ = a.memory.add(-n) // releasing never fails
	}
}

// admit returns nil if the state of the run may grow by n bytes, which then count as its memory.
func (a *account) admit(n int64) error {
	if n <= a.slack {
		a.slack -= max(n, 0)
		return nil
	}
	size := a.size() + n
	if err := within(ErrStateTooLarge, size, a.opt.Limits.State); err != nil {
		return err
	}
	return a.hold(size)
}

// hold makes size the memory of the run's state, with some slack: the size is not recomputed until
// the slack is used. The slack never exceeds the limit of the state, so it does not affect the
// result.
func (a *account) hold(size int64) error {
	slack := min(memoryStep, a.opt.Limits.State-size)
	if err := a.memory.add(size + slack - a.holds); err != nil {
		return err
	}
	a.holds, a.slack = size+slack, slack
	return nil
}

// size returns the accounted size of everything the run keeps: its state, its input and the
// requests of its unread streams.
func (a *account) size() int64 {
	n := a.st.size() + a.given
	for _, i := range a.pending {
		n += a.streams[i].deferred.stream.request.Size()
	}
	return n
}

// givenSize returns the size of the input that a run keeps.
func (a *account) givenSize() int64 {
	if a.inputs.IsNull() && a.webhook.IsNull() && a.answers.IsNull() {
		return 0
	}
	return a.inputs.Size() + a.webhook.Size() + a.answers.Size()
}

// small reports whether the event of an execution is far from the limits without measuring it.
func (a *account) small(call *Call) bool {
	return !call.long && a.st.size() < smallState && a.bytes < a.smallBelow
}

// checkEvent returns nil when node_finished of an execution is no larger than an event may be.
func (a *account) checkEvent(call *Call) error {
	if a.small(call) {
		return nil
	}
	return within(ErrEventTooLarge, inputSize(call)+a.st.outSize(call.node.index), a.opt.Limits.Event)
}
