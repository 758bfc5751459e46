package layout

import (
	"cmp"
	"slices"
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

// edgeRow is the pieces of a line of a page, whatever flow they are in.
type edgeRow []*segment

// dropEdges marks the headers and footers: lines at the edge that repeat on other pages or are the
// title of the section that the page is in, apart from the text.
func (d *Document) dropEdges(body float64) {
	counts := repeated{}
	titles := d.titlePages()
	rows := make([][2][]edgeRow, len(d.pages))
	for i := range d.pages {
		rows[i][0], rows[i][1] = d.pages[i].edgeRows(true), d.pages[i].edgeRows(false)
		for k, side := range rows[i] {
			for _, row := range side[:min(len(side), edgeRows)] {
				if d.pages[i].isAtEdge(row, k == 0) {
					counts.add(row)
				}
			}
		}
	}
	least := max(2, min(leastPages, len(d.pages)))
	for i := range d.pages {
		for side, list := range rows[i] {
			list = list[:d.pages[i].edgeSize(list, side == 0, func(row edgeRow) bool {
				return counts.count(row) >= least ||
					row[0].size < larger*body && isRunning(row, titles, d.pages[i].number)
			})]
			for _, row := range list {
				for _, s := range row {
					s.dropped = true
				}
			}
		}
	}
}

// titlePages returns the first page of each title of the outline.
func (d *Document) titlePages() map[string]int {
	out := map[string]int{}
	for i := range d.Outline {
		e := &d.Outline[i]
		k := titleKey(unnumbered(e.Title))
		if first, ok := out[k]; k != "" && e.Page > 0 && (!ok || e.Page < first) {
			out[k] = e.Page
		}
	}
	return out
}

// isRunning reports whether a line is the title of a section, with a page number or on a page
// behind the one on which the section begins.
func isRunning(row edgeRow, titles map[string]int, page int) bool {
	isNumber := func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) }
	for _, s := range row {
		behind := strings.TrimRightFunc(s.text, isNumber)
		for _, t := range [...]string{s.text, behind, strings.TrimLeftFunc(behind, isNumber)} {
			first, ok := titles[titleKey(unnumbered(t))]
			if ok && (first < page || first == page && (len(row) > 1 || t == behind && t != s.text)) {
				return true
			}
		}
	}
	return false
}

// edgeRows returns the lines at the top or the bottom of a page and the one behind them, from the
// edge inwards.
func (p *page) edgeRows(top bool) (out []edgeRow) {
	var list []*segment
	for f := range p.flows {
		rows := p.flows[f].rows
		for i := range rows {
			row := rows[i]
			if !top {
				row = rows[len(rows)-1-i]
			}
			for k := range row {
				list = append(list, &row[k])
			}
			if i > 4*edgeRows {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *segment) int {
		if top {
			return cmp.Compare(a.middle(), b.middle())
		}
		return cmp.Compare(b.middle(), a.middle())
	})
	for _, s := range list {
		if n := len(out); n > 0 && sameLine(out[n-1][0].Box, s.Box) {
			out[n-1] = append(out[n-1], s)
			continue
		}
		if len(out) > edgeRows {
			break
		}
		out = append(out, edgeRow{s})
	}
	for _, row := range out {
		slices.SortStableFunc(row, func(a, b *segment) int { return cmp.Compare(a.Left, b.Left) })
	}
	return out
}

// isAtEdge reports whether a line is in the range of headers or footers.
func (p *page) isAtEdge(row edgeRow, top bool) bool {
	y := row[0].middle()
	return top && y <= edge*p.height || !top && y >= (1-edge)*p.height
}

// edgeSize returns the number of lines at an edge that are a header or a footer.
func (p *page) edgeSize(rows []edgeRow, top bool, repeats func(edgeRow) bool) (n int) {
	for n < min(len(rows), edgeRows) && p.isAtEdge(rows[n], top) && repeats(rows[n]) {
		n++
	}
	for n > 0 && n < len(rows) && !isApart(rows[n-1], rows[n], top) {
		n-- // it belongs to the text
	}
	return n
}

// lineText returns the text of a line without its blanks and numbers, Roman ones included.
func lineText(row edgeRow) string {
	var b strings.Builder
	for _, s := range row {
		for word := range strings.FieldsSeq(s.text) {
			if strings.Trim(word, "ivxlc") == "" {
				continue
			}
			b.WriteString(strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) {
					return -1
				}
				return r
			}, word))
		}
	}
	return b.String()
}

func (r repeated) add(row edgeRow) {
	r[edgeLine{lineText(row), int(row[0].Top / edgeShift)}]++
}

// count returns the number of pages that have a line at the same position or close to it.
func (r repeated) count(row edgeRow) (n int) {
	text, at := lineText(row), int(row[0].Top/edgeShift)
	for shift := -1; shift <= 1; shift++ {
		n += r[edgeLine{text, at + shift}]
	}
	return n
}

// isApart reports whether there is a gap between a line at an edge and the next one.
func isApart(outer, inner edgeRow, top bool) bool {
	if !top {
		return outer[0].Top-inner[0].Bottom >= edgeGap*outer[0].height()
	}
	return inner[0].Top-outer[0].Bottom >= edgeGap*outer[0].height()
}
