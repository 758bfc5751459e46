package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

// RunFiles are the files that nodes of a local run read and create.
type RunFiles struct {
	Uploads *Uploads
	Made    Made
}

// Open opens a file that was passed to the run or created by it. Errors: [ErrNotGiven].
func (f RunFiles) Open(_ context.Context, file engine.Value) (document.Source, error) {
	id, name := file.Get("id").Text(), file.Get("name").Text()
	if made := file.Get("doc_id").Text(); id == "" && made != "" {
		id, name = made, file.Get("file_name").Text()
	}
	path, ok := f.path(id)
	if !ok {
		return document.Source{}, fmt.Errorf("file %q: %w", id, ErrNotGiven)
	}
	info, err := os.Stat(path)
	if err != nil {
		return document.Source{}, fmt.Errorf("file: %w", err)
	}
	if name == "" {
		name = filepath.Base(path)
	}
	mimeType := file.Get("mime_type").Text()
	if mimeType == "" {
		mimeType = MimeOf(name, head(path))
	}
	return document.Source{
		Name: name, MimeType: mimeType, Size: info.Size(),
		Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
	}, nil
}

// head returns the first bytes of a file, and none of a file that cannot be read: opening it later
// reports why.
func head(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() // it was only read
	bytes := make([]byte, 512)
	n, _ := io.ReadFull(f, bytes) // most files are shorter
	return bytes[:n]
}

// Read returns the content of a file, see [Text].
func (f RunFiles) Read(ctx context.Context, file engine.Value) (string, error) {
	source, err := f.Open(ctx, file)
	if err != nil {
		return "", err
	}
	return Text(ctx, &f.Uploads.Documents, source)
}

// path returns the path of a file; files created by runs are in Made.Dir.
func (f RunFiles) path(id string) (string, bool) {
	f.Uploads.mu.Lock()
	path, given := f.Uploads.paths[id]
	f.Uploads.mu.Unlock()
	if given {
		return path, true
	}
	path = filepath.FromSlash(id)
	return path, id != "" && f.Made.Dir != "" && filepath.Dir(path) == filepath.Clean(f.Made.Dir)
}

// errNoFolder refuses to make a file where no folder was chosen.
var errNoFolder = errors.New("no folder for files is chosen (easel run --save DIR)")

// maxNames bounds the numbered files of one name.
const maxNames = 10_000

// Save writes a file to Made.Dir. If the name is taken, a number is appended.
func (f RunFiles) Save(_ context.Context, name, format string, data []byte) (engine.Value, error) {
	if f.Made.Dir == "" {
		return engine.Null, errNoFolder
	}
	if err := os.MkdirAll(f.Made.Dir, 0o777); err != nil {
		return engine.Null, err
	}
	name = filepath.Base(name)
	extension := filepath.Ext(name)
	path := filepath.Join(f.Made.Dir, name)
	err := writeNew(path, data)
	for n := 2; os.IsExist(err) && n <= maxNames; n++ {
		path = filepath.Join(f.Made.Dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, extension), n, extension))
		err = writeNew(path, data)
	}
	if err != nil {
		return engine.Null, err
	}
	if f.Made.Saved != nil {
		f.Made.Saved(path)
	}
	return engine.Object("doc_id", filepath.ToSlash(path), "format", format, "file_name", filepath.Base(path)), nil
}
