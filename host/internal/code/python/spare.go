package python

import (
	"sync"
	"time"
)

// spares holds the interpreter that waits for the next script. The zero value holds none.
type spares struct {
	mu      sync.Mutex
	waiting *process
	order   order
	timer   *time.Timer
}

// idle is the time that an interpreter waits for a script.
const idle = 2 * time.Minute

// take returns the waiting interpreter, or starts one.
func (s *spares) take(command []string, o order) (*process, error) {
	s.mu.Lock()
	p, same := s.waiting, s.order == o
	s.clear()
	s.mu.Unlock()
	if p != nil && same && !p.ended() {
		return p, nil
	}
	if p != nil {
		p.end()
	}
	return start(command, o)
}

// replace starts an interpreter for the next script unless one is waiting.
func (s *spares) replace(command []string, o order, keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !keep || s.waiting != nil {
		return
	}
	p, err := start(command, o)
	if err != nil {
		return // the next script reports why
	}
	s.waiting, s.order = p, o
	s.timer = time.AfterFunc(idle, func() { s.dropOne(p) })
}

// clear drops the waiting interpreter. s.mu is locked.
func (s *spares) clear() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.waiting, s.timer = nil, nil
}

// dropOne ends p if it is still waiting.
func (s *spares) dropOne(p *process) {
	s.mu.Lock()
	mine := s.waiting == p
	if mine {
		s.clear()
	}
	s.mu.Unlock()
	if mine {
		p.end()
	}
}

// drop ends the waiting interpreter.
func (s *spares) drop() {
	s.mu.Lock()
	p := s.waiting
	s.clear()
	s.mu.Unlock()
	if p != nil {
		p.end()
	}
}
