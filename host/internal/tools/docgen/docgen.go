// Package docgen runs DocGenerator nodes: it makes a file of the Markdown of a canvas, with a
// title, headers and footers, and stores it.
package docgen

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/document/write"
)

// ErrInput means that a param does not fit; the message names it.
var ErrInput = errors.New("document")

// Files stores written files, and opens files that they include.
type Files interface {
	// Open finds a file by its descriptor.
	Open(ctx context.Context, file engine.Value) (document.Source, error)
	// Save stores a file and returns {doc_id, format, file_name}.
	Save(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// Generator makes documents.
type Generator struct {
	Files Files
	Now   func() time.Time // nil is time.Now
}

// mostInline is the size up to which download holds the file itself.
const mostInline = 4 << 20

// format is a form of documents.
type format struct{ name, extension, mimeType string }

func formatOf(name string) (format, error) {
	switch name {
	case "", "pdf":
		return format{"pdf", ".pdf", "application/pdf"}, nil
	case "docx":
		const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
		return format{"docx", ".docx", word}, nil
	case "txt":
		return format{"txt", ".txt", "text/plain; charset=utf-8"}, nil
	case "markdown", "md":
		return format{"markdown", ".md", "text/markdown; charset=utf-8"}, nil
	case "html":
		return format{"html", ".html", "text/html; charset=utf-8"}, nil
	}
	return format{}, fmt.Errorf("%w: output_format %q (one of pdf, docx, txt, markdown, html)", ErrInput, name)
}

// Call runs a node. Its outputs are success, doc_id, filename, mime_type, size, and download, a
// JSON text of these that holds the file in base64 up to 4 MiB. pdf_base64 is the same text of the
// file, whatever its format, and file_path the name it is stored under; older canvases read them.
func (g *Generator) Call(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	f, err := formatOf(params.Get("output_format").Text())
	if err != nil {
		return engine.Null, err
	}
	layout, err := layoutOf(params, arguments)
	if err != nil {
		return engine.Null, err
	}
	if layout.Logo, err = g.logo(ctx, params, arguments.Get("logo_image")); err != nil {
		return engine.Null, err
	}
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	made := now()
	data, err := write.MakeWith(f.name, markdown(params, arguments, made), layout)
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", ErrInput, err)
	}
	stored, err := g.Files.Save(ctx, fileName(arguments.Get("filename").Text(), made)+f.extension, f.name, data)
	if err != nil {
		return engine.Null, fmt.Errorf("save document: %w", err)
	}
	facts := []any{
		"doc_id", stored.Get("doc_id"), "filename", stored.Get("file_name"), "mime_type", f.mimeType, "size", len(data),
	}
	download, inline := engine.Object(facts...).With("path", stored.Get("file_name")), ""
	const keep = "include_download_info_in_content"
	download = download.With(keep, engine.Bool(params.Get(keep).True()))
	if len(data) <= mostInline {
		inline = base64.StdEncoding.EncodeToString(data)
		download = download.With("base64", engine.String(inline))
	}
	return engine.Object(append(facts, "success", true, "download", download.JSON(), "attachment", stored,
		"pdf_base64", inline, "file_path", stored.Get("file_name"))...), nil
}

// markdown returns the content below its title.
func markdown(params, arguments engine.Value, made time.Time) string {
	var b strings.Builder
	if title := oneLine(arguments.Get("title").Text()); title != "" {
		b.WriteString("# " + title + "\n\n")
	}
	if subtitle := oneLine(arguments.Get("subtitle").Text()); subtitle != "" {
		b.WriteString("*" + strings.ReplaceAll(subtitle, "*", `\*`) + "*\n\n")
	}
	if on(params, "add_timestamp") {
		b.WriteString(made.Format("2006-01-02 15:04") + "\n\n")
	}
	b.WriteString(arguments.Get("content").Text())
	return b.String()
}

// on reads a switch that is on by default.
func on(params engine.Value, name string) bool {
	v, given := params.Lookup(name)
	return !given || v.Truthy()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func layoutOf(params, arguments engine.Value) (*write.Layout, error) {
	l := &write.Layout{
		Header: oneLine(arguments.Get("header_text").Text()), Footer: oneLine(arguments.Get("footer_text").Text()),
		Watermark: oneLine(arguments.Get("watermark_text").Text()), PageNumbers: on(params, "add_page_numbers"),
		Contents: params.Get("enable_toc").Truthy(),
	}
	l.Title = oneLine(arguments.Get("title").Text()) != ""
	if err := style(params, l); err != nil {
		return nil, err
	}
	switch size := params.Get("page_size").Text(); strings.ToLower(size) {
	case "", "a4":
	case "letter":
		l.Letter = true
	default:
		return nil, fmt.Errorf("%w: page_size %q (one of A4, Letter)", ErrInput, size)
	}
	switch turned := params.Get("orientation").Text(); strings.ToLower(turned) {
	case "", "portrait":
	case "landscape":
		l.Landscape = true
	default:
		return nil, fmt.Errorf("%w: orientation %q (one of portrait, landscape)", ErrInput, turned)
	}
	return l, nil
}

// style reads sizes, colors and margins. Absent or empty values are left to the format, as is a
// size of 0.
func style(params engine.Value, l *write.Layout) error {
	const inch = 72.0
	margins := write.Margins{Top: inch, Right: inch, Bottom: inch, Left: inch}
	given := false
	for _, m := range []struct {
		name        string
		to          *float64
		least, most float64
		scale       float64
	}{
		{"font_size", &l.FontSize, 4, 72, 1},
		{"title_font_size", &l.TitleSize, 4, 96, 1},
		{"heading1_font_size", &l.HeadingSizes[0], 4, 96, 1},
		{"heading2_font_size", &l.HeadingSizes[1], 4, 96, 1},
		{"heading3_font_size", &l.HeadingSizes[2], 4, 96, 1},
		{"line_spacing", &l.LineSpacing, 0.8, 4, 1},
		{"margin_top", &margins.Top, 0, 3, inch},
		{"margin_right", &margins.Right, 0, 3, inch},
		{"margin_bottom", &margins.Bottom, 0, 3, inch},
		{"margin_left", &margins.Left, 0, 3, inch},
	} {
		text := params.Get(m.name).Text()
		if text == "" || text == "0" && m.least > 0 {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= m.least && v <= m.most) { // NaN is not either
			return fmt.Errorf("%w: %s %q is not a number from %v to %v", ErrInput, m.name, text, m.least, m.most)
		}
		*m.to = v * m.scale
		given = given || m.scale == inch
	}
	if given {
		l.Margins = &margins
	}
	for name, to := range map[string]*write.Color{"text_color": &l.Color, "title_color": &l.TitleColor} {
		text := params.Get(name).Text()
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
		if err != nil || len(text) != len("#rrggbb") {
			return fmt.Errorf("%w: %s %q is not a color; it is written as #1a2b3c", ErrInput, name, text)
		}
		*to = write.Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}
	}
	return nil
}

// fileName returns a name without folder and extension; without one it is the time of creation.
func fileName(wanted string, made time.Time) string {
	name := path.Base("/" + strings.ReplaceAll(oneLine(wanted), `\`, "/"))
	for _, extension := range []string{".pdf", ".docx", ".txt", ".md", ".html"} {
		name = strings.TrimSuffix(name, extension)
	}
	if name == "" || name == "/" || name == "." || name == ".." {
		return "document_" + made.Format("20060102_150405")
	}
	return name
}
