package engine

import (
	"context"
	"errors"
	"slices"
	"time"
)

// eager is the loop of a run in which each node starts as soon as its sources are settled and a
// slot is free. Nodes are settled in the order in which they end, which the log records.
//
// Concurrency: the owner of the run does everything but the work itself. A worker reads the state
// at the start of its node, see State.view.
type eager struct {
	*run
	crew
	view     *State        // the state since the last change; nil when no worker has read it
	queue    []nodeIndex   // taken and not started, in order
	speeches []*speaking   // the first one is being said
	due      []nodeIndex   // forms to ask when nothing else is left to do
	quit     chan struct{} // closed at the end: nothing waits for the workers any more
	replay   replay
	taken    []nodeIndex
	waits    map[nodeIndex]time.Time // since when nodes of the queue wait for a slot
	unsaved  bool                    // something has changed since the last checkpoint
}

// goEager runs nodes until nothing is left, a form has to be answered, or something stops the run.
func (r *run) goEager() {
	e := &eager{run: r, quit: make(chan struct{}), waits: map[nodeIndex]time.Time{}}
	e.crew = crew{r: r, done: make(chan *job)}
	defer close(e.quit)
	r.shared, r.eager = true, true
	if r.stretch.origin == nil {
		e.beginStretch()
	}
	defer r.slots.join(r)()
	e.restart()
	for e.proceed() {
		e.await()
	}
	r.calls = r.calls[:0]
	switch {
	case r.gone:
	case r.canceled() || r.failed != nil:
		e.abort()
		r.stop()
	case len(e.due) > 0:
		e.pauseForms()
	case r.opt.item != nil:
		if !r.drainAll() {
			r.stop()
		}
		r.flushNotes()
	default:
		e.orderPath()
		r.finish()
	}
}

// proceed does everything that is possible without waiting. It returns false if the run ends or
// pauses.
func (e *eager) proceed() bool {
	for {
		if e.stopped() {
			return false
		}
		e.sched.ResetChanges()
		e.sched.EndTurns()
		e.taken = append(e.taken[:0], e.sched.Take()...)
		if len(e.taken) > 0 && !e.accept() {
			return false
		}
		settled := e.startQueue()
		settled = e.say() || settled
		settled = e.replaySettled() || settled
		if !settled && len(e.taken) == 0 {
			break
		}
	}
	e.openStreams()
	if len(e.active)+len(e.speeches)+len(e.queue) == 0 && (len(e.due) == 0 || !e.textsComing()) {
		return false
	}
	e.save()
	return !e.gone
}

// accept queues the nodes from the scheduler; forms wait until everything else is done. It returns
// false if the run has failed.
func (e *eager) accept() bool {
	if item := e.opt.item; item != nil {
		e.taken = item.keep(e.run, e.taken)
	}
	answered := e.asked
	if answered {
		e.taken = e.answered(e.taken)
		e.asked = len(e.taken) == 0 && e.asked
	}
	if err := e.countSteps(e.taken); err != nil {
		e.failWith(err)
		return false
	}
	if !e.room(0) {
		return false
	}
	for _, n := range e.taken {
		if !answered && e.isForm(n) && !e.opt.pinned(&e.c.nodes[n]) {
			e.due = append(e.due, n)
		} else {
			e.queue = append(e.queue, n)
		}
	}
	return true
}

// pauseForms pauses at the forms that are due.
func (e *eager) pauseForms() {
	e.orderPath()
	e.stretch, e.running = stretch{}, nil
	if err := e.pause(e.due, e.newCall); err != nil {
		e.failWith(err)
		e.endFailed()
	}
}

// startQueue starts the nodes that may start. It reports whether a node was settled.
func (e *eager) startQueue() bool {
	settled := false
	waiting := e.queue
	e.queue = nil
	for i, n := range waiting {
		if e.stopped() {
			e.queue = append(e.queue, waiting[i:]...)
			break
		}
		if !e.mayStart(n) {
			e.queue = append(e.queue, n)
			continue
		}
		settled = e.start(e.begin(n)) || settled
	}
	return settled
}

// mayStart reports whether a node may start now: a slot is free if it needs one, and the texts that
// it reads, and that of its last execution, are complete. The text that a node sends may still be
// written.
func (e *eager) mayStart(n nodeIndex) bool {
	if last := e.streams[n]; last != nil {
		stream := last.deferred.stream
		stream.bound(-1)
		stream.open(e.work())
		if !stream.ended() {
			return false
		}
		e.finishStream(last)
		if e.stopped() {
			return false
		}
	}
	node := &e.c.nodes[n]
	if node.speaker == nil && e.readsOpenText(node) {
		return false
	}
	if !e.needsSlot(node) || e.slots.take() {
		return true
	}
	if _, waits := e.waits[n]; !waits && e.logs() {
		e.waits[n] = e.clock.Now()
	}
	return false
}

// needsSlot reports whether a node runs on a worker that does more than wait.
func (e *eager) needsSlot(n *node) bool { return !n.inline && n.container == nil }

// begin makes the call of a node that starts, with the slot that was taken for it.
func (e *eager) begin(n nodeIndex) *Call {
	call := e.newCall(&e.c.nodes[n])
	if e.needsSlot(call.node) {
		call.slot = e.slots.holdOf()
	}
	e.st.dropError(n)
	e.view, e.unsaved = nil, true
	e.emitNodeStarted(call)
	if since, waited := e.waits[n]; waited {
		delete(e.waits, n)
		call.logWait(since)
	}
	return call
}

// start runs a call: the owner does what cannot block, a worker the rest. It reports whether the
// node was settled.
func (e *eager) start(call *Call) bool {
	launched := false
	defer func() {
		if !launched {
			call.slot.end()
		}
	}()
	if e.gone {
		return false
	}
	if done := e.replay.take(call.step); done != nil {
		if e.view == nil {
			e.view = e.st.view()
		}
		call.st = e.view // what a stream of it reads
		for _, n := range call.node.refers(nil) {
			if writer := e.streams[n]; writer != nil {
				writer.deferred.stream.complete() // as it was when this node read it
			}
		}
		adopt(call, done)
		e.replay.arrived = append(e.replay.arrived, call)
		return false
	}
	waits := call.node.inline && e.readsOpenText(call.node) // the owner must not
	switch {
	case e.skip(call):
		return e.settleCall(call)
	case call.node.inline && !waits:
		call.err = e.attempt(e.inline(), call)
		return e.settleCall(call)
	}
	if e.view == nil {
		e.view = e.st.view()
	}
	call.st, call.away = e.view, true
	launched = true
	e.launch(call)
	return false
}

// settleCall settles an execution, unless its message is still being sent. It reports whether the
// node was settled.
func (e *eager) settleCall(call *Call) bool {
	e.view = nil
	if !e.takeIn(call) {
		e.unsaved = true
		return true
	}
	if call.err == nil && call.speech != nil {
		e.speeches = append(e.speeches, e.newSpeaking(call))
		return false
	}
	e.concludeCall(call)
	return true
}

// concludeCall ends an execution whose message is complete.
func (e *eager) concludeCall(call *Call) {
	e.view = nil
	n := call.node.index
	e.conclude(call)
	e.fillStreams()
	e.st.path = append(e.st.path, n)
	e.settled = append(e.settled, n)
	e.unsaved = true
	if errors.Is(call.err, ErrCanceled) && !e.canceled() {
		e.cancelNow()
	}
	if !call.away {
		e.release(call)
	}
}

// await waits until a worker ends, a text grows, there is something for the log, or the run is
// stopped.
func (e *eager) await() {
	select {
	case j := <-e.done:
		e.finished(j)
	case <-e.wake:
		e.noteStreams()
		e.flushInner()
	case <-e.signal:
		e.flushNotes()
	case <-e.port:
	case <-e.work().Done():
	case <-e.overdue():
		e.expireCalls()
	}
}

// finished settles the result of a worker, or keeps it until its turn in a replay.
func (e *eager) finished(j *job) {
	if !slices.Contains(e.active, j) {
		return // it was abandoned
	}
	j.call.err, j.call.ended = j.err, e.clock.Now()
	e.drop(j)
	if errors.Is(j.err, ErrCanceled) && !e.canceled() {
		e.cancelNow()
	}
	e.flushInner()
	e.flushNotes()
	if e.replay.defers(j.call) {
		return
	}
	e.logResult(j.call)
	e.settleCall(j.call)
}

// replaySettled settles the executions that the log has from before the takeover, in that order. It
// reports whether a node was settled.
func (e *eager) replaySettled() bool {
	settled := false
	for !e.stopped() {
		idle := !settled && len(e.taken)+len(e.active)+len(e.speeches)+len(e.queue) == 0
		call := e.replay.next(idle)
		if call == nil {
			break
		}
		settled = true
		if call.away {
			e.logResult(call)
		}
		e.settleCall(call)
	}
	return settled
}

// launch runs a call on a worker.
func (e *eager) launch(call *Call) {
	j := &job{call: call}
	ctx, cancel := e.jobContext(j)
	j.cancel = cancel
	e.active = append(e.active, j)
	go func() {
		j.err = e.attempt(ctx, call)
		select {
		case e.done <- j:
		case <-e.quit:
		}
	}()
}

// jobContext returns the context of a worker, with the timeout of its node.
func (b *crew) jobContext(j *job) (ctx context.Context, cancel context.CancelFunc) {
	if d := j.call.node.timeout; d > 0 {
		ctx, cancel = context.WithTimeout(b.r.work(), d)
		j.deadline, _ = ctx.Deadline()
		return ctx, cancel
	}
	return context.WithCancel(b.r.work())
}
