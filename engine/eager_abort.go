package engine

import (
	"slices"
)

// stopped reports whether the run has stopped.
func (e *eager) stopped() bool { return e.gone || e.failed != nil || e.canceled() }

// expireCalls abandons workers that are past their deadline.
func (e *eager) expireCalls() {
	for _, j := range slices.Clone(e.active) {
		if !j.deadline.IsZero() && until(j.deadline) <= 0 {
			e.giveUp(j, timeoutError(j.call.node))
		}
	}
}

// giveUp settles the node of a worker that does not return, with an error.
func (e *eager) giveUp(j *job, err error) {
	j.call.close()
	e.drop(j)
	call := newCall(e.run, j.call.node)
	call.step, call.started, call.cursor, call.away, call.err = j.call.step, j.call.started, j.call.cursor, true, err
	e.logResult(call)
	e.settleCall(call)
}

// abort ends the active nodes of a run that was cancelled or has failed: each node that started
// finishes.
func (e *eager) abort() {
	e.halt()
	timer := after(grace)
	for len(e.active) > 0 && !e.gone {
		select {
		case j := <-e.done:
			if slices.Contains(e.active, j) {
				e.drop(j)
				e.cut(j.call)
			}
		case <-e.signal:
			e.flushNotes()
		case <-timer:
			for _, j := range slices.Clone(e.active) {
				j.call.close()
				e.drop(j)
				call := newCall(e.run, j.call.node)
				call.step, call.started, call.away = j.call.step, j.call.started, true
				e.cut(call)
			}
		}
	}
	for _, s := range e.speeches {
		if s.opened {
			s.broken = ErrCanceled
		}
		e.cut(s.call)
	}
	for _, call := range e.replay.arrived {
		e.cut(call)
	}
	e.speeches, e.replay.arrived = nil, nil
}

// cut finishes a node that the end of the run interrupts.
func (e *eager) cut(call *Call) {
	failed := e.failed
	call.err, call.speech, call.deferred = ErrCanceled, nil, nil
	if e.takeIn(call) {
		e.conclude(call)
	}
	e.failed = failed
}

// drop takes a worker from the active ones, and its slot from it.
func (e *eager) drop(j *job) {
	e.remove(j)
	j.call.slot.end()
}
