package docgen

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document/write"
)

// mostLogo bounds the file of a logo, in bytes.
const mostLogo = 4 << 20

// logo reads the picture of a document: a file of the run, or its content in base64, with or
// without the head of a data address. A missing logo is not an error.
func (g *Generator) logo(ctx context.Context, params, picture engine.Value) (*write.Logo, error) {
	if !picture.Truthy() {
		return nil, nil
	}
	data, err := g.logoData(ctx, picture)
	if err != nil {
		return nil, fmt.Errorf("%w: logo_image: %w", ErrInput, err)
	}
	l, err := write.NewLogo(data)
	if err != nil {
		return nil, fmt.Errorf("%w: logo_image: %w", ErrInput, err)
	}
	switch l.Align = params.Get("logo_position").Text(); l.Align {
	case "", "left", "center", "right":
	default:
		return nil, fmt.Errorf("%w: logo_position %q (one of left, center, right)", ErrInput, l.Align)
	}
	if l.Width, err = inches(params, "logo_width", 2); err == nil {
		l.Height, err = inches(params, "logo_height", 1)
	}
	return l, err
}

func (g *Generator) logoData(ctx context.Context, picture engine.Value) ([]byte, error) {
	if picture.Kind() == engine.KindList {
		picture = picture.At(0)
	}
	if picture.Kind() == engine.KindString {
		text := picture.Str()
		if head, rest, ok := strings.Cut(text, ","); ok && strings.HasPrefix(head, "data:") {
			text = rest
		}
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, fmt.Errorf("it is neither a file nor base64: %w", err)
		}
		return data, nil
	}
	source, err := g.Files.Open(ctx, picture)
	if err != nil {
		return nil, err
	}
	in, err := source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(in, mostLogo+1))
	if err == nil && len(data) > mostLogo {
		err = fmt.Errorf("file of more than %d bytes", mostLogo)
	}
	return data, err
}

// inches returns a measure of a param in points.
func inches(params engine.Value, name string, usual float64) (float64, error) {
	v := usual
	if text := params.Get(name).Text(); text != "" {
		var err error
		if v, err = strconv.ParseFloat(text, 64); err != nil || !(v >= 0.1 && v <= 20) { // NaN is not either
			return 0, fmt.Errorf("%w: %s %q is not a number from 0.1 to 20", ErrInput, name, text)
		}
	}
	return v * 72, nil
}
