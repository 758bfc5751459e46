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
}

// Retrieve forwards the query.
func (s *searches) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	s.mu.Lock()
	s.list = append(s.list, engine.Object("component", "search", "arguments", q.Value()))
	s.mu.Unlock()
	return s.port.Retrieve(ctx, q)
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
