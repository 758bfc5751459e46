package write

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Measures of a page, in points: A4 with 2.5 cm around.
const (
	pageWidth, pageHeight = 595.0, 842.0
	margin                = 71.0
	bodySize              = 11.0 // of letters
	leading               = 1.4  // distance of lines, in sizes
	indent                = 18.0 // per level of lists and quotations
	padding               = 4.0  // inside cells
)

var headingSizes = [...]float64{20, 17, 14, 12, 11, 11}

// pdf sets blocks on pages.
func pdf(blocks []block) ([]byte, error) {
	s := &setter{}
	s.newSheet()
	for _, b := range blocks {
		for _, row := range b.rows {
			for _, cell := range row {
				if n := len(plain(cell)); n > longestPDFCell {
					return nil, fmt.Errorf("%w: a cell of a table has %d bytes, at most %d in a PDF", ErrTooLarge, n, longestPDFCell)
				}
			}
		}
		s.block(b)
	}
	return s.file()
}

// setter sets one block below the other.
type setter struct {
	sheets []*sheet
	err    error   // of packing a page
	y      float64 // of the next line's top; grows downwards from the upper margin
}

// sheet is a page: its drawing operations, and the links on it. Both are packed when the page is
// full.
type sheet struct {
	ops     strings.Builder
	links   []linkArea
	content string // ops as a stream
	notes   string // links as an entry of the page
}

// pack replaces what is on a page by what is written of it, which is a small part of that.
func (p *sheet) pack() error {
	content, err := deflate(p.ops.String())
	p.content, p.notes = content, annotations(p.links)
	p.ops, p.links = strings.Builder{}, nil
	return err
}

type linkArea struct {
	x, y, w, h float64
	address    string
}

func (s *setter) sheet() *sheet { return s.sheets[len(s.sheets)-1] }

func (s *setter) newSheet() {
	s.endSheet()
	s.sheets = append(s.sheets, &sheet{})
	s.y = 0
}

// endSheet packs the last page.
func (s *setter) endSheet() {
	if len(s.sheets) > 0 {
		s.err = errors.Join(s.err, s.sheet().pack())
	}
}

// room is the height that is left on the page.
func (s *setter) room() float64 { return pageHeight - 2*margin - s.y }

func (s *setter) block(b block) {
	left := margin + indent*float64(b.level)
	switch b.kind {
	case heading:
		size := headingSizes[b.level-1]
		s.y += size * 0.6
		if s.room() < 4*size*leading { // a heading stands with what follows
			s.newSheet()
		}
		s.lines(breakLines(bold(b.spans), size, pageWidth-2*margin), margin, size)
		s.y += size * 0.3
	case table:
		s.table(b)
		s.y += bodySize * 0.6
	case rule:
		s.y += bodySize / 2
		s.line(margin, s.y, pageWidth-margin, s.y)
		s.y += bodySize / 2
	case code:
		left += indent / 2
		s.lines(breakLines(b.spans, bodySize-1, pageWidth-margin-left), left, bodySize-1)
		s.y += bodySize * 0.6
	case item:
		if b.first {
			mark := "•"
			if b.number > 0 {
				mark = fmt.Sprintf("%d.", b.number)
			}
			s.need(bodySize)
			for l := range breakLines([]span{{text: mark}}, bodySize, indent*3) {
				s.words(l, left-indent, bodySize)
				break
			}
		}
		s.lines(breakLines(b.spans, bodySize, pageWidth-margin-left), left, bodySize)
		s.y += bodySize * 0.2
	default:
		s.lines(breakLines(b.spans, bodySize, pageWidth-margin-left), left, bodySize)
		s.y += bodySize * 0.6
	}
}

// need begins a new page when not even one line has room.
func (s *setter) need(size float64) {
	if s.room() < size*leading {
		s.newSheet()
	}
}

func (s *setter) lines(lines iter.Seq[[]piece], left, size float64) {
	for l := range lines {
		s.need(size)
		s.words(l, left, size)
		s.y += size * leading
	}
}

// table sets rows, which break across pages between their lines.
func (s *setter) table(b block) {
	widths := columnWidths(b, pageWidth-2*margin)
	height := bodySize * leading
	for i, row := range b.rows {
		cells, most := make([][][]piece, len(widths)), 1
		for c := range row {
			spans := row[c]
			if i == 0 {
				spans = bold(spans)
			}
			cells[c] = slices.Collect(breakLines(spans, bodySize, widths[c]-2*padding))
			most = max(most, len(cells[c]))
		}
		for from := 0; from < most; {
			if s.room() < height+2*padding {
				s.newSheet()
			}
			n := min(most-from, int((s.room()-2*padding)/height))
			s.slice(cells, widths, from, n, height)
			from += n
		}
	}
}

// slice sets n lines of every cell of a row, with the borders around them.
func (s *setter) slice(cells [][][]piece, widths []float64, from, n int, height float64) {
	top, x := s.y, margin
	bottom := top + float64(n)*height + 2*padding
	s.line(margin, top, margin+sum(widths), top)
	for c, lines := range cells {
		s.line(x, top, x, bottom)
		for i := from; i < min(from+n, len(lines)); i++ {
			s.y = top + padding + float64(i-from)*height
			s.words(lines[i], x+padding, bodySize)
		}
		x += widths[c]
	}
	s.line(x, top, x, bottom)
	s.line(margin, bottom, x, bottom)
	s.y = bottom
}

// columnWidths shares the width by the longest line of each column, so that no column is lost
// beside a long one.
func columnWidths(b block, width float64) []float64 {
	widths := make([]float64, columns(b))
	for i := range widths {
		widths[i] = 2*padding + bodySize
	}
	for _, row := range b.rows {
		for c, spans := range row {
			w := 2*padding + 1
			for _, s := range spans {
				w += textWidth(s.text, faceOf(withBold(s)), bodySize)
			}
			widths[c] = max(widths[c], min(w, width/2))
		}
	}
	if total := sum(widths); total > width {
		for i := range widths {
			widths[i] *= width / total
		}
	}
	return widths
}

func withBold(s span) span {
	s.bold = true
	return s
}

func sum(list []float64) float64 {
	t := 0.0
	for _, v := range list {
		t += v
	}
	return t
}

func (s *setter) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.sheet().ops, "0.6 G 0.5 w %.2f %.2f m %.2f %.2f l S\n", x1, top(y1), x2, top(y2))
}

// top turns a distance from the upper margin into a height above the foot of the page.
func top(y float64) float64 { return pageHeight - margin - y }

// words sets a line. Neighbours in one style go out together, with the blanks between them, so that
// a reader of the file finds the words as they were.
func (s *setter) words(line []piece, x, size float64) {
	page, baseline := s.sheet(), top(s.y)-size
	for i := 0; i < len(line); {
		first, text, w := line[i], "", 0.0
		for ; i < len(line) && line[i].face == first.face && line[i].link == first.link && line[i].struck == first.struck; i++ {
			text += line[i].text
			w += line[i].width
		}
		color := "0 g"
		if first.link != "" {
			color = "0.02 0.39 0.76 rg"
			page.links = append(page.links, linkArea{x, baseline - size*0.2, w, size * 1.2, first.link})
		}
		fmt.Fprintf(&page.ops, "BT %s /F%d %.1f Tf %.2f %.2f Td %s Tj ET\n", color, first.face, size, x, baseline, encode(text, first.face))
		if first.struck {
			s.line(x, s.y+size*0.75, x+w, s.y+size*0.75)
		}
		x += w
	}
}
