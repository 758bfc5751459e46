package document

import (
	"fmt"
	"math"

	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// Kinds of objects of a page and of segments of a path, as pdfium numbers them.
const (
	objectPath  = 2
	objectImage = 3
	segmentLine = 0
	segmentMove = 2
)

// Limits of drawings. Pages beyond them have no tables.
const (
	maxObjects  = 20_000 // objects of a page
	maxSegments = 50_000 // segments of all paths of a page
	maxThick    = 3.0    // points of a rule
	leastRule   = 6.0    // points of its length
	leastImage  = 24.0   // points of the width and the height of an image
	maxPictures = 100    // images of a page
)

// objects collects the rules and images of a page.
func (g *glyphs) objects(page int32, content *layout.Page, f *frame) error {
	count, err := g.call("FPDFPage_CountObjects", uint64(uint32(page)))
	if err != nil {
		return err
	}
	segments := 0
	for i := range uint64(min(max(count, 0), maxObjects)) {
		if i%256 == 0 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		object, err := g.fast("FPDFPage_GetObject", uint64(uint32(page)), i)
		if err != nil || uint32(object) == 0 {
			return err
		}
		kind, err := g.fast("FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		switch uint32(kind) {
		case objectPath:
			err = g.path(object, content, f, &segments)
		case objectImage:
			err = g.image(object, content, f)
		}
		if err != nil || segments > maxSegments {
			return err
		}
	}
	return nil
}

func (g *glyphs) image(object uint64, content *layout.Page, f *frame) error {
	at := uint64(g.at) // left, bottom, right, top
	ok, err := g.fast("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12)
	if err != nil || uint32(ok) == 0 {
		return err
	}
	var b [4]float64
	g.floats(b[:])
	box := f.box(b[0], b[1], b[2], b[3])
	if !isFinite(box) || box.Right-box.Left < leastImage || box.Bottom-box.Top < leastImage ||
		len(content.Pictures) >= maxPictures {
		return nil
	}
	source := fmt.Sprintf("page %d image %d", content.Number, len(content.Pictures)+1)
	content.Pictures = append(content.Pictures, layout.Picture{Box: box, Source: source})
	return nil
}

// path adds the straight segments of a path as rules.
func (g *glyphs) path(object uint64, content *layout.Page, f *frame, segments *int) error {
	count, err := g.fast("FPDFPath_CountSegments", object)
	if err != nil {
		return err
	}
	n := int(int32(uint32(count)))
	if *segments += n; n <= 0 || *segments > maxSegments {
		return nil
	}
	matrix := [6]float64{1, 0, 0, 1, 0, 0}
	if ok, err := g.fast("FPDFPageObj_GetMatrix", object, uint64(g.at)); err != nil {
		return err
	} else if uint32(ok) != 0 {
		g.floats(matrix[:])
	}
	var start, from point
	for i := range n {
		s, err := g.segment(object, i)
		if err != nil {
			return err
		}
		to := s.to.transformed(&matrix, f)
		switch s.kind {
		case segmentMove:
			start = to
		case segmentLine:
			content.Rules = addRule(content.Rules, from, to)
		}
		if s.closes {
			content.Rules = addRule(content.Rules, to, start)
		}
		from = to
	}
	return nil
}

type point struct{ x, y float64 }

// transformed returns a point of a path on the page, from its upper left corner.
func (p point) transformed(m *[6]float64, f *frame) point {
	x, y := f.point(m[0]*p.x+m[2]*p.y+m[4], m[1]*p.x+m[3]*p.y+m[5])
	return point{x, y}
}

// addRule adds a line if it is horizontal or vertical. Both long sides of a thin box are the same
// rule; tables accept it twice.
func addRule(rules []layout.Box, a, b point) []layout.Box {
	box := layout.Box{Left: min(a.x, b.x), Right: max(a.x, b.x), Top: min(a.y, b.y), Bottom: max(a.y, b.y)}
	width, height := box.Right-box.Left, box.Bottom-box.Top
	if !isFinite(box) || math.Min(width, height) > maxThick || math.Max(width, height) < leastRule {
		return rules
	}
	return append(rules, box)
}

// segment is a part of a path.
type segment struct {
	kind   int32
	to     point
	closes bool
}

func (g *glyphs) segment(path uint64, i int) (s segment, err error) {
	handle, err := g.fast("FPDFPath_GetPathSegment", path, uint64(i))
	if err != nil {
		return s, err
	}
	if _, err = g.fast("FPDFPathSegment_GetPoint", handle, uint64(g.at), uint64(g.at)+4); err != nil {
		return s, err
	}
	var xy [2]float64
	g.floats(xy[:])
	kind, err := g.fast("FPDFPathSegment_GetType", handle)
	if err != nil {
		return s, err
	}
	closes, err := g.fast("FPDFPathSegment_GetClose", handle)
	return segment{int32(uint32(kind)), point{xy[0], xy[1]}, uint32(closes) != 0}, err
}
