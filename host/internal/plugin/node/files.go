package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// Files is offered by a files port of the engine that also opens and stores files.
type Files interface {
	// Open finds a file by its descriptor, {id} for an upload and {doc_id} for a file that a node
	// made. A missing one is [document.ErrMissing].
	Open(ctx context.Context, file engine.Value) (document.Source, error)
	// Save stores a file and returns {doc_id, format, file_name}.
	Save(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// runFiles offers the files of a run to a plugin.
type runFiles struct{ files Files }

// OpenFile opens an upload, or a file that a node made.
func (r runFiles) OpenFile(ctx context.Context, id string) (plugin.File, error) {
	source, err := r.files.Open(ctx, engine.Object("id", id))
	if errors.Is(err, document.ErrMissing) {
		return plugin.File{}, fmt.Errorf("%w: %w", plugin.ErrNoFile, err)
	}
	if err != nil {
		return plugin.File{}, err
	}
	in, err := source.Open(ctx)
	if err != nil {
		return plugin.File{}, err
	}
	return plugin.File{ReadCloser: in, Name: source.Name, MIME: source.MimeType, Size: source.Size}, nil
}

// SaveFile stores a file.
func (r runFiles) SaveFile(ctx context.Context, name, format string, data []byte) (engine.Value, error) {
	return r.files.Save(ctx, name, format, data)
}
