// Package docgen runs DocGenerator nodes: it makes a file of the Markdown of a canvas, with a
// title, headers and footers, and stores it.
package docgen

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document/write"
)

// ErrInput means that a param does not fit; the message names it.
var ErrInput = errors.New("document")

// Files stores what is made.
type Files interface {
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
// JSON text of these that holds the file in base64 up to 4 MiB.
func (g *Generator) Call(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	f, err := formatOf(params.Get("output_format").Text())
	if err != nil {
		return engine.Null, err
	}
	layout, err := layoutOf(params, arguments)
	if err != nil {
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
	download := engine.Object(facts...)
	if len(data) <= mostInline {
		download = engine.Object(append(facts, "base64", base64.StdEncoding.EncodeToString(data))...)
	}
	return engine.Object(append(facts, "success", true, "download", download.JSON(), "attachment", stored)...), nil
}

// markdown is the content below its title.
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

// on reads a switch that is on unless it says otherwise.
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
	if size, ok := params.Get("font_size").Float(); ok {
		if size < 4 || size > 72 {
			return nil, fmt.Errorf("%w: font_size %v is not between 4 and 72 points", ErrInput, size)
		}
		l.FontSize = size
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

// fileName is a name without folder and extension; without one it says when the file was made.
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
