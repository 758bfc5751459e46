package sqlite

import (
	"sync"

	"github.com/easel-canvas/easel/host/internal/access"
)

// views are the segments of a dataset as readers see them: to a reader, chunks that it may not read
// are dead. So statistics and results equal those of an index with only the others. Views are made
// once for each reader, until the dataset changes.
type views struct {
	mu     sync.Mutex
	byGate map[access.Gate]map[*segment]*segment
}

// mostViews bounds the readers that views are kept for. A view takes a bit for each chunk.
const mostViews = 256

// forget drops the views of a dataset that has changed.
func (v *views) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byGate = nil
}

// seen returns a segment of the dataset as a reader sees it.
func (d *dataset) seen(s *segment, g access.Gate) *segment {
	d.views.mu.Lock()
	defer d.views.mu.Unlock()
	of := d.views.byGate[g]
	if of == nil {
		if d.views.byGate == nil || len(d.views.byGate) >= mostViews {
			d.views.byGate = map[access.Gate]map[*segment]*segment{}
		}
		of = map[*segment]*segment{}
		d.views.byGate[g] = of
	}
	if of[s] == nil {
		of[s] = d.view(s, g)
	}
	return of[s]
}

// view makes a segment with the chunks dead that a gate does not open.
func (d *dataset) view(s *segment, g access.Gate) *segment {
	out := *s
	out.dead = s.dead.clone()
	opens := map[access.List]bool{} // few lists differ
	for run, document := range s.docs.values {
		list := d.access[document]
		open, known := opens[list]
		if !known {
			open = g.Open(list)
			opens[list] = open
		}
		if open {
			continue
		}
		first, end := s.docs.run(run)
		for local := first; local < end; local++ {
			if !out.dead.has(local) {
				out.dead = out.dead.with(local)
				out.kill(local)
			}
		}
	}
	return &out
}

// opens reports whether the reader of a search may read a document of a dataset.
func (s *search) opens(d *dataset, document int64) bool {
	g, gated := s.q.Gates[d.key]
	return !gated || g.Open(d.access[document])
}

// live returns the number of chunks in the search.
func (s *search) live() (n int) {
	for _, p := range s.parts {
		n += p.live
	}
	return n
}
