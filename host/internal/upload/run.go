package upload

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

// RunFiles are the files that nodes of a run read and create.
type RunFiles struct {
	box   *Box
	party Party
}

// RunFiles returns the files of a party.
func (b *Box) RunFiles(p Party) RunFiles { return RunFiles{b, p} }

// Open opens an upload, {id, ...}, or a file that a node created, {doc_id, ...}. Errors:
// [ErrNotFound], [ErrTooLarge].
func (f RunFiles) Open(ctx context.Context, file engine.Value) (document.Source, error) {
	id := file.Get("id").Text()
	if id == "" {
		id = file.Get("doc_id").Text()
	}
	found, err := f.box.item(ctx, f.party, id)
	if err != nil {
		return document.Source{}, err
	}
	v := found.descriptor
	size, _ := v.Get("size").Int() // written by the host, so always a number
	if size > files.Largest {
		return document.Source{}, fmt.Errorf("%w: %d bytes can be read", ErrTooLarge, files.Largest)
	}
	return document.Source{
		Name: v.Get("name").Text(), MimeType: v.Get("mime_type").Text(), Size: size,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return f.box.open(ctx, found.item) },
	}, nil
}

// Read returns the text of a file, or a data URL for an image.
func (f RunFiles) Read(ctx context.Context, file engine.Value) (string, error) {
	return reader(f).Read(ctx, file)
}

// Save stores a file. Errors: [ErrTooLarge].
func (f RunFiles) Save(ctx context.Context, name, format string, data []byte) (engine.Value, error) {
	v, err := f.box.Put(ctx, f.party, name, bytes.NewReader(data))
	if err != nil {
		return engine.Null, err
	}
	return engine.Object("doc_id", v.Get("id"), "format", format, "file_name", v.Get("name")), nil
}
