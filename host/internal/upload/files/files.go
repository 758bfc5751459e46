// Package files reads local files for runs without a server. It implements the files port of the
// engine for uploads.
//
// The user who starts the run must register an upload with [Uploads.Add]; a canvas cannot open any
// other file.
package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
)

var (
	// ErrNotGiven means that a canvas refers to a file that was not passed to the run; pass it with
	// the run.
	ErrNotGiven error = notGiven{}
	// ErrTooLarge means that a file exceeds the size limit of canvases; make it smaller or split
	// it.
	ErrTooLarge = errors.New("the file is too large")
)

// notGiven is a document.ErrMissing of a local run.
type notGiven struct{}

// Error names the missing file.
func (notGiven) Error() string { return "the file was not given to this run" }

// Is reports whether target is document.ErrMissing.
func (notGiven) Is(target error) bool { return target == document.ErrMissing }

// Largest and LargestImage bound the size in bytes of a file and of an image that a canvas can
// read. Models accept no larger images.
const (
	Largest      = document.LargestFile
	LargestImage = 20 << 20
)

// Uploads are the files passed to a run. The zero value is empty. It is safe for concurrent use.
type Uploads struct {
	// Documents reads formats other than plain text.
	Documents document.Reader

	mu    sync.Mutex
	paths map[string]string // id -> path
}

var (
	_ engine.Files  = (*Uploads)(nil)
	_ engine.Parser = (*Uploads)(nil)
)

// Add registers a file and returns its upload descriptor, {id, name, size, extension, mime_type,
// created_by}.
func (u *Uploads) Add(path string) (engine.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return engine.Null, fmt.Errorf("file: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return engine.Null, fmt.Errorf("file %s: it is not a regular file", path)
	case info.Size() > Largest:
		return engine.Null, fmt.Errorf("file %s: %w: %d bytes, at most %d are read", path, ErrTooLarge, info.Size(),
			Largest)
	}
	head := make([]byte, 512)
	f, err := os.Open(path)
	if err != nil {
		return engine.Null, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	n, _ := f.Read(head) // an empty file is not an error
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.paths == nil {
		u.paths = map[string]string{}
	}
	id := filepath.ToSlash(path)
	u.paths[id] = path
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	return engine.Object(
		"id", id, "name", filepath.Base(path), "size", info.Size(), "extension", extension,
		"mime_type", mimeOf(extension, head[:n]), "created_by", "local"), nil
}

// mimeOf detects images from the content, and all other types from the name.
func mimeOf(extension string, head []byte) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if strings.HasPrefix(sniffed, "image/") {
		return sniffed
	}
	if extension == "svg" {
		return "text/xml" // models read SVG as text
	}
	if byName, _, _ := strings.Cut(mime.TypeByExtension("."+extension), ";"); byName != "" &&
		!strings.HasPrefix(byName, "image/") {
		return byName
	}
	return sniffed
}

// Read returns the content of an upload, see [Text].
func (u *Uploads) Read(ctx context.Context, file engine.Value) (string, error) {
	source, err := u.source(ctx, file)
	if err != nil {
		return "", err
	}
	return Text(ctx, &u.Documents, source)
}

// Parse returns the blocks of an upload, see [document.Reader.Blocks].
func (u *Uploads) Parse(ctx context.Context, file engine.Value, _ engine.ParseOptions) ([]block.Block, error) {
	source, err := u.source(ctx, file)
	if err != nil {
		return nil, err
	}
	return u.Documents.Blocks(ctx, source)
}

// source returns an upload as a document.
func (u *Uploads) source(ctx context.Context, file engine.Value) (document.Source, error) {
	if err := ctx.Err(); err != nil {
		return document.Source{}, err
	}
	id := file.Get("id").Text()
	u.mu.Lock()
	path, given := u.paths[id]
	u.mu.Unlock()
	if !given {
		return document.Source{}, fmt.Errorf("file %q: %w", id, ErrNotGiven)
	}
	info, err := os.Stat(path)
	if err != nil {
		return document.Source{}, fmt.Errorf("file: %w", err)
	}
	return document.Source{
		Name: file.Get("name").Text(), MimeType: file.Get("mime_type").Text(), Size: info.Size(),
		Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
	}, nil
}

// Text returns the content of an upload for a model: its text with a header that names the file, or
// a data URL for an image.
//
// Errors: [ErrTooLarge], those of [document.Reader.Read].
//
// Source: RAGFlow api/db/services/file_service.py at 80a16e71 (behavior only).
func Text(ctx context.Context, documents *document.Reader, s document.Source) (string, error) {
	if strings.HasPrefix(s.MimeType, "image/") {
		return imageURL(ctx, documents, s)
	}
	text, err := documents.Read(ctx, s)
	if err != nil {
		return "", err
	}
	return "\n -----------------\nFile: " + s.Name + "\nContent as following: \n" + text, nil
}

// imageURL returns an image as a data URL. The image is encoded while it is read.
func imageURL(ctx context.Context, documents *document.Reader, s document.Source) (string, error) {
	if s.Size > LargestImage {
		return "", fmt.Errorf("%w: an image may have %d bytes", ErrTooLarge, LargestImage)
	}
	head := "data:" + s.MimeType + ";base64,"
	size := len(head) + base64.StdEncoding.EncodedLen(int(s.Size))
	release, err := documents.Reserve(ctx, int64(size))
	if err != nil {
		return "", err
	}
	defer release()
	in, err := s.Open(ctx)
	if err != nil {
		return "", fmt.Errorf("file: %w", err)
	}
	defer in.Close() // it was only read
	var url strings.Builder
	url.Grow(size)
	url.WriteString(head)
	encoder := base64.NewEncoder(base64.StdEncoding, &url)
	n, err := io.Copy(encoder, io.LimitReader(in, s.Size))
	if err == nil && n < s.Size {
		err = io.ErrUnexpectedEOF
	}
	if closed := encoder.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", fmt.Errorf("file %q: %w", s.Name, err)
	}
	return url.String(), nil
}

// MimeOf returns the media type of a file from its name and the first bytes of its content.
func MimeOf(name string, head []byte) string {
	return mimeOf(strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), "."), head)
}
