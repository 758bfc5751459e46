package layout

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// flow is a part of a page that the file writes from top to bottom, such as a column.
type flow struct {
	rows [][]segment // lines from top to bottom, each from left to right
}

// Limits of flows.
const (
	flowJump   = 0.1 // of the height of a page, upwards to where the next flow begins
	flowWords  = 30  // of a flow that may be a column
	maxFlows   = 16  // of a page that is written in columns; one with more is written in disorder
	flowShare  = 0.6 // of the words that are in flows of flowWords
	mixedWords = 0.1 // of the words of a flow that may stand inside another one
)

// flows divides the words of a page where the file continues further up, as it does behind the end
// of a column. The result is one flow of all words unless the parts stand next to or below each
// other.
func flows(words []word, height float64) []flow {
	var parts [][]word
	start := 0
	for i := 1; i < len(words); i++ {
		if words[i].Base < words[i-1].Base-flowJump*height {
			parts = append(parts, words[start:i])
			start = i
		}
	}
	parts = append(parts, words[start:])
	if len(words) == 0 || !standApart(parts, len(words)) {
		return []flow{{rows: lines(words)}}
	}
	return placed(parts)
}

// standApart reports whether parts of a page are columns and the text around them.
func standApart(parts [][]word, all int) bool {
	if len(parts) < 2 || len(parts) > maxFlows {
		return len(parts) == 1
	}
	inLarge := 0
	boxes := make([]Box, len(parts))
	for i, part := range parts {
		boxes[i] = textBox(part)
		if len(part) >= flowWords {
			inLarge += len(part)
		}
	}
	if float64(inLarge) < flowShare*float64(all) {
		return false
	}
	for i := range parts {
		for k := range i {
			if isInside(parts[i], boxes[k]) && isInside(parts[k], boxes[i]) {
				return false // they are written over each other
			}
		}
	}
	return true
}

// textBox returns the box of words without the outermost, which may be a title above columns.
func textBox(words []word) Box {
	const outer = 50 // one of so many at each side
	side := func(of func(w *word) float64) []float64 {
		out := make([]float64, len(words))
		for i := range words {
			out[i] = of(&words[i])
		}
		slices.Sort(out)
		return out
	}
	n := len(words) / outer
	last := len(words) - 1 - n
	return Box{
		Left:   side(func(w *word) float64 { return w.Left })[n],
		Right:  side(func(w *word) float64 { return w.Right })[last],
		Top:    side(func(w *word) float64 { return w.Top })[n],
		Bottom: side(func(w *word) float64 { return w.Bottom })[last],
	}
}

// isInside reports whether more than a few words stand in a box.
func isInside(words []word, b Box) bool {
	n := 0
	for i := range words {
		x, y := (words[i].Left+words[i].Right)/2, words[i].middle()
		if x > b.Left && x < b.Right && y > b.Top && y < b.Bottom {
			n++
		}
	}
	return float64(n) > mixedWords*float64(len(words))
}

// placed returns parts as flows in reading order: that of the file, but a part above another one
// comes first, wherever the file has it.
func placed(parts [][]word) []flow {
	type part struct {
		words []word
		box   Box
	}
	var list []part
	for _, words := range parts {
		p := part{words, textBox(words)}
		at := len(list)
		for i := range list {
			o := &list[i].box
			if p.box.Bottom <= o.Top+tolerance && (overlapsWidth(p.box, *o) || len(list[i].words) < flowWords) {
				at = i
				break
			}
		}
		list = slices.Insert(list, at, p)
	}
	out := make([]flow, len(list))
	for i := range list {
		out[i].rows = lines(list[i].words)
	}
	return out
}

// item is an element of a page to be ordered: a piece of a line, a table or an image.
type item struct {
	Box
	from    int32
	segment *segment
	table   *table
	image   *Picture
}

// items returns the contents of a flow from top to bottom.
func (f *flow) items(p *page, known *Compounds) []item {
	var out []item
	aligned, rest := alignedTables(f.rows, p.rules, known)
	for _, row := range rest {
		for s := range row {
			if !row[s].dropped {
				out = append(out, item{Box: row[s].Box, from: row[s].from, segment: &row[s]})
			}
		}
	}
	for i := range aligned {
		out = append(out, item{Box: aligned[i].Box, from: aligned[i].from, table: &aligned[i]})
	}
	slices.SortStableFunc(out, byTop)
	return out
}

func byTop(a, b item) int { return cmp.Compare(a.Top, b.Top) }

// columns returns the items of a page by columns in reading order.
func (p *page) columns(known *Compounds) [][]item {
	loose := p.loose()
	var out [][]item
	for i := range p.flows {
		list := p.flows[i].items(p, known)
		if len(p.flows) == 1 && !followsFile(list) {
			list = append(list, loose...)
			slices.SortStableFunc(list, byTop)
			return columns(list, 0)
		}
		var tables []item
		list = slices.DeleteFunc(list, func(it item) bool {
			if it.table != nil {
				tables = append(tables, it)
			}
			return it.table != nil
		})
		var parts [][]item
		if followsFile(list) {
			parts = inFileOrder(list)
		} else {
			parts = columns(list, 0)
		}
		parts = putAside(parts, tables)
		if len(parts) != 1 || !insert(out, parts[0]) {
			out = append(out, parts...)
		}
	}
	out = putAside(out, loose)
	return slices.DeleteFunc(out, func(l []item) bool { return len(l) == 0 })
}

// loose returns the items that are placed by their position and not by the order of the file, from
// top to bottom: many programs write them at the end of a page.
func (p *page) loose() (out []item) {
	for i := range p.tables {
		out = append(out, item{Box: p.tables[i].Box, from: p.tables[i].from, table: &p.tables[i]})
	}
	for i := range p.turned {
		out = append(out, item{Box: p.turned[i].Box, from: p.turned[i].from, segment: &p.turned[i]})
	}
	for i := range p.images {
		out = append(out, item{Box: p.images[i].Box, image: &p.images[i]})
	}
	slices.SortStableFunc(out, byTop)
	return out
}

// maxAside bounds the comparisons of items that are put aside. A page with more is ordered from top
// to bottom.
const maxAside = 4_000_000

// putAside puts each item of loose before the first one below it, or else after the last one above
// it.
func putAside(lists [][]item, loose []item) [][]item {
	n := len(loose)
	for _, list := range lists {
		n += len(list)
	}
	if n*len(loose) > maxAside {
		all := slices.Concat(append(lists, loose)...)
		slices.SortStableFunc(all, byTop)
		return columns(all, 0)
	}
	for _, it := range loose {
		lists = putOneAside(lists, it)
	}
	return lists
}

func putOneAside(lists [][]item, it item) [][]item {
	type spot struct{ list, at int }
	below, above := spot{-1, 0}, spot{-1, 0}
	for i, list := range lists {
		for k := range list {
			o := &list[k]
			switch {
			case !overlapsWidth(o.Box, it.Box):
			case o.middle() >= it.middle():
				if below.list < 0 || o.Top < lists[below.list][below.at].Top {
					below = spot{i, k}
				}
			case above.list < 0 || o.Bottom >= lists[above.list][above.at].Bottom:
				above = spot{i, k}
			}
		}
	}
	switch {
	case below.list >= 0:
		lists[below.list] = slices.Insert(slices.Clone(lists[below.list]), below.at, it)
	case above.list >= 0:
		lists[above.list] = slices.Insert(slices.Clone(lists[above.list]), above.at+1, it)
	default:
		lists = append(lists, []item{it})
	}
	return lists
}

// insert puts items into a gap of a column that is high enough for them: programs write frames and
// the texts of drawings at the end of a page. It reports whether it found one.
func insert(lists [][]item, part []item) bool {
	if len(part) == 0 {
		return false
	}
	box := boxOf(part)
	for i, list := range lists {
		for k := 1; k < len(list); k++ {
			above, below := &list[k-1], &list[k]
			if above.Bottom <= box.Top+tolerance && below.Top >= box.Bottom-tolerance &&
				overlapsWidth(above.Box, box) && overlapsWidth(below.Box, box) {
				lists[i] = slices.Insert(slices.Clone(list), k, part...)
				return true
			}
		}
	}
	return false
}

func boxOf(items []item) Box {
	box := items[0].Box
	for _, it := range items[1:] {
		box = box.union(it.Box)
	}
	return box
}

func overlapsWidth(a, b Box) bool { return a.Left < b.Right && b.Left < a.Right }

// Limits of the order of the file, as parts of the pieces of lines.
const (
	oddOrder   = 0.1  // that go on further up and not further right
	acrossRows = 0.25 // that continue next to the one before
)

// followsFile reports whether the file writes items as they are read. It does not where it goes up
// without reason, or writes two columns of running text line by line.
func followsFile(items []item) bool {
	list := make([]*segment, 0, len(items))
	for _, it := range items {
		if it.segment != nil && !it.segment.turned {
			list = append(list, it.segment)
		}
	}
	slices.SortStableFunc(list, func(a, b *segment) int { return cmp.Compare(a.from, b.from) })
	odd, across, before, behind := 0, 0, 0, 0
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		switch {
		case sameLine(a.Box, b.Box) && b.Left >= a.Right-tolerance:
			across++
			before += utf8.RuneCountInString(a.text)
			behind += utf8.RuneCountInString(b.text)
		case b.base < a.base && b.Left < a.Right-tolerance:
			odd++
		}
	}
	pairs := float64(len(list) - 1)
	if float64(odd) > oddOrder*pairs {
		return false
	}
	prose := before > proseLetters*across && behind > proseLetters*across
	return float64(across) <= acrossRows*pairs || !prose
}

// inFileOrder returns items in the order of the file, a list for each column.
func inFileOrder(list []item) [][]item {
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.from, b.from) })
	var out [][]item
	start := 0
	for i := 1; i < len(list); i++ {
		before, it := &list[i-1], &list[i]
		if it.Bottom < before.Top && !sameLine(it.Box, before.Box) {
			out = append(out, list[start:i])
			start = i
		}
	}
	return append(out, list[start:])
}

// sameLine reports whether a word is on the line of a box.
func sameLine(line, word Box) bool {
	const most = 0.65 // of the lower one's height
	overlap := min(line.Bottom, word.Bottom) - max(line.Top, word.Top)
	return overlap > most*min(line.height(), word.height())
}
