package layout

import (
	"strings"
	"unicode"
)

// Limits of headers and footers.
const (
	edge       = 0.13 // of the height of a page
	edgeRows   = 3    // lines
	edgeGap    = 0.6  // to the text, in heights
	edgeShift  = 4.0  // points between the places on different pages
	leastPages = 3    // with the same line, of a document with more pages
)

// repeated counts the pages with a line at a place.
type repeated map[edgeLine]int

// edgeLine is a line at the edge of a page, with numbers left out.
type edgeLine struct {
	text   string
	height int // of its place, in steps of edgeShift
}

// dropEdges drops the headers and footers: lines at the edge that repeat on other pages, apart from
// the text.
func (d *Document) dropEdges() {
	if len(d.pages) < 2 {
		return
	}
	counts := repeated{}
	for i := range d.pages {
		p := &d.pages[i]
		for _, row := range p.edgeRows(true) {
			counts.add(row)
		}
		for _, row := range p.edgeRows(false) {
			counts.add(row)
		}
	}
	least := min(leastPages, len(d.pages))
	for i := range d.pages {
		p := &d.pages[i]
		p.rows = p.rows[p.repeatedRows(counts, true, least):]
		p.rows = p.rows[:len(p.rows)-p.repeatedRows(counts, false, least)]
	}
}

// edgeRows returns the lines at the top or the bottom of a page, from the edge inwards.
func (p *page) edgeRows(top bool) (out [][]segment) {
	for i := range min(edgeRows, len(p.rows)) {
		row := p.rows[i]
		if !top {
			row = p.rows[len(p.rows)-1-i]
		}
		if y := row[0].middle(); top && y > edge*p.height || !top && y < (1-edge)*p.height {
			break
		}
		out = append(out, row)
	}
	return out
}

func lineText(row []segment) string {
	var b strings.Builder
	for _, s := range row {
		for _, r := range s.text {
			switch {
			case unicode.IsDigit(r):
				if !strings.HasSuffix(b.String(), "#") {
					b.WriteByte('#')
				}
			case !unicode.IsSpace(r):
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func (r repeated) add(row []segment) {
	r[edgeLine{lineText(row), int(row[0].Top / edgeShift)}]++
}

// count returns the number of pages that have a line at the same position or close to it.
func (r repeated) count(row []segment) (n int) {
	text, at := lineText(row), int(row[0].Top/edgeShift)
	for shift := -1; shift <= 1; shift++ {
		n += r[edgeLine{text, at + shift}]
	}
	return n
}

// repeatedRows returns the number of lines at an edge that are a header or a footer.
func (p *page) repeatedRows(counts repeated, top bool, least int) (n int) {
	for _, row := range p.edgeRows(top) {
		if counts.count(row) < least {
			break
		}
		n++
	}
	for n > 0 && n < len(p.rows) && !p.isApart(n, top) {
		n-- // it belongs to the text
	}
	return n
}

// isApart reports whether there is a gap between the first n lines at an edge and the others.
func (p *page) isApart(n int, top bool) bool {
	outer, inner := p.rows[n-1][0], p.rows[n][0]
	if !top {
		outer, inner = p.rows[len(p.rows)-n][0], p.rows[len(p.rows)-n-1][0]
		return outer.Top-inner.Bottom >= edgeGap*outer.height()
	}
	return inner.Top-outer.Bottom >= edgeGap*outer.height()
}
