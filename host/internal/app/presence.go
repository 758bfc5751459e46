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
	canvases map[string]*openCanvas
	entered  int // pages that have entered any canvas
}

// openCanvas is a canvas that pages show. What pages ask for is counted once after a change: a
// count for each page would grow with the square of their number.
type openCanvas struct {
	pages   map[string]*Visitor
	changes int       // number of the last change, never that of an earlier openCanvas
	sorted  []Present // nil after a change
}

// NewPresence returns a Presence without pages.
func NewPresence() *Presence { return &Presence{canvases: map[string]*openCanvas{}} }

// Enter adds a page that shows a canvas until leave is called. A page that enters again, as after a
// lost connection, counts once.
func (p *Presence) Enter(canvas, page string, v Visitor) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.canvases[canvas]
	if c == nil {
		c = &openCanvas{pages: map[string]*Visitor{}}
		p.canvases[canvas] = c
	}
	entry := &v
	c.pages[page] = entry
	p.change(c)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.pages[page] != entry {
			return
		}
		delete(c.pages, page)
		p.change(c)
		if len(c.pages) == 0 {
			delete(p.canvases, canvas)
		}
	}
}

// change notes that the visitors of a canvas have changed. The caller holds mu.
func (p *Presence) change(c *openCanvas) {
	p.entered++
	c.changes, c.sorted = p.entered, nil
}

// changes returns the number of the last change of the visitors of a canvas, 0 without any.
func (p *Presence) changes(canvas string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.canvases[canvas]; c != nil {
		return c.changes
	}
	return 0
}

// Others returns the users of the other pages with an open canvas, ordered by name.
func (p *Presence) Others(canvas, page string) []Present {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.canvases[canvas]
	if c == nil {
		return []Present{}
	}
	if c.sorted == nil {
		c.count()
	}
	self := c.pages[page]
	if self == nil {
		return slices.Clone(c.sorted)
	}
	list := make([]Present, 0, len(c.sorted))
	for _, v := range c.sorted {
		if v.Visitor == *self {
			v.Pages--
		}
		if v.Pages > 0 {
			list = append(list, v)
		}
	}
	return list
}

// count counts the pages of each visitor.
func (c *openCanvas) count() {
	counted := map[Visitor]int{}
	for _, v := range c.pages {
		counted[*v]++
	}
	c.sorted = make([]Present, 0, len(counted))
	for v, pages := range counted {
		c.sorted = append(c.sorted, Present{v, pages})
	}
	slices.SortFunc(c.sorted, func(a, b Present) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}
