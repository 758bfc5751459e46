package main

import "sync"

// outbox collects the events of a run until the run waits, and passes them to the host together,
// because a call to the host costs more than an event. Calls to the host and the end of the run
// flush it at once.
type outbox struct {
	host host
	run  uint32

	mu      sync.Mutex
	lines   []byte
	pending bool // a goroutine will flush
	closed  bool // the run is over; later events of a provider are dropped
}

// full is the number of bytes at which the lines are flushed.
const full = 64 << 10

// add takes one event; build appends its text.
func (o *outbox) add(build func([]byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.lines) > 0 {
		o.lines = append(o.lines, '\n')
	}
	o.lines = build(o.lines)
	switch {
	case len(o.lines) >= full:
		o.handOver()
	case !o.pending:
		o.pending = true
		go o.flush() // it runs when the producer of events has to wait
	}
}

func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending = false
	o.handOver()
}

// close flushes the rest.
func (o *outbox) close() {
	o.flush()
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
}

func (o *outbox) handOver() {
	if len(o.lines) == 0 {
		return
	}
	o.host.emit(o.run, o.lines)
	o.lines = o.lines[:0]
}
