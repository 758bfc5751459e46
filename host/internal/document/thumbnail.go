package document

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // a format of thumbnails
	"image/jpeg"
	_ "image/png" // a format of thumbnails
)

// Thumbnail returns an image, or the first page of a PDF, as a JPEG that fits into a square of size
// pixels.
//
// Errors: [ErrFormat] for other documents and for formats of images other than JPEG, PNG and GIF,
// those of [Reader.Read].
func (r *Reader) Thumbnail(ctx context.Context, s Source, size int) ([]byte, error) {
	p := thumbnail{size: size}
	if _, err := r.read(ctx, s, want{thumbnail: &p}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, p.image, nil)
	return out.Bytes(), err
}

// thumbnail is a small picture of a document.
type thumbnail struct {
	size  int
	image *image.RGBA
}

// scaled returns the size of a picture that fits into the square.
func (p *thumbnail) scaled(width, height float64) (int, int) {
	scale := float64(p.size) / max(width, height, 1)
	return max(1, int(width*scale)), max(1, int(height*scale))
}

// bytesPerPixel covers the largest format that image decoders return, and their buffers.
const bytesPerPixel = 12

// decode makes the thumbnail of an image in granted bytes. If that takes more than work bytes, it
// returns how many.
func (p *thumbnail) decode(limits *Limits, kind kind, data []byte, work, granted int64) (int64, error) {
	if kind != kindImage {
		return work, fmt.Errorf("%w: it has no thumbnail", ErrFormat)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return work, fmt.Errorf("%w: thumbnail: %w", ErrFormat, err)
	}
	need := int64(config.Width) * int64(config.Height) * bytesPerPixel
	switch most := 2 * int64(limits.Memory); {
	case need > most:
		return work, exceeded(LimitMemory, most, "bytes of memory")
	case need > work:
		return need, nil
	case need > granted:
		return work, exceeded(LimitHost, granted, "bytes of memory")
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return work, fmt.Errorf("%w: thumbnail: %w", ErrDamaged, err)
	}
	p.shrink(m)
	return work, nil
}

// samples is the number of pixels in each direction that make one of a thumbnail.
const samples = 4

// shrink draws an image on white.
func (p *thumbnail) shrink(m image.Image) {
	from := m.Bounds()
	width, height := p.scaled(float64(from.Dx()), float64(from.Dy()))
	p.image = image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			var sum [3]uint32
			for i := range samples * samples {
				at := m.At(from.Min.X+(samples*x+i%samples)*from.Dx()/(samples*width),
					from.Min.Y+(samples*y+i/samples)*from.Dy()/(samples*height))
				red, green, blue, alpha := at.RGBA()
				for k, v := range [...]uint32{red, green, blue} {
					sum[k] += v + 0xFFFF - alpha
				}
			}
			const most = samples * samples << 8
			p.image.SetRGBA(x, y, color.RGBA{byte(sum[0] / most), byte(sum[1] / most), byte(sum[2] / most), 0xFF})
		}
	}
}

// drawFirst draws the first page.
func (p *pdf) drawFirst(document int32, out *thumbnail) error {
	g, err := p.newGlyphs()
	if err != nil {
		return err
	}
	page, err := g.call("FPDF_LoadPage", uint64(uint32(document)), 0)
	if err != nil {
		return err
	}
	if page == 0 {
		return fmt.Errorf("%w: its first page cannot be read", ErrDamaged)
	}
	points, err := g.points(page)
	if err != nil {
		return err
	}
	width, height := out.scaled(points[0], points[1])
	out.image = image.NewRGBA(image.Rect(0, 0, width, height))
	err = g.draw(page, width, height, func(at int, red, green, blue byte) {
		copy(out.image.Pix[4*at:], []byte{red, green, blue, 0xFF})
	})
	if err != nil {
		return err
	}
	return g.free("FPDF_ClosePage", page)
}
