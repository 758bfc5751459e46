package layout

import (
	"cmp"
	"slices"
	"strings"
)

// element is a part of a page in reading order: a line, a table or an image.
type element struct {
	Box
	column  Box      // around the lines near by
	first   bool     // in its column
	line    *segment // may be nil
	table   *table   // may be nil
	image   *Picture // may be nil
	heading int      // level of a heading of the outline; 0 for none
	lines   int      // that a heading is joined of
	missing bool     // it is a heading that has no line on the page
}

// nearby is the number of lines above and below a line of which its column is made.
const nearby = 4

// order puts the contents of a page in reading order.
func (p *page) order(known *Compounds, pages int) {
	for i := range p.flows {
		markContents(p.flows[i].rows, pages)
	}
	for _, list := range p.columns(known) {
		start := len(p.elements)
		for i := 0; i < len(list); {
			it := &list[i]
			e := element{Box: it.Box, table: it.table, image: it.image, first: i == 0}
			end := i + 1
			if it.segment != nil {
				for end < len(list) && isBeside(&list[end-1], &list[end]) {
					end++
				}
				e.line = lineOf(list[i:end])
				e.Box = e.line.Box
			}
			p.elements = append(p.elements, e)
			i = end
		}
		setColumns(p.elements[start:])
	}
	p.flows, p.turned = nil, nil // elements have what is needed
}

// isBeside reports whether two pieces are of one line.
func isBeside(a, b *item) bool {
	return b.segment != nil && !a.segment.turned && !b.segment.turned && sameLine(a.Box, b.Box)
}

// joined returns the pieces of one line as one.
func joined(pieces []segment) *segment {
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b segment) int { return cmp.Compare(a.Left, b.Left) })
	l := pieces[0]
	var text strings.Builder
	text.WriteString(l.text)
	for i := range pieces[1:] {
		s := &pieces[i+1]
		if l.bold && l.lead == 0 && !s.bold {
			l.lead = int32(text.Len() + 1)
		}
		if l.mono && s.mono {
			text.WriteString(blanks(s.Left-l.Right, s))
		} else {
			text.WriteByte(' ')
		}
		text.WriteString(s.text)
		l.Box = l.union(s.Box)
		l.bold, l.mono, l.math = l.bold && s.bold, l.mono && s.mono, l.math || s.math
		l.contents = l.contents || s.contents
		l.from, l.to = min(l.from, s.from), max(l.to, s.to)
	}
	l.text = text.String()
	return &l
}

// lineOf returns the pieces of one line as one.
func lineOf(items []item) *segment {
	if len(items) == 1 {
		return items[0].segment
	}
	pieces := make([]segment, len(items))
	for i := range items {
		pieces[i] = *items[i].segment
	}
	return joined(pieces)
}

func setColumns(list []element) {
	for i := range list {
		list[i].column = list[i].Box
		for k := max(0, i-nearby); k < min(len(list), i+nearby+1); k++ {
			if list[k].line != nil {
				list[i].column = list[i].column.union(list[k].Box)
			}
		}
	}
}
