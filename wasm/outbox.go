package main

import "sync"

// outbox collects the events of a run until nothing is left to do, and hands them over together:
// crossing the border costs more than an event. A question to the host and the end of the run hand
// them over at once.
type outbox struct {
	host host
	run  uint32

	mu      sync.Mutex
	lines   []byte
	pending bool // a goroutine will flush
	closed  bool // the run is over; what a provider still had to say is dropped
}

// full is when lines are handed over although more may come, in bytes.
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

// close hands over what is left.
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
