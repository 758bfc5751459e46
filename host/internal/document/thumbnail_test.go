package document

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

// requireThumbnail compares a thumbnail with its size and the colour in its middle.
func requireThumbnail(t *testing.T, data []byte, width, height int, middle color.RGBA) {
	t.Helper()
	m, format, err := image.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, "jpeg", format)
	require.Equal(t, image.Pt(width, height), m.Bounds().Size())
	red, green, blue, _ := m.At(width/2, height/2).RGBA()
	for i, v := range []uint32{red, green, blue} {
		require.InDelta(t, []byte{middle.R, middle.G, middle.B}[i], v>>8, 12)
	}
}

func TestThumbnails(t *testing.T) {
	r := newReader(t, Limits{Time: patient})
	m := image.NewNRGBA(image.Rect(0, 0, 600, 300))
	for i := range m.Pix {
		m.Pix[i] = []byte{200, 0, 0, 255}[i%4]
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	got, err := r.Thumbnail(t.Context(), Bytes("a.png", "", b.Bytes()), 64)
	require.NoError(t, err)
	requireThumbnail(t, got, 64, 32, color.RGBA{200, 0, 0, 255})

	b.Reset()
	require.NoError(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 3, 9))))
	got, err = r.Thumbnail(t.Context(), Bytes("a.png", "", b.Bytes()), 64)
	require.NoError(t, err)
	requireThumbnail(t, got, 21, 64, color.RGBA{255, 255, 255, 255})

	got, err = r.Thumbnail(t.Context(), Bytes("a.pdf", "", pdftest.Pages("0 0 1 rg 0 0 600 900 re f", "")), 64)
	require.NoError(t, err)
	requireThumbnail(t, got, 45, 64, color.RGBA{0, 0, 255, 255})
}

func TestNoThumbnails(t *testing.T) {
	r := newReader(t, Limits{Time: patient})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))))
	small := b.Bytes()
	large := bytes.Clone(small) // by its header
	copy(large[16:24], []byte{0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF})
	binary.BigEndian.PutUint32(large[29:], crc32.ChecksumIEEE(large[12:29]))
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"a.txt": {[]byte("text"), ErrFormat}, "a.docx": {[]byte("PK\x03\x04"), ErrFormat},
		"a.png": {small[:len(small)-20], ErrDamaged}, "large.png": {large, ErrLimit},
		"a.bmp": {[]byte("BM\x00\x00"), ErrFormat}, "a.pdf": {[]byte("%PDF-1.4 x"), ErrDamaged},
	} {
		_, err := r.Thumbnail(t.Context(), Bytes(name, "", c.data), 64)
		require.ErrorIs(t, err, c.want, name)
	}
}
