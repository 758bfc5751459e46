package engine

import (
	"slices"
)

// readsOpenText reports whether a node reads a text that is still being written. Its writer is not
// held back then, unless the text is read while it is said.
func (e *eager) readsOpenText(n *node) bool {
	if len(e.pending) == 0 {
		return false
	}
	open := false
	for _, ref := range n.refs {
		if ref.slot == 0 || ref.Node == "" {
			continue
		}
		writer := e.streams[nodeIndex(ref.slot-1)]
		if writer == nil || writer.deferred.stream.ended() {
			continue
		}
		open = true
		if n.speaker == nil {
			writer.deferred.stream.bound(-1)
		}
	}
	return open
}

// openStreams opens the streams that are announced, as far as there are slots.
func (e *eager) openStreams() {
	for _, n := range e.pending {
		call := e.streams[n]
		s := call.deferred.stream
		if s.isOpen() {
			continue
		}
		if !e.slots.take() {
			if call.waits.IsZero() {
				call.waits = e.clock.Now()
			}
			continue
		}
		if !call.waits.IsZero() {
			call.logWait(call.waits)
		}
		call.slot = e.slots.holdOf()
		s.openEarly(e.work(), call.slot)
	}
}

// say sends the available part of the current message, and of those that are ready after it. It
// reports whether a node was settled.
func (e *eager) say() bool {
	said := false
	for len(e.speeches) > 0 && !e.stopped() {
		if !e.pickSpeech() {
			break
		}
		s := e.speeches[0]
		if !s.advance() || e.gone {
			break
		}
		e.speeches = e.speeches[1:]
		s.call.err = s.end()
		e.flushNotes()
		e.concludeCall(s.call)
		said = true
	}
	return said
}

// pickSpeech moves the first message that has text to the front, unless another one has begun.
// Messages are never mixed. It reports whether there is one.
func (e *eager) pickSpeech() bool {
	if e.speeches[0].opened {
		return true
	}
	i := slices.IndexFunc(e.speeches, (*speaking).ready)
	if i < 0 {
		return false
	}
	e.save() // not again before the message ends
	s := e.speeches[i]
	s.opened = true
	copy(e.speeches[1:], e.speeches[:i])
	e.speeches[0] = s
	return true
}

// textsComing reports whether a text is being written; a pause would throw it away. The writers are
// not held back any more.
func (e *eager) textsComing() bool {
	coming := false
	for _, n := range e.pending {
		if s := e.streams[n].deferred.stream; s.isOpen() && !s.ended() {
			s.bound(-1)
			coming = true
		}
	}
	return coming
}
