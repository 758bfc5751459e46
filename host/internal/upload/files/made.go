package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document/write"
)

// Made stores the files that a run creates in a directory, which is created with the first file. It
// implements [engine.Documents].
type Made struct {
	Dir string
	// Saved is called for each file; may be nil.
	Saved func(path string)
}

var _ engine.Documents = Made{}

// Convert creates a file from Markdown. Its doc_id is its path.
func (m Made) Convert(_ context.Context, format, markdown string) (engine.Value, error) {
	data, err := write.Make(format, markdown)
	if err != nil {
		return engine.Null, err
	}
	if err := os.MkdirAll(m.Dir, 0o777); err != nil {
		return engine.Null, err
	}
	name := engine.RandomIDs{}.NewID()[:8] + write.Extension(format)
	path := filepath.Join(m.Dir, name)
	if err := writeNew(path, data); err != nil {
		return engine.Null, err
	}
	if m.Saved != nil {
		m.Saved(path)
	}
	return engine.Object("doc_id", filepath.ToSlash(path), "format", format, "file_name", name), nil
}

// writeNew creates a file that must not exist.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%w; %w", err, os.Remove(path))
	}
	return nil
}
