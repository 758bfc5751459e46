package api

import (
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
)

// streams bounds the event streams that are open at the same time. An idle stream costs its
// connection only, but a host has a bounded number of those: one key that held all of them would
// lock out everybody else.
type streams struct {
	connections int // that the host has; 0 lets all pass

	mu   sync.Mutex
	open map[string]int // by caller and by tenant
}

// streamWait is when a client should try again to open a stream.
const streamWait = 10 * time.Second

// streamBound bounds the streams of a caller or tenant.
type streamBound struct {
	name, what string
	most       int
}

// bounds are those for a principal: one caller may have half of the connections of the host, and
// a tenant three quarters.
func (s *streams) bounds(who app.Principal) [2]streamBound {
	return [2]streamBound{
		{"caller " + who.Tenant + " " + who.Caller, "this key or login", s.connections / 2},
		{"tenant " + who.Tenant, "this tenant", s.connections * 3 / 4},
	}
}

// enter takes a stream for a request.
func (s *streams) enter(r *Request) error {
	if s.connections == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bounds := s.bounds(r.Who)
	for _, b := range bounds {
		if s.open[b.name] < b.most {
			continue
		}
		f := stopped(KindTooMany, "Too many event streams are open: %s may have %d on this host. Close some.",
			b.what, b.most)
		f.After = streamWait
		return f
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	for _, b := range bounds {
		s.open[b.name]++
	}
	r.stream = true
	return nil
}

// leave returns the stream of a request, if it has one.
func (s *streams) leave(r *Request) {
	if !r.stream {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bounds(r.Who) {
		if s.open[b.name]--; s.open[b.name] == 0 {
			delete(s.open, b.name)
		}
	}
}
