package app

import (
	"cmp"
	"slices"
	"sync"
)

// Visitor is a principal with a canvas open.
type Visitor struct{ ID, Name string }

// Present is a visitor with the number of pages that show the canvas.
type Present struct {
	Visitor
	Pages int
}

// Presence tracks the pages that have a canvas open on this host. It may be used concurrently.
type Presence struct {
	mu       sync.Mutex
	canvases map[string]map[string]*Visitor // by canvas and page
}

// NewPresence returns a Presence without pages.
func NewPresence() *Presence { return &Presence{canvases: map[string]map[string]*Visitor{}} }

// Enter adds a page that shows a canvas until leave is called. A page that enters again, as after a
// lost connection, counts once.
func (p *Presence) Enter(canvas, page string, v Visitor) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pages := p.canvases[canvas]
	if pages == nil {
		pages = map[string]*Visitor{}
		p.canvases[canvas] = pages
	}
	entry := &v
	pages[page] = entry
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if pages[page] == entry {
			delete(pages, page)
		}
		if len(pages) == 0 && len(p.canvases[canvas]) == 0 {
			delete(p.canvases, canvas)
		}
	}
}

// Others returns the users of the other pages with an open canvas, ordered by name.
func (p *Presence) Others(canvas, page string) []Present {
	p.mu.Lock()
	defer p.mu.Unlock()
	counted := map[Visitor]int{}
	for id, v := range p.canvases[canvas] {
		if id != page {
			counted[*v]++
		}
	}
	list := make([]Present, 0, len(counted))
	for v, pages := range counted {
		list = append(list, Present{v, pages})
	}
	slices.SortFunc(list, func(a, b Present) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return list
}
