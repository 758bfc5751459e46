package document

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

// seeing is an OCR that returns the size of images and whether they have dark pixels.
type seeing struct {
	images []image.Image
	err    error
}

func (s *seeing) Recognize(_ context.Context, data []byte) (string, error) {
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	s.images = append(s.images, m)
	return "scanned text\n\nmore\n\f", s.err
}

// Pages without text are drawn and read by OCR, in their place among the others.
func TestScannedPages(t *testing.T) {
	ocr := &seeing{}
	r := newReader(t, Limits{Time: patient})
	r.OCR = ocr
	text := func(s string) string { return pdftest.Text("F1", 12, 50, 100, s) }
	data := pdftest.Pages(text("One."), "0 0 0 rg 100 400 200 200 re f", text("Three."))
	blank := pdftest.Pages("0 0 9 9 re f")
	_, err := r.Text(t.Context(), "b.pdf", "", blank)
	require.ErrorIs(t, err, ErrNoText)
	list, err := r.Blocks(t.Context(), Bytes("b.pdf", "", blank))
	require.NoError(t, err, "its text was not found, but it can be scanned")
	require.Equal(t, "scanned text\n\nmore", block.Plain(list))
	ocr.images = nil
	list, err = r.Blocks(t.Context(), Bytes("a.pdf", "", data))
	require.NoError(t, err)
	require.Equal(t, "One.\n\nscanned text\n\nmore\n\nThree.", block.Plain(list))
	require.Equal(t, 2, list[1].Page())
	require.Len(t, ocr.images, 1)
	size := ocr.images[0].Bounds()
	require.InDelta(t, 595*2.5, size.Dx(), 2)
	require.InDelta(t, 842*2.5, size.Dy(), 2)
	dark, _, _, _ := ocr.images[0].At(500, 842*25/10-1250).RGBA()
	require.Zero(t, dark, "the box is black")
	bright, _, _, _ := ocr.images[0].At(10, 10).RGBA()
	require.Equal(t, uint32(0xFFFF), bright, "the page is white")

	ocr.err = errors.New("overloaded")
	_, err = r.Blocks(t.Context(), Bytes("a.pdf", "", data))
	require.ErrorContains(t, err, "OCR: overloaded")
	_, err = newReader(t, Limits{Time: patient}).Blocks(t.Context(), Bytes("a.pdf", "", pdftest.Pages("0 0 9 9 re f")))
	require.ErrorIs(t, err, ErrNoText)
}

func TestImages(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))))
	_, err := newReader(t, Limits{Time: patient}).Blocks(t.Context(), Bytes("a.png", "", b.Bytes()))
	require.ErrorIs(t, err, ErrNoText)
	require.ErrorContains(t, err, "install tesseract, configure an OCR service or choose a model")

	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1 $2\" = \"stdin stdout\" ] || exit 3\nwc -c | tr -d ' ' | sed 's/$/ bytes/'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tesseract"), []byte(script), 0o700))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	r := newReader(t, Limits{Time: patient})
	r.OCR = FindTesseract()
	list, err := r.Blocks(t.Context(), Bytes("a.png", "", b.Bytes()))
	require.NoError(t, err)
	require.Contains(t, block.Plain(list), " bytes")
	_, err = Tesseract{Path: filepath.Join(dir, "tesseract"), Languages: "x"}.Recognize(t.Context(), nil)
	require.NoError(t, err)
	_, err = Tesseract{Path: "/bin/false"}.Recognize(t.Context(), nil)
	require.ErrorContains(t, err, "tesseract: exit status 1")
	t.Setenv("PATH", t.TempDir())
	require.Nil(t, FindTesseract())
}
