package engine

import (
	"slices"
)

// flushPending finishes nodes whose streams have ended, in the order they were announced.
func (t *streaming) flushPending() {
	for i := 0; i < len(t.pending) && !t.gone; {
		call := t.streams[t.pending[i]]
		if call.deferred.stream.ended() && call.deferred.stream.read() {
			t.finishStream(call)
		} else {
			i++
		}
	}
}

// finishStream settles a node whose text is complete.
func (t *streaming) finishStream(call *Call) {
	n := call.node
	t.flushNotes()
	t.forgetStream(n.index)
	t.unreserve(call)
	text, err := call.deferred.stream.result()
	if t.opt.Scheduling == Eager {
		call.ended = call.deferred.stream.endedAt()
	}
	call.mu.Lock()
	for i := range call.outs {
		if o := &call.outs[i]; o.name == call.deferred.output && o.value.Stream() != nil {
			o.value = String(text)
		}
	}
	call.mu.Unlock()
	call.err = err
	if t.canceled() && err != nil {
		call.err = ErrCanceled
	}
	t.applyCall(call)
	if call.err != nil {
		if jumped := t.handle(call); jumped {
			t.sched.ScheduleOnError(n.index)
		}
	}
	t.emitNodeFinished(call)
}

func (t *streaming) forgetStream(node nodeIndex) {
	t.pending = slices.DeleteFunc(t.pending, func(n nodeIndex) bool { return n == node })
	delete(t.streams, node)
}

// drainRestarted reads the streams of nodes that are about to run again, so that every start has
// its finish. It returns false if the run cannot continue.
func (t *streaming) drainRestarted(batch []nodeIndex) bool {
	if len(t.pending) == 0 {
		return true
	}
	for _, n := range batch {
		if t.streams[n] == nil || t.gone {
			continue
		}
		t.drain(n)
		if call := t.streams[n]; call != nil && call.deferred.stream.ended() {
			t.finishStream(call)
		}
		if t.canceled() || t.failed != nil {
			return false
		}
	}
	return !t.gone
}

// drain reads a stream without a reader, so that its node can finish.
func (t *streaming) drain(node nodeIndex) {
	call := t.streams[node]
	err := call.deferred.stream.each(t.work(), t.emitter, func(string) bool { return !t.canceled() && !t.gone })
	if err != nil && t.canceled() {
		t.dropStreams(ErrCanceled)
	}
}

// drainAll reads the unread streams. It returns false if the run cannot continue.
func (t *streaming) drainAll() bool {
	for len(t.pending) > 0 && !t.gone {
		t.drain(t.pending[0])
		t.flushPending()
		if t.canceled() || t.failed != nil {
			return false
		}
	}
	return true
}

// endStreams stops the producers of pending streams and logs their usage, if they return within the
// grace of a cancelled component. It returns the streams that had ended before.
func (t *streaming) endStreams() map[nodeIndex]bool {
	over := map[nodeIndex]bool{}
	for _, n := range t.pending {
		over[n] = t.streams[n].deferred.stream.ended()
	}
	t.halt()
	defer t.flushNotes()
	limit := after(grace)
	for _, n := range t.pending {
		if s := t.streams[n].deferred.stream; s.isOpen() {
			select {
			case <-s.done:
			case <-limit:
				return over
			}
		}
	}
	return over
}

// dropStreams finishes nodes whose streams will not be read: with the reason as their error, or
// without one when the run failed elsewhere.
func (t *streaming) dropStreams(reason error) {
	over := t.endStreams()
	for len(t.pending) > 0 && !t.gone {
		call := t.streams[t.pending[0]]
		if over[t.pending[0]] {
			t.finishStream(call)
			continue
		}
		t.forgetStream(call.node.index)
		t.unreserve(call)
		call.close()
		call.mu.Lock()
		t.addUsage(call)
		call.mu.Unlock()
		text, _ := call.deferred.stream.result()
		t.st.setOut(call.node.index, call.deferred.output, Null)
		if reason != nil {
			t.st.setOut(call.node.index, call.deferred.output, String(text))
			t.st.setOut(call.node.index, errorOutput, String(errorText(reason)))
		}
		call.err = reason
		t.emitNodeFinished(call)
	}
}
