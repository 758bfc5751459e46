package engine

import (
	"context"
	"sync"
	"time"
)

// Stream is a lazy text: a model's answer that is requested at the first read, or earlier in eager
// mode, and only once.
//
// Concurrency: one goroutine, the pump, runs the producer and appends to text. The run's owner may
// read it live, piece by piece; the pump then waits while more than most bytes are unread, so a
// slow reader slows the producer and the buffer is bounded. Other readers wait for the end with
// await, which lifts that bound. Everything below mu is guarded by it.
type Stream struct {
	request Value // what Run rendered; enough to open the stream in another process
	produce func(ctx context.Context, emit func(string) error) error

	written func(output string) (v Value, ok bool) // what its writer has set
	now     func() time.Time
	wake    func()        // called when text grew and at the end; nil in batch mode
	slot    *slotHold     // of a producer that was started before there was a reader
	logged  bool          // its end is in the log; of the run's owner
	arrived chan struct{} // capacity 1: text grew
	taken   chan struct{} // capacity 1: the live reader caught up
	done    chan struct{} // closed at the end

	mu     sync.Mutex
	text   []byte
	err    error
	opened bool
	used   bool      // something has read from it
	seen   int       // bytes that the live reader has taken
	whole  bool      // something waits for all of it
	most   int       // bytes that may be unread; below 0 means any number
	over   time.Time // when the producer returned
}

// unreadBytes is the number of bytes of an early opened stream that are buffered before its first
// read.
const unreadBytes = 64 << 10

func newStream(request Value, produce func(context.Context, func(string) error) error) *Stream {
	return &Stream{
		request: request, produce: produce, most: -1, now: time.Now,
		arrived: make(chan struct{}, 1), taken: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// open starts the pump, once.
func (s *Stream) open(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		s.start(ctx)
	}
}

// start starts the pump; mu is held.
func (s *Stream) start(ctx context.Context) {
	s.opened = true
	go func() {
		err := s.run(ctx)
		s.slot.end()
		s.mu.Lock()
		s.err, s.over = err, s.now()
		s.mu.Unlock()
		close(s.done)
		if s.wake != nil {
			s.wake()
		}
	}()
}

func (s *Stream) run(ctx context.Context) (err error) {
	defer recovered(&err)
	return s.produce(ctx, func(piece string) error { return s.emit(ctx, piece) })
}

// emit appends one piece and waits for the live reader, if there is one.
func (s *Stream) emit(ctx context.Context, piece string) error {
	if piece == "" {
		return ctx.Err()
	}
	s.mu.Lock()
	s.text = append(s.text, piece...)
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	if s.wake != nil {
		s.wake()
	}
	if s.full() && s.slot.rest() { // its reader may wait for a text that has no slot
		defer s.slot.wait(ctx) //nolint:errcheck // without one, ctx has ended, which the caller sees
	}
	for s.full() {
		select {
		case <-s.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// full reports whether the producer has to wait for the reader.
func (s *Stream) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most >= 0 && len(s.text)-s.seen > s.most
}

// bound sets the number of bytes that may be unread; below 0 means any number.
func (s *Stream) bound(most int) {
	s.mu.Lock()
	s.most, s.whole = most, most < 0
	s.mu.Unlock()
	s.caughtUp()
}

// complete reports whether the text has ended, for a reader that takes it only then. Until then the
// producer is not held back.
func (s *Stream) complete() bool {
	s.mu.Lock()
	s.used = true
	s.mu.Unlock()
	s.bound(-1)
	return s.ended()
}

// caughtUp wakes the producer to check whether it may continue.
func (s *Stream) caughtUp() {
	select {
	case s.taken <- struct{}{}:
	default:
	}
}

// next returns the text after the first at bytes, and whether the text is complete.
func (s *Stream) next(at int) (piece string, ended bool) {
	ended = s.ended()
	s.mu.Lock()
	piece = string(s.text[at:])
	s.seen, s.used = len(s.text), true
	s.mu.Unlock()
	s.caughtUp()
	return piece, ended
}

// each yields the text as it grows, from the start. It stops early if ctx ends or yield returns
// false. Notes of workers are emitted between pieces.
func (s *Stream) each(ctx context.Context, r *emitter, yield func(piece string) bool) error {
	s.mu.Lock()
	s.seen, s.most, s.used = 0, 0, true
	s.mu.Unlock()
	defer s.bound(-1) // the producer runs on without a reader
	s.open(ctx)
	at := 0
	for {
		ended := false
		if r.canceled() {
			return ErrCanceled
		}
		select {
		case <-s.arrived:
		case <-s.done:
			ended = true
		case <-r.signal:
			r.flushNotes()
			continue
		case <-r.port:
			return ErrCanceled
		case <-ctx.Done():
			return ErrCanceled
		}
		s.mu.Lock()
		piece := string(s.text[at:])
		err := s.err
		s.mu.Unlock()
		if at += len(piece); piece != "" && !yield(piece) {
			return ErrCanceled
		}
		if ended {
			return err
		}
		s.mu.Lock()
		s.seen = at
		s.mu.Unlock()
		s.caughtUp()
	}
}

// length returns the number of bytes received so far.
func (s *Stream) length() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.text))
}

// await reads to the end and returns the whole text. The owner of the run passes flush, because
// workers, the writer of this text among them, may wait until their notes are emitted.
func (s *Stream) await(ctx, runCtx context.Context, signal <-chan struct{}, flush func()) (string, error) {
	s.complete()
	s.open(runCtx)
	for {
		select {
		case <-s.done:
			return s.result()
		case <-signal:
			flush()
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// result returns the text so far, with an opening mark before reasoning that was only closed, and
// the error, if it has ended.
func (s *Stream) result() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return WithOpening(string(s.text)), s.err
}

// fill makes it complete without its producer.
func (s *Stream) fill(text string, err error, over time.Time) {
	s.mu.Lock()
	s.text, s.err, s.over, s.opened = []byte(text), err, over, true
	s.mu.Unlock()
	close(s.done)
}

// openEarly starts the pump, which has a slot, before there is a reader. The unread part is bounded
// unless something waits for the whole text.
func (s *Stream) openEarly(ctx context.Context, slot *slotHold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		slot.end()
		return
	}
	s.slot = slot
	if !s.whole {
		s.most = unreadBytes
	}
	s.start(ctx)
}

// isOpen reports whether the producer was started.
func (s *Stream) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// read reports whether something has read from it.
func (s *Stream) read() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// endedAt returns the time at which the producer returned.
func (s *Stream) endedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// ended reports whether the text is complete.
func (s *Stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
