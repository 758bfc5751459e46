package write

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/signintech/gopdf"
)

// Measures of a page, in points.
const (
	margin   = 71.0 // 2.5 cm, unless set by the layout
	bodySize = 11.0 // of letters, unless set by the layout
	leading  = 1.4  // distance of lines, in sizes, unless set by the layout
	indent   = 18.0 // per level of lists and quotations
	padding  = 4.0  // inside cells
)

// headingScale are the sizes of headings, in sizes of the body.
var headingScale = [...]float64{1.8, 1.55, 1.25, 1.1, 1, 1}

// mostOperations bounds the passages and lines that a PDF is drawn with: the library holds each of
// them until the file is written, in about 1 KB.
const mostOperations = 200_000

// pdf sets blocks on pages.
func pdf(blocks []block, layout *Layout) ([]byte, error) {
	s := newSetter(layout)
	if layout.Logo != nil {
		s.logo(layout.Logo)
	}
	for i, b := range blocks {
		for _, row := range b.rows {
			for _, cell := range row {
				if n := len(plain(cell)); n > longestPDFCell {
					return nil, fmt.Errorf(
						"%w: a cell of a table has %d bytes, at most %d in a PDF",
						ErrTooLarge,
						n,
						longestPDFCell,
					)
				}
			}
		}
		s.title = i == 0 && layout.Title
		s.block(b)
		if s.err != nil {
			return nil, s.err
		}
	}
	var file bytes.Buffer
	if _, err := s.out.WriteTo(&file); err != nil {
		return nil, fmt.Errorf("write PDF: %w", err)
	}
	return file.Bytes(), s.err
}

// setter sets one block below the other.
type setter struct {
	out           *gopdf.GoPdf
	layout        *Layout
	width, height float64 // of the page
	Margins
	leading    float64 // distance of lines, in sizes
	body       float64 // size of the text
	color      Color
	pages      int
	operations int
	used       [len(faceFiles)]bool // fonts that are part of the file
	err        error
	y          float64 // of the next line's top; grows downwards from the upper margin
	title      bool    // the block is the title
}

func newSetter(layout *Layout) *setter {
	s := &setter{
		out: new(gopdf.GoPdf), layout: layout, Margins: layout.margins(), color: layout.Color,
		body: cmp.Or(layout.FontSize, bodySize), leading: cmp.Or(layout.LineSpacing, leading),
	}
	page := *gopdf.PageSizeA4
	if layout.Letter {
		page = *gopdf.PageSizeLetter
	}
	if layout.Landscape {
		page.W, page.H = page.H, page.W
	}
	s.width, s.height = page.W, page.H
	s.out.Start(gopdf.Config{PageSize: page, Unit: gopdf.UnitPT})
	s.newPage()
	return s
}

// newPage begins a page with the parts of the layout that are on each.
func (s *setter) newPage() {
	s.out.AddPage()
	s.pages++
	s.watermark()
	s.y = -s.Top * 0.6
	s.centred(s.layout.Header, s.body*0.8)
	footer := s.layout.Footer
	if s.layout.PageNumbers {
		if footer != "" {
			footer += "   "
		}
		footer += fmt.Sprint(s.pages)
	}
	s.y = s.height - s.Top - s.Bottom*0.6
	s.centred(footer, s.body*0.8)
	s.y = 0
}

// centred sets one line; the part that does not fit is left out.
func (s *setter) centred(text string, size float64) {
	if text == "" {
		return
	}
	for line := range breakLines([]span{{text: text}}, size, s.inner()) {
		s.words(line, s.Left+(s.inner()-widthOf(line))/2, size)
		return
	}
}

// logo sets a picture at the top of the text.
func (s *setter) logo(l *Logo) {
	width, height := l.size()
	if scale := min(s.inner()/width, s.room()/2/height); scale < 1 {
		width, height = width*scale, height*scale
	}
	x := s.Left
	switch l.Align {
	case "center":
		x += (s.inner() - width) / 2
	case "right":
		x += s.inner() - width
	}
	picture, err := gopdf.ImageHolderByBytes(l.png)
	if err == nil {
		err = s.out.ImageByHolder(picture, x, s.Top+s.y, &gopdf.Rect{W: width, H: height})
	}
	s.check(err)
	s.y += height + s.body
}

// watermark sets a text across the page, below all else.
func (s *setter) watermark() {
	if s.layout.Watermark == "" {
		return
	}
	set := func(size float64) []piece {
		for line := range breakLines([]span{{text: s.layout.Watermark, bold: true}}, size, 4*s.width) {
			line, _ = visual(line)
			for i := range line {
				line[i].pale = true
			}
			return line
		}
		return nil
	}
	size := min(72, 10*s.width*0.8/max(widthOf(set(10)), 1))
	s.out.Rotate(45, s.width/2, s.height/2)
	s.y = s.height/2 - s.Top - size/2
	line := set(size)
	s.words(line, (s.width-widthOf(line))/2, size)
	s.out.RotateReset()
}

func (s *setter) check(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("write PDF: %w", err)
	}
}

// room returns the height that is left on the page.
func (s *setter) room() float64 { return s.height - s.Top - s.Bottom - s.y }

// inner returns the width between the margins.
func (s *setter) inner() float64 { return s.width - s.Left - s.Right }

// headingSize returns the size of a heading, or of the title.
func (s *setter) headingSize(level int) float64 {
	if s.title {
		return cmp.Or(s.layout.TitleSize, s.body*headingScale[level-1])
	}
	return cmp.Or(s.layout.HeadingSizes[level-1], s.body*headingScale[level-1])
}

func (s *setter) block(b block) {
	left, right := s.Left+indent*float64(b.level), s.width-s.Right
	switch b.kind {
	case heading:
		size := s.headingSize(b.level)
		s.y += size * 0.6
		if s.room() < 4*size*s.leading { // a heading stands with what follows
			s.newPage()
		}
		if s.layout.Contents {
			s.out.AddOutlineWithPosition(plain(b.spans))
		}
		if s.title {
			s.color = s.layout.TitleColor
		}
		s.lines(breakLines(bold(b.spans), size, right-s.Left), s.Left, size)
		s.color = s.layout.Color
		s.y += size * 0.3
	case table:
		s.table(b)
		s.y += s.body * 0.6
	case rule:
		s.y += s.body / 2
		s.line(s.Left, s.y, right, s.y)
		s.y += s.body / 2
	case code:
		left += indent / 2
		s.lines(breakLines(b.spans, s.body-1, right-left), left, s.body-1)
		s.y += s.body * 0.6
	case item:
		if b.first {
			s.mark(b, left)
		}
		s.lines(breakLines(b.spans, s.body, right-left), left, s.body)
		s.y += s.body * 0.2
	default:
		s.lines(breakLines(b.spans, s.body, right-left), left, s.body)
		s.y += s.body * 0.6
	}
}

// mark sets the dot or the number of an item.
func (s *setter) mark(b block, left float64) {
	text := "•"
	if b.number > 0 {
		text = fmt.Sprintf("%d.", b.number)
	}
	s.need(s.body)
	for l := range breakLines([]span{{text: text}}, s.body, indent*3) {
		s.words(l, left-indent, s.body)
		return
	}
}

// need begins a new page when not even one line has room.
func (s *setter) need(size float64) {
	if s.room() < size*s.leading {
		s.newPage()
	}
}

func (s *setter) lines(lines iter.Seq[[]piece], left, size float64) {
	for l := range lines {
		if s.err != nil {
			return
		}
		s.need(size)
		x := left
		l, leftwards := visual(l)
		if leftwards {
			x = max(left, s.width-s.Right-widthOf(l))
		}
		s.words(l, x, size)
		s.y += size * s.leading
	}
}

func widthOf(line []piece) float64 {
	w := 0.0
	for _, p := range line {
		w += p.width
	}
	return w
}

// table sets rows, which break across pages between their lines.
func (s *setter) table(b block) {
	widths := columnWidths(b, s.inner(), s.body)
	height := s.body * s.leading
	for i, row := range b.rows {
		cells, most := make([][][]piece, len(widths)), 1
		for c := range row {
			spans := row[c]
			if i == 0 {
				spans = bold(spans)
			}
			cells[c] = slices.Collect(breakLines(spans, s.body, widths[c]-2*padding))
			most = max(most, len(cells[c]))
		}
		for from := 0; from < most && s.err == nil; {
			if s.room() < height+2*padding {
				s.newPage()
			}
			n := min(most-from, int((s.room()-2*padding)/height))
			s.slice(cells, widths, from, n, height)
			from += n
		}
	}
}

// slice sets n lines of every cell of a row, with the borders around them.
func (s *setter) slice(cells [][][]piece, widths []float64, from, n int, height float64) {
	top, x := s.y, s.Left
	bottom := top + float64(n)*height + 2*padding
	s.line(s.Left, top, s.Left+sum(widths), top)
	for c, lines := range cells {
		s.line(x, top, x, bottom)
		for i := from; i < min(from+n, len(lines)); i++ {
			s.y = top + padding + float64(i-from)*height
			l, leftwards := visual(lines[i])
			at := x + padding
			if leftwards {
				at = max(at, x+widths[c]-padding-widthOf(l))
			}
			s.words(l, at, s.body)
		}
		x += widths[c]
	}
	s.line(x, top, x, bottom)
	s.line(s.Left, bottom, x, bottom)
	s.y = bottom
}

// columnWidths shares the width by the longest line of each column, so that a long column leaves
// room for the others.
func columnWidths(b block, width, size float64) []float64 {
	widths := make([]float64, columns(b))
	for i := range widths {
		widths[i] = 2*padding + size
	}
	for _, row := range b.rows {
		for c, spans := range row {
			w := 2*padding + 1
			for _, s := range spans {
				w += textWidth(s.text, faceOf(withBold(s)), size)
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

// operation counts drawing operations.
func (s *setter) operation() bool {
	if s.operations++; s.operations > mostOperations && s.err == nil {
		s.err = fmt.Errorf("%w: more than %d passages in a PDF", ErrPieces, mostOperations)
	}
	return s.err == nil
}

func (s *setter) line(x1, y1, x2, y2 float64) {
	if !s.operation() {
		return
	}
	s.out.SetStrokeColor(0x99, 0x99, 0x99)
	s.out.SetLineWidth(0.5)
	s.out.Line(x1, s.Top+y1, x2, s.Top+y2)
}

// words sets a line. Neighbours in one style go out together, with the blanks between them, so that
// a reader of the file finds the original words.
func (s *setter) words(line []piece, x, size float64) {
	for i := 0; i < len(line); {
		first, text, w := line[i], "", 0.0
		for ; i < len(line) && line[i].sameStyle(first); i++ {
			text += line[i].text
			w += line[i].width
		}
		if !s.operation() {
			return
		}
		s.passage(text, first, x, w, size)
		x += w
	}
}

func (s *setter) passage(text string, style piece, x, w, size float64) {
	if !s.used[style.face] {
		s.used[style.face] = true
		s.check(s.out.AddTTFFontFromFontContainer(style.face.name(), &loaded))
	}
	s.check(s.out.SetFont(style.face.name(), "", size))
	top := s.Top + s.y
	switch {
	case style.link != "":
		s.out.SetTextColor(0x05, 0x63, 0xC1)
		s.out.AddExternalLink(style.link, x, top, w, size*1.2)
	case style.pale:
		s.out.SetTextColor(0xE4, 0xE4, 0xE4)
	default:
		s.out.SetTextColor(s.color[0], s.color[1], s.color[2])
	}
	s.out.SetXY(x, top+size)
	s.check(s.out.Text(text))
	if style.struck {
		s.line(x, s.y+size*0.75, x+w, s.y+size*0.75)
	}
}
