package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os/exec"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// OCR reads the text in an image.
type OCR interface {
	// Recognize returns the text of an image in a common format: PNG, JPEG, GIF, WebP. An image
	// without text has none.
	Recognize(ctx context.Context, image []byte) (string, error)
}

// PlacedOCR is an [OCR] that reports the position of the text.
type PlacedOCR interface {
	OCR
	// Blocks returns the text of an image in reading order. Positions are in pixels of the image,
	// from its upper left corner.
	Blocks(ctx context.Context, image []byte) ([]block.Block, error)
}

// Tesseract is the program tesseract as [OCR].
type Tesseract struct {
	Path      string
	Languages string // as its option -l has them: eng+deu; "" is its default
}

// FindTesseract returns the installed program, or nil.
func FindTesseract() OCR {
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return nil
	}
	return Tesseract{Path: path}
}

// Recognize runs the program. Cancelling ctx ends it.
func (t Tesseract) Recognize(ctx context.Context, image []byte) (string, error) {
	args := []string{"stdin", "stdout"}
	if t.Languages != "" {
		args = append(args, "-l", t.Languages)
	}
	cmd := exec.CommandContext(ctx, t.Path, args...)
	cmd.Stdin = bytes.NewReader(image)
	var text, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limitedWriter{&text, maxRecognized}, &limitedWriter{&problem, maxRecognized}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tesseract: %w: %s", err, strings.TrimSpace(problem.String()))
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD"), nil
}

// maxRecognized bounds the text of one image in bytes.
const maxRecognized = 4 << 20

// limitedWriter fails when more than remaining bytes are written.
type limitedWriter struct {
	w         io.Writer
	remaining int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.remaining -= len(p); l.remaining < 0 {
		return 0, errors.New("too much output")
	}
	return l.w.Write(p)
}

// recognized returns the text of an image as blocks of a page. The image has scale pixels for each
// point.
func recognized(ctx context.Context, ocr OCR, image []byte, page int, scale float64) ([]block.Block, error) {
	list, err := readImage(ctx, ocr, image)
	if err != nil {
		return nil, fmt.Errorf("OCR: %w", err)
	}
	for i := range list {
		if len(list[i].Positions) == 0 {
			list[i].Positions = []block.Position{{Page: page}}
			continue
		}
		for k := range list[i].Positions {
			at := &list[i].Positions[k]
			*at = block.Position{
				Page: page, Left: at.Left / scale, Right: at.Right / scale, Top: at.Top / scale,
				Bottom: at.Bottom / scale,
			}
		}
	}
	return list, nil
}

func readImage(ctx context.Context, ocr OCR, image []byte) ([]block.Block, error) {
	if placed, ok := ocr.(PlacedOCR); ok {
		return placed.Blocks(ctx, image)
	}
	text, err := ocr.Recognize(ctx, image)
	return block.Paragraphs(strings.Trim(text, "\f\n ")), err
}

// imageBlocks adds the text of an image to out.
func imageBlocks(ctx context.Context, data []byte, out *page, ocr OCR) error {
	if ocr == nil || out.blocks == nil {
		const missing = "it is an image, and there is no OCR: install tesseract, configure an OCR service " +
			"or choose a model that reads images"
		return fmt.Errorf("%w: %s", ErrNoText, missing)
	}
	list, err := recognized(ctx, ocr, data, 1, 1) // the resolution of images is unknown
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%w: OCR finds none in the image", ErrNoText)
	}
	return addBlocks(ctx, list, out.blocks)
}

// scan is the text of a page that is an image. Its blocks have their place on the page.
type scan struct {
	page int
	list []block.Block
}

func (s *scan) add(out *page) error {
	for _, b := range s.list {
		if err := addBlock(b, out.blocks); err != nil {
			return err
		}
		out.added++
	}
	return nil
}

// Pages are rendered for OCR with this many pixels for each point, as far as the width allows.
const (
	scanScale = 2.5 // 180 dots per inch
	scanWidth = 2000
)

// scan reads a page by OCR.
func (g *glyphs) scan(document int32, n int) ([]block.Block, error) {
	page, err := g.call("FPDF_LoadPage", uint64(uint32(document)), uint64(n))
	if err != nil || page == 0 {
		return nil, err
	}
	picture, scale, err := g.render(page)
	if err != nil {
		return nil, err
	}
	if err := g.free("FPDF_ClosePage", page); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return nil, err
	}
	return recognized(g.ctx, g.ocr, b.Bytes(), n+1, scale)
}

// render draws a page on white, with scale pixels for each point.
func (g *glyphs) render(page int32) (picture image.Image, scale float64, err error) {
	width, height, scale, err := g.size(page)
	if err != nil {
		return nil, 0, err
	}
	gray := image.NewGray(image.Rect(0, 0, width, height))
	err = g.draw(page, width, height, func(at int, red, green, blue byte) {
		gray.Pix[at] = byte((299*int(red) + 587*int(green) + 114*int(blue)) / 1000)
	})
	return gray, scale, err
}

// draw draws a page on white and calls pixel for each pixel, row by row.
func (g *glyphs) draw(page int32, width, height int, pixel func(at int, red, green, blue byte)) error {
	bitmap, err := g.call("FPDFBitmap_Create", uint64(width), uint64(height), 0)
	if err != nil {
		return err
	}
	if bitmap == 0 {
		return g.outOfMemory()
	}
	const white = 0xFFFFFFFF
	handle := uint64(uint32(bitmap))
	if _, err := g.call("FPDFBitmap_FillRect", handle, 0, 0, uint64(width), uint64(height), white); err != nil {
		return err
	}
	err = g.do("FPDF_RenderPageBitmap", handle, uint64(uint32(page)), 0, 0, uint64(width), uint64(height), 0, 0)
	if err != nil {
		return err
	}
	stride, err := g.call("FPDFBitmap_GetStride", handle)
	if err != nil {
		return err
	}
	at, err := g.call("FPDFBitmap_GetBuffer", handle)
	if err != nil {
		return err
	}
	data, ok := g.module.Memory().Read(uint32(at), uint32(stride)*uint32(height))
	if !ok {
		return fmt.Errorf("%w: a page cannot be drawn", ErrDamaged)
	}
	for y := range height {
		row := data[y*int(stride):]
		for x := range width {
			pixel(y*width+x, row[4*x+2], row[4*x+1], row[4*x])
		}
	}
	return g.free("FPDFBitmap_Destroy", bitmap)
}
