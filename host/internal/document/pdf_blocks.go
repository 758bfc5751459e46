package document

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// blocks adds the blocks of the pages to out and returns how many pages cannot be read.
func (p *pdf) blocks(document int32, pages int, out *page) (broken int, err error) {
	g, err := p.newGlyphs()
	if err != nil {
		return 0, err
	}
	var d layout.Document
	var scans []scan
	for n := range pages {
		content, ok, err := g.page(document, n)
		if err != nil {
			return broken, err
		}
		if !ok {
			broken++
			continue
		}
		if len(content.Words) == 0 && p.ocr != nil {
			text, err := g.scan(document, n)
			if err != nil {
				return broken, err
			}
			scans = append(scans, scan{n + 1, text})
		}
		if size := d.Add(content); size > out.blocks.maxSize {
			return broken, exceeded(LimitBlocks, out.blocks.maxSize, "bytes of blocks")
		}
	}
	list, err := d.Blocks(p.ctx)
	if err != nil {
		return broken, err
	}
	for i := range list {
		for len(scans) > 0 && scans[0].page < list[i].Page() {
			if err := scans[0].add(out); err != nil {
				return broken, err
			}
			scans = scans[1:]
		}
		if list[i].Kind != block.Image {
			out.added++ // images alone are not a text
		}
		if err := addBlock(list[i], out.blocks); err != nil {
			return broken, err
		}
	}
	for _, s := range scans {
		if err := s.add(out); err != nil {
			return broken, err
		}
	}
	return broken, nil
}

// glyphs reads the positions of characters. It calls functions of pdfium for each of them, so the
// functions are looked up once.
type glyphs struct {
	*pdf
	functions map[string]api.Function
	at        uint32 // memory of the sandbox for results
	stack     []uint64
}

// resultBytes is the size of the largest result: a matrix of six numbers.
const resultBytes = 64

func (p *pdf) newGlyphs() (*glyphs, error) {
	at, err := p.alloc(resultBytes)
	return &glyphs{pdf: p, functions: map[string]api.Function{}, at: uint32(at), stack: make([]uint64, 8)}, err
}

// fast is like call for a function that takes constant time, so that it needs no deadline, and
// allocates nothing.
func (g *glyphs) fast(function string, args ...uint64) (uint64, error) {
	f := g.functions[function]
	if f == nil {
		if f = g.module.ExportedFunction(function); f == nil {
			return 0, fmt.Errorf("reader of PDF: there is no %s", function)
		}
		g.functions[function] = f
	}
	copy(g.stack, args)
	if err := f.CallWithStack(context.Background(), g.stack); err != nil {
		if g.sandbox.full {
			return 0, g.outOfMemory()
		}
		return 0, fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, function)
	}
	return g.stack[0], nil
}

// floats reads n numbers of a result.
func (g *glyphs) floats(out []float64) {
	data, ok := g.module.Memory().Read(g.at, uint32(4*len(out)))
	for i := range out {
		if out[i] = 0; ok {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
	}
}

// page returns the content of page n, counted from 0; ok is false if the page is malformed.
func (g *glyphs) page(document int32, n int) (content layout.Page, ok bool, err error) {
	content.Number = n + 1
	page, err := g.call("FPDF_LoadPage", uint64(uint32(document)), uint64(n))
	if err != nil || page == 0 {
		return content, false, err
	}
	height, err := g.fast("FPDF_GetPageHeightF", uint64(uint32(page)))
	if err != nil {
		return content, false, err
	}
	content.Height = float64(math.Float32frombits(uint32(height)))
	text, err := g.call("FPDFText_LoadPage", uint64(uint32(page)))
	if err != nil || text == 0 {
		return content, false, err
	}
	if err := g.words(text, &content); err != nil {
		return content, false, err
	}
	if err := g.free("FPDFText_ClosePage", text); err != nil {
		return content, false, err
	}
	if err := g.objects(page, &content); err != nil {
		return content, false, err
	}
	return content, true, g.free("FPDF_ClosePage", page)
}

// size returns the width and the height of a page in pixels for OCR, and how many pixels a point
// has.
func (g *glyphs) size(page int32) (width, height int, scale float64, err error) {
	points, err := g.points(page)
	scale = min(scanScale, scanWidth/max(points[0], 1), scanWidth*3/2/max(points[1], 1))
	return max(int(points[0]*scale), 1), max(int(points[1]*scale), 1), scale, err
}

// points returns the width and the height of a page.
func (g *glyphs) points(page int32) (size [2]float64, err error) {
	for i, function := range [...]string{"FPDF_GetPageWidthF", "FPDF_GetPageHeightF"} {
		v, err := g.fast(function, uint64(uint32(page)))
		if err != nil {
			return size, err
		}
		size[i] = float64(math.Float32frombits(uint32(v)))
	}
	return size, nil
}

// words collects the characters of a page as words.
func (g *glyphs) words(text int32, content *layout.Page) error {
	count, err := g.call("FPDFText_CountChars", uint64(uint32(text)))
	switch {
	case err != nil:
		return err
	case int(count) > g.limits.Block/blockOverhead*8:
		return exceeded(LimitBlock, g.limits.Block/blockOverhead*8, "characters on one page")
	}
	w := wordMaker{page: content}
	for i := range uint64(max(count, 0)) {
		if i%1024 == 0 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		code, err := g.fast("FPDFText_GetUnicode", uint64(uint32(text)), i)
		if err != nil {
			return err
		}
		r := rune(uint32(code))
		if r == 0x02 || r == 0xFFFE { // a hyphen at the end of a line
			r = '-'
		}
		if r <= ' ' || unicode.IsSpace(r) || unicode.IsControl(r) {
			w.flush()
			continue
		}
		found, err := g.fast("FPDFText_GetLooseCharBox", uint64(uint32(text)), i, uint64(g.at))
		if err != nil {
			return err
		}
		var box [4]float64 // left, top, right, bottom
		if g.floats(box[:]); uint32(found) == 0 {
			continue
		}
		if w.empty() {
			weight, err := g.fast("FPDFText_GetFontWeight", uint64(uint32(text)), i)
			if err != nil {
				return err
			}
			w.bold = int32(uint32(weight)) >= boldWeight
		}
		w.add(r, layout.Box{Left: box[0], Right: box[2], Top: content.Height - box[1], Bottom: content.Height - box[3]})
	}
	w.flush()
	return nil
}

// boldWeight is the least weight of bold letters.
const boldWeight = 600

// wordMaker joins characters.
type wordMaker struct {
	page *layout.Page
	text strings.Builder
	box  layout.Box
	bold bool
}

func (w *wordMaker) empty() bool { return w.text.Len() == 0 }

// wordGap is the gap between characters that ends a word, in heights.
const wordGap = 0.2

func (w *wordMaker) add(r rune, box layout.Box) {
	if !isFinite(box) || box.Bottom <= box.Top {
		return
	}
	height := box.Bottom - box.Top
	gap, apart := box.Left-w.box.Right, box.Bottom-w.box.Bottom
	if !w.empty() && (gap > wordGap*height || gap < -height || math.Abs(apart) > height/2) {
		w.flush()
	}
	if w.empty() {
		w.box = box
	}
	w.text.WriteRune(r)
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
		w.page.Words = append(w.page.Words, layout.Word{Box: w.box, Text: w.text.String(), Bold: w.bold})
	}
	w.text.Reset()
}
