package enginetest

import (
	"context"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// searches forwards queries and lists them as calls of tools are listed. It may be used by many
// goroutines.
type searches struct {
	port engine.Retriever

	mu   sync.Mutex
	list []engine.Value
	cuts repetitions
}

// Retrieve forwards the query.
func (s *searches) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	s.mu.Lock()
	asked := engine.Object("component", "search", "arguments", q.Value())
	if _, again := s.cuts.take(asked, s.list); !again {
		s.list = append(s.list, asked)
	}
	s.mu.Unlock()
	return s.port.Retrieve(ctx, q)
}

// repetitions are the calls that a run will make again after a cut, and that count once: those that
// began after the last consistent point of the log. They are places in a list of calls.
type repetitions struct {
	settled int // made before that point
	open    []int
}

// cut makes the calls since that point, up to the nth, repetitions; from the start of the run
// without a point.
func (r *repetitions) cut(n int, fromStart bool) {
	if fromStart {
		r.settled = 0
	}
	r.open = nil
	for i := r.settled; i < n; i++ {
		r.open = append(r.open, i)
	}
}

// take returns the place of the call that an equal one repeats.
func (r *repetitions) take(asked engine.Value, list []engine.Value) (place int, ok bool) {
	for i, place := range r.open {
		if engine.Equal(list[place], asked) {
			r.open = slices.Delete(r.open, i, i+1)
			return place, true
		}
	}
	return 0, false
}

// made returns the queries so far.
func (s *searches) made() []engine.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// full returns the retriever with the metadata of its port, if it has any.
func (s *searches) full() engine.Retriever {
	if lister, ok := s.port.(engine.MetadataLister); ok {
		return listingSearches{s, lister}
	}
	return s
}

// listingSearches are searches of a port that lists metadata.
type listingSearches struct {
	*searches
	engine.MetadataLister
}
