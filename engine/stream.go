package engine

import (
	"context"
	"sync"
)

// Stream is a lazy text: a model's answer that is asked for when somebody first reads it, and only
// once.
//
// Concurrency: one goroutine, the pump, runs the producer and appends to text. The run's owner may
// read it live, piece by piece; the pump then waits after each piece until the owner has taken it,
// so a slow reader slows the producer and nothing piles up. Anyone else waits for the end with
// await. Everything below mu is guarded by it.
type Stream struct {
	request Value // what Run rendered; enough to open the stream in another process
	produce func(ctx context.Context, emit func(string) error) error

	mu      sync.Mutex
	text    []byte
	err     error
	opened  bool
	live    bool          // the owner reads along
	arrived chan struct{} // capacity 1: text grew
	taken   chan struct{} // capacity 1: the live reader caught up
	done    chan struct{} // closed at the end
}

func newStream(request Value, produce func(context.Context, func(string) error) error) *Stream {
	return &Stream{
		request: request, produce: produce,
		arrived: make(chan struct{}, 1), taken: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// open starts the pump, once.
func (s *Stream) open(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		return
	}
	s.opened = true
	go func() {
		err := s.run(ctx)
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		close(s.done)
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
	live := s.live
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	if !live {
		return ctx.Err()
	}
	select {
	case <-s.taken:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// each hands out the text as it comes, from the start. It stops early when ctx ends or yield says
// so. Notes of workers are handed out meanwhile.
func (s *Stream) each(ctx context.Context, r *emitter, yield func(piece string) bool) error {
	s.mu.Lock()
	s.live = true
	s.mu.Unlock()
	defer s.detach()
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
		select {
		case s.taken <- struct{}{}:
		default:
		}
	}
}

// length is how many bytes have come so far.
func (s *Stream) length() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.text))
}

// detach lets the producer run on without a reader.
func (s *Stream) detach() {
	s.mu.Lock()
	s.live = false
	s.mu.Unlock()
	select {
	case s.taken <- struct{}{}:
	default:
	}
}

// await reads to the end and gives the whole text. The owner of the run passes flush: what workers
// note meanwhile, the writer of this text among them, may be waited for.
func (s *Stream) await(ctx, runCtx context.Context, signal <-chan struct{}, flush func()) (string, error) {
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

// result is the text so far and the error, if it has ended.
func (s *Stream) result() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text), s.err
}

// ended reports whether nothing more will come.
func (s *Stream) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
