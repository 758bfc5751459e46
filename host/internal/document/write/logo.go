package write

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // read as logos
	"image/png"
)

// ErrLogo means that a picture cannot be read; the message has the reason.
var ErrLogo = errors.New("logo")

// Bounds of a picture. One of the most pixels takes 16 MB while it is read.
const (
	mostLogoBytes  = 4 << 20
	mostLogoPixels = 4 << 20
)

// Logo is a picture at the top of a document. Create it with [NewLogo].
type Logo struct {
	Align         string  // left, center or right; "" is left
	Width, Height float64 // of the box that it fills in its own proportions, in points

	png    []byte
	across float64 // width of the picture, in heights
}

// NewLogo reads a picture, PNG or JPEG. Errors: [ErrLogo].
func NewLogo(data []byte) (*Logo, error) {
	if len(data) > mostLogoBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrLogo, len(data), mostLogoBytes)
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: it is neither a PNG nor a JPEG picture: %w", ErrLogo, err)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > mostLogoPixels/size.Height {
		return nil, fmt.Errorf("%w: %d by %d pixels, at most %d", ErrLogo, size.Width, size.Height, mostLogoPixels)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLogo, err)
	}
	// Encoded again, so that all formats take it and nothing but the picture is in the document.
	flat := image.NewNRGBA(picture.Bounds())
	for y := flat.Rect.Min.Y; y < flat.Rect.Max.Y; y++ {
		for x := flat.Rect.Min.X; x < flat.Rect.Max.X; x++ {
			flat.Set(x, y, picture.At(x, y))
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, flat); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLogo, err)
	}
	return &Logo{png: file.Bytes(), across: float64(size.Width) / float64(size.Height)}, nil
}

// size returns the width and the height of the picture in its box.
func (l *Logo) size() (width, height float64) {
	if width = l.Height * l.across; width <= l.Width {
		return width, l.Height
	}
	return l.Width, l.Width / l.across
}
