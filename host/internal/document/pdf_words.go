package document

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// frame turns the coordinates of a page, which begin at its lower left corner and ignore its
// rotation, into points from the upper left corner of the displayed page.
type frame struct {
	rotation      int32 // quarter turns clockwise
	left, bottom  float64
	width, height float64 // before the rotation
}

// frame reads the frame of a page.
func (g *glyphs) frame(page int32) (f frame, err error) {
	rotation, err := g.fast("FPDFPage_GetRotation", uint64(uint32(page)))
	if err != nil {
		return f, err
	}
	f.rotation = int32(uint32(rotation)) & 3
	size, err := g.points(page)
	if err != nil {
		return f, err
	}
	if f.width, f.height = size[0], size[1]; f.rotation&1 == 1 {
		f.width, f.height = size[1], size[0]
	}
	ok, err := g.fast("FPDF_GetPageBoundingBox", uint64(uint32(page)), uint64(g.at))
	if err != nil || uint32(ok) == 0 {
		return f, err
	}
	var box [4]float64 // left, top, right, bottom
	g.floats(box[:])
	if isFinite(layout.Box{Left: box[0], Bottom: box[3]}) {
		f.left, f.bottom = box[0], box[3]
	}
	return f, nil
}

// point returns where a point of the page is shown.
func (f *frame) point(x, y float64) (right, down float64) {
	x, y = x-f.left, y-f.bottom
	switch f.rotation {
	case 1:
		return y, x
	case 2:
		return f.width - x, y
	case 3:
		return f.height - y, f.width - x
	}
	return x, f.height - y
}

// box returns where a box of the page is shown.
func (f *frame) box(left, bottom, right, top float64) layout.Box {
	x1, y1 := f.point(left, bottom)
	x2, y2 := f.point(right, top)
	return layout.Box{Left: min(x1, x2), Right: max(x1, x2), Top: min(y1, y2), Bottom: max(y1, y2)}
}

// shown returns the size of the displayed page.
func (f *frame) shown() (width, height float64) {
	if f.rotation&1 == 1 {
		return f.height, f.width
	}
	return f.width, f.height
}

// words collects the characters of a page as words.
func (g *glyphs) words(text int32, content *layout.Page, f *frame) error {
	count, err := g.call("FPDFText_CountChars", uint64(uint32(text)))
	switch {
	case err != nil:
		return err
	case int(count) > g.limits.Block/blockOverhead*8:
		return exceeded(LimitBlock, g.limits.Block/blockOverhead*8, "characters on one page")
	}
	w := wordMaker{page: content}
	runs := textRuns{
		glyphs: g, frame: f, fonts: map[uint64]typeface{}, sizes: g.function("FPDFText_GetFontSize"),
		matrices: g.function("FPDFText_GetMatrix"), objects: g.function("FPDFText_GetTextObject"),
		origins: g.function("FPDFText_GetCharOrigin"),
	}
	characters, err := g.characters(text, count)
	if err != nil {
		return err
	}
	boxes := g.function("FPDFText_GetLooseCharBox")
	width := uint64(0)
	for i := uint64(0); i < characters.count; i += width {
		if i%1024 < 2 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		r, n, err := characters.at(i)
		if err != nil {
			return err
		}
		width = n
		if r == 0x02 || r == 0xFFFE { // a hyphen at the end of a line
			r = '-'
		}
		if r <= ' ' || unicode.IsSpace(r) || unicode.IsControl(r) {
			w.flush()
			continue
		}
		found, err := boxes.call(uint64(uint32(text)), i, uint64(g.at))
		if err != nil {
			return err
		}
		var box [4]float64 // left, top, right, bottom
		if g.floats(box[:]); uint32(found) == 0 {
			continue
		}
		b := f.box(box[0], box[3], box[2], box[1])
		if !isFinite(b) || b.Bottom <= b.Top {
			continue
		}
		if b = w.run.turn.Box(b); w.begins(r, b) {
			w.flush()
			if w.run, err = runs.at(text, i); err != nil {
				return err
			}
			b = w.run.turn.Box(f.box(box[0], box[3], box[2], box[1]))
			if w.base, err = runs.base(text, i); err != nil {
				return err
			}
		}
		w.add(r, b)
	}
	w.flush()
	return nil
}

// characters are the characters of a page.
type characters struct {
	unicodes function // reads one
	text     int32
	count    uint64
	all      []uint16 // read in one call; nil where they are not one for each position
}

// characters reads the characters of a page in one call, which saves a third of the time of a page.
func (g *glyphs) characters(text, count int32) (c characters, err error) {
	c = characters{unicodes: g.function("FPDFText_GetUnicode"), text: text, count: uint64(max(count, 0))}
	if count <= 0 {
		return c, nil
	}
	const unit = 2
	at, err := g.alloc(2 * unit * (int(count) + 1)) // UTF-16 with a terminating zero, pairs included
	if err != nil {
		return c, err
	}
	written, err := g.call("FPDFText_GetText", uint64(uint32(text)), 0, uint64(count), uint64(uint32(at)))
	if err != nil {
		return c, err
	}
	if written == count+1 { // no position without a character
		if data, ok := g.module.Memory().Read(uint32(at), uint32(2*count)); ok {
			c.all = make([]uint16, count)
			for i := range c.all {
				c.all[i] = binary.LittleEndian.Uint16(data[2*i:])
			}
		}
	}
	return c, g.free("free", at)
}

// at returns the character at a position and how many positions it has: pdfium has one for each
// half of a character beyond 16 bits.
func (c *characters) at(i uint64) (r rune, width uint64, err error) {
	if r, err = c.half(i); err != nil || !utf16.IsSurrogate(r) || i+1 == c.count {
		return r, 1, err
	}
	second, err := c.half(i + 1)
	if whole := utf16.DecodeRune(r, second); whole != unicode.ReplacementChar {
		return whole, 2, err
	}
	return r, 1, err
}

func (c *characters) half(i uint64) (rune, error) {
	if c.all != nil {
		return rune(c.all[i]), nil
	}
	code, err := c.unicodes.call(uint64(uint32(c.text)), i)
	return rune(uint32(code)), err
}

// textRun describes the look of a piece of text.
type textRun struct {
	typeface
	turn layout.Turn
	size float64 // of the font; 0 if unknown
}

// typeface describes a font.
type typeface struct{ bold, mono, math bool }

// textRuns reads the looks of text objects; neighbouring characters are mostly of one.
type textRuns struct {
	*glyphs
	frame    *frame
	fonts    map[uint64]typeface // of this page
	last     uint64              // object
	sizes    function
	matrices function
	objects  function
	origins  function
	run      textRun
}

// at returns the look of character i.
func (t *textRuns) at(text int32, i uint64) (textRun, error) {
	object, err := t.objects.call(uint64(uint32(text)), i)
	if err != nil || uint32(object) == 0 {
		return textRun{}, err
	}
	if object == t.last {
		return t.run, nil
	}
	t.last = object
	if t.run.typeface, err = t.typeface(object, text, i); err != nil {
		return textRun{}, err
	}
	err = t.shape(text, i)
	return t.run, err
}

// shape reads the size in which a character is shown and the direction of its text.
func (t *textRuns) shape(text int32, i uint64) error {
	t.run.size, t.run.turn = 0, 0
	result, err := t.sizes.call(uint64(uint32(text)), i)
	if err != nil {
		return err
	}
	ok, err := t.matrices.call(uint64(uint32(text)), i, uint64(t.glyphs.at))
	if err != nil || uint32(ok) == 0 {
		return err
	}
	var m [6]float64
	t.floats(m[:])
	size := math.Float64frombits(result)
	if size < 0 { // it turns letters and their order around
		m[0], m[1], size = -m[0], -m[1], -size
	}
	if size *= math.Hypot(m[2], m[3]); size > 0 && size < farPlace {
		t.run.size = size
	}
	if angle := math.Atan2(m[1], m[0]); !math.IsNaN(angle) { // counter-clockwise
		t.run.turn = layout.Turn((int(math.Round(angle/(math.Pi/2))) - int(t.frame.rotation) + 8) % 4)
	}
	return nil
}

// boldWeight is the least weight of bold letters.
const boldWeight = 600

// nameBytes bounds the name of a font that is looked at.
const nameBytes = 128

// typeface returns the look of the font of a text object, which character i is a part of.
func (t *textRuns) typeface(object uint64, text int32, i uint64) (face typeface, err error) {
	font, err := t.fast("FPDFTextObj_GetFont", object)
	if err != nil || uint32(font) == 0 {
		return face, err
	}
	if face, ok := t.fonts[font]; ok {
		return face, nil
	}
	flags, err := t.fast("FPDFFont_GetFlags", font)
	if err != nil {
		return face, err
	}
	weight, err := t.fast("FPDFText_GetFontWeight", uint64(uint32(text)), i)
	if err != nil {
		return face, err
	}
	size, err := t.fast("FPDFFont_GetBaseFontName", font, uint64(t.name), nameBytes)
	if err != nil {
		return face, err
	}
	name := ""
	if n := uint32(size); n > 1 && n <= nameBytes {
		if data, ok := t.module.Memory().Read(t.name, n-1); ok {
			name = string(data)
		}
	}
	const fixedPitch = 1
	face = faceOf(name)
	face.bold = face.bold || int32(uint32(weight)) >= boldWeight
	face.mono = face.mono || int32(uint32(flags)) > 0 && uint32(flags)&fixedPitch != 0
	t.fonts[font] = face
	return face, nil
}

// Parts of the names of fonts, in lower case.
var (
	monoNames = []string{"mono", "courier", "cmtt", "cmsltt", "lmtt", "sftt", "typewriter", "consol", "menlo", "fixed"}
	boldNames = []string{"bold", "demi", "black", "heavy", "cmbx", "ecbx", "sfbx"}
	mathNames = []string{"cmsy", "cmmi", "cmex", "msbm", "msam", "math", "symbol"}
)

// faceOf derives a typeface from the name of a font: TeX sets neither weight nor pitch of its
// fonts.
func faceOf(name string) typeface {
	name = strings.ToLower(name)
	contains := func(parts []string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	const nimbus = "-medi" // the bold letters of Nimbus, which papers are set in
	isBold := contains(boldNames) || strings.Contains(name, nimbus) && !strings.Contains(name, nimbus+"um")
	return typeface{bold: isBold, mono: contains(monoNames), math: contains(mathNames)}
}

// base returns where character i stands, in the direction of its text.
func (t *textRuns) base(text int32, i uint64) (float64, error) {
	at := uint64(t.glyphs.at)
	ok, err := t.origins.call(uint64(uint32(text)), i, at, at+8)
	if err != nil || uint32(ok) == 0 {
		return 0, err
	}
	data, ok2 := t.module.Memory().Read(t.glyphs.at, 16)
	if !ok2 {
		return 0, nil
	}
	x, y := t.frame.point(math.Float64frombits(binary.LittleEndian.Uint64(data)),
		math.Float64frombits(binary.LittleEndian.Uint64(data[8:])))
	b := t.run.turn.Box(layout.Box{Left: x, Right: x, Top: y, Bottom: y})
	if !isFinite(b) {
		return 0, nil
	}
	return b.Bottom, nil
}

// wordMaker joins characters.
type wordMaker struct {
	page *layout.Page
	text []rune
	box  layout.Box // in the direction of the text
	from int        // where the characters of the last glyph begin in text
	last layout.Box // of that glyph
	run  textRun
	base float64
}

func (w *wordMaker) empty() bool { return len(w.text) == 0 }

// wordGap is the gap between characters that ends a word, in heights.
const wordGap = 0.2

// begins reports whether a character is the first one of a word.
func (w *wordMaker) begins(r rune, box layout.Box) bool {
	if w.empty() || box == w.last {
		return w.empty() // the other letters of a ligature have the same box
	}
	height := box.Bottom - box.Top
	gap, apart := box.Left-w.box.Right, box.Bottom-w.box.Bottom
	if layout.IsRightToLeft(r) && layout.IsRightToLeft(w.text[len(w.text)-1]) {
		gap = w.box.Left - box.Right
	}
	if unicode.Is(unicode.Mn, r) {
		return math.Abs(apart) > height
	}
	return gap > wordGap*height || gap < -height || math.Abs(apart) > height/2
}

// longestLigature bounds the letters at one place that are turned around: ﷺ has 18.
const longestLigature = 18

func (w *wordMaker) add(r rune, box layout.Box) {
	if w.empty() {
		w.box = box
	}
	switch {
	case box == w.last && len(w.text) > w.from && len(w.text)-w.from < longestLigature &&
		layout.IsRightToLeft(r) && !unicode.Is(unicode.Mn, r):
		// pdfium turns the characters of a ligature around with those of its line.
		w.text = slices.Insert(w.text, w.from, r)
	default:
		w.from, w.last = len(w.text), box
		w.text = append(w.text, r)
	}
	w.box.Left, w.box.Right = min(w.box.Left, box.Left), max(w.box.Right, box.Right)
	w.box.Top, w.box.Bottom = min(w.box.Top, box.Top), max(w.box.Bottom, box.Bottom)
}

func isFinite(b layout.Box) bool {
	const far = 1e6
	for _, v := range [...]float64{b.Left, b.Right, b.Top, b.Bottom} {
		if !(math.Abs(v) < far) { // NaN too
			return false
		}
	}
	return true
}

func (w *wordMaker) flush() {
	if !w.empty() {
		w.page.Words = append(w.page.Words, layout.Word{
			Box: w.box, Text: string(w.text), Base: w.base, Turn: w.run.turn, Size: w.run.size,
			Bold: w.run.bold, Mono: w.run.mono, Math: w.run.math,
		})
	}
	w.text, w.from = w.text[:0], 0
}
