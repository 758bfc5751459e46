package document

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

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
	marks, err := g.bookmarks(document)
	if err != nil {
		return 0, err
	}
	entries := newEntries(marks)
	var d layout.Document
	var scans []scan
	for n := range pages {
		content, f, ok, err := g.page(document, n)
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
		entries.place(n+1, &f)
		if size := d.Add(content); size > out.blocks.maxSize {
			return broken, exceeded(LimitBlocks, out.blocks.maxSize, "bytes of blocks")
		}
	}
	d.Outline = entries.list
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
	name      uint32 // and for names
	stack     []uint64
}

// resultBytes is the size of the largest result: a matrix of six numbers.
const resultBytes = 64

func (p *pdf) newGlyphs() (*glyphs, error) {
	at, err := p.alloc(resultBytes + titleBytes)
	return &glyphs{
		pdf: p, functions: map[string]api.Function{}, at: uint32(at), name: uint32(at) + resultBytes,
		stack: make([]uint64, 8),
	}, err
}

// function is a function of pdfium that takes constant time, so that it needs no deadline, and is
// called without allocation.
type function struct {
	*glyphs
	name string
	f    api.Function // nil if pdfium lacks it
}

// function looks up a function.
func (g *glyphs) function(name string) function {
	f, ok := g.functions[name]
	if !ok {
		f = g.module.ExportedFunction(name)
		g.functions[name] = f
	}
	return function{g, name, f}
}

func (f *function) call(args ...uint64) (uint64, error) {
	if f.f == nil {
		return 0, fmt.Errorf("reader of PDF: there is no %s", f.name)
	}
	copy(f.stack, args)
	if err := f.f.CallWithStack(context.Background(), f.stack); err != nil {
		if f.sandbox.full {
			return 0, f.outOfMemory()
		}
		return 0, fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, f.name)
	}
	return f.stack[0], nil
}

// fast looks up a function and calls it.
func (g *glyphs) fast(name string, args ...uint64) (uint64, error) {
	f := g.function(name)
	return f.call(args...)
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
func (g *glyphs) page(document int32, n int) (content layout.Page, f frame, ok bool, err error) {
	content.Number = n + 1
	page, err := g.call("FPDF_LoadPage", uint64(uint32(document)), uint64(n))
	if err != nil || page == 0 {
		return content, f, false, err
	}
	if f, err = g.frame(page); err != nil {
		return content, f, false, err
	}
	content.Width, content.Height = f.shown()
	text, err := g.call("FPDFText_LoadPage", uint64(uint32(page)))
	if err != nil || text == 0 {
		return content, f, false, err
	}
	if err := g.words(text, &content, &f); err != nil {
		return content, f, false, err
	}
	if err := g.free("FPDFText_ClosePage", text); err != nil {
		return content, f, false, err
	}
	if err := g.objects(page, &content, &f); err != nil {
		return content, f, false, err
	}
	return content, f, true, g.free("FPDF_ClosePage", page)
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
