package document

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// Limits of the bookmarks of a file. Hostile files have rings and millions of them.
const (
	maxBookmarks     = 20_000
	deepestBookmark  = 20
	titleBytes       = 2048 // of a title in UTF-16; a longer one has no place in a text
	bookmarkEvery    = 256  // bookmarks between looks at the deadline
	locationBytes    = 24   // of three truth values and three numbers
	locationHasY     = 4
	locationY        = 16
	terminatorLength = 2
)

// bookmark is an entry of the outline of a file.
type bookmark struct {
	level int // from 1
	title string
	page  int     // from 1; 0 if it leads to none
	x, y  float64 // in the coordinates of the page; y is not a number where the destination has none
}

// bookmarks reads the outline in the order of the file.
func (g *glyphs) bookmarks(document int32) ([]bookmark, error) {
	r := bookmarkReader{glyphs: g, document: uint64(uint32(document)), seen: map[uint64]bool{}}
	return r.out, r.below(0, 1)
}

type bookmarkReader struct {
	*glyphs
	document uint64
	seen     map[uint64]bool // handles, which occur again in rings
	out      []bookmark
}

// below adds the entries below one; 0 is the root.
func (r *bookmarkReader) below(parent uint64, level int) error {
	mark, err := r.fast("FPDFBookmark_GetFirstChild", r.document, parent)
	for ; err == nil && uint32(mark) != 0; mark, err = r.fast("FPDFBookmark_GetNextSibling", r.document, mark) {
		if len(r.seen) >= maxBookmarks || r.seen[mark] {
			return nil
		}
		if len(r.seen)%bookmarkEvery == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		r.seen[mark] = true
		b, err := r.read(mark)
		if err != nil {
			return err
		}
		b.level = level
		if b.title != "" {
			r.out = append(r.out, b)
		}
		if level < deepestBookmark {
			if err := r.below(mark, level+1); err != nil {
				return err
			}
		}
	}
	return err
}

func (r *bookmarkReader) read(mark uint64) (b bookmark, err error) {
	n, err := r.fast("FPDFBookmark_GetTitle", mark, uint64(r.name), titleBytes)
	if err != nil {
		return b, err
	}
	if size := uint32(n); size > terminatorLength && size <= titleBytes {
		if data, ok := r.module.Memory().Read(r.name, size-terminatorLength); ok {
			b.title = strings.Join(strings.Fields(utf16Text(data)), " ")
		}
	}
	b.y = math.NaN()
	place, err := r.fast("FPDFBookmark_GetDest", r.document, mark)
	if err != nil {
		return b, err
	}
	if uint32(place) == 0 {
		action, err := r.fast("FPDFBookmark_GetAction", mark)
		if err != nil || uint32(action) == 0 {
			return b, err
		}
		if place, err = r.fast("FPDFAction_GetDest", r.document, action); err != nil || uint32(place) == 0 {
			return b, err
		}
	}
	page, err := r.fast("FPDFDest_GetDestPageIndex", r.document, place)
	if err != nil {
		return b, err
	}
	b.page = int(int32(uint32(page))) + 1
	at := uint64(r.at)
	ok, err := r.fast("FPDFDest_GetLocationInPage", place, at, at+4, at+8, at+12, at+16, at+20)
	if err != nil || uint32(ok) == 0 {
		return b, err
	}
	if data, ok := r.module.Memory().Read(r.at, locationBytes); ok &&
		binary.LittleEndian.Uint32(data[locationHasY:]) != 0 {
		b.x = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[locationY-4:])))
		b.y = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[locationY:])))
	}
	return b, nil
}

// entries are bookmarks whose places are known page by page.
type entries struct {
	list  []layout.Entry
	marks []bookmark
	pages map[int][]int // indexes by page
}

func newEntries(marks []bookmark) *entries {
	e := &entries{marks: marks, list: make([]layout.Entry, len(marks)), pages: map[int][]int{}}
	for i, m := range marks {
		e.list[i] = layout.Entry{Level: m.level, Title: m.title, Page: m.page, Top: unknownPlace}
		e.pages[m.page] = append(e.pages[m.page], i)
	}
	return e
}

// unknownPlace is the top of a destination that names no height.
const unknownPlace = -1

// place sets the places on a page.
func (e *entries) place(page int, f *frame) {
	for _, i := range e.pages[page] {
		if x, y := e.marks[i].x, e.marks[i].y; math.Abs(x)+math.Abs(y) < farPlace { // false for NaN
			_, top := f.point(x, y)
			e.list[i].Top = max(top, 0)
		}
	}
}

// farPlace bounds the coordinates of destinations.
const farPlace = 1e6
