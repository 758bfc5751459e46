// Package files reads local files for runs without a server: uploads behind the engine's files
// port.
//
// An upload must have been handed over by the person who started the run (Add); a canvas cannot
// name a file of its own choice.
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
	"github.com/easel-canvas/easel/host/internal/document"
)

var (
	// ErrNotGiven means that a canvas asks for a file that was not passed to the run; pass it with
	// the run.
	ErrNotGiven = errors.New("the file was not given to this run")
	// ErrTooLarge means that a file is larger than what a canvas reads; make it smaller or split
	// it.
	ErrTooLarge = errors.New("the file is too large")
)

// Largest is the size up to which a file is read by a canvas, and LargestImage that of an image, in
// bytes. Models take no larger images.
const (
	Largest      = document.LargestFile
	LargestImage = 20 << 20
)

// Uploads are files handed to a run. The zero value has none. It is safe for concurrent use.
type Uploads struct {
	// Documents reads what is no plain text.
	Documents document.Reader

	mu    sync.Mutex
	paths map[string]string // id -> path
}

var _ engine.Files = (*Uploads)(nil)

// Add hands over a file and gives its upload descriptor, {id, name, size, extension, mime_type,
// created_by}.
func (u *Uploads) Add(path string) (engine.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return engine.Null, fmt.Errorf("file: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return engine.Null, fmt.Errorf("file %s: it is no regular file", path)
	case info.Size() > Largest:
		return engine.Null, fmt.Errorf("file %s: %w: %d bytes, at most %d are read", path, ErrTooLarge, info.Size(), Largest)
	}
	head := make([]byte, 512)
	f, err := os.Open(path)
	if err != nil {
		return engine.Null, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	n, _ := f.Read(head) // an empty file has no head
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

// mimeOf trusts the content about images and the name about everything else.
func mimeOf(extension string, head []byte) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if strings.HasPrefix(sniffed, "image/") {
		return sniffed
	}
	if extension == "svg" {
		return "text/xml" // models read it as text
	}
	if byName, _, _ := strings.Cut(mime.TypeByExtension("."+extension), ";"); byName != "" && !strings.HasPrefix(byName, "image/") {
		return byName
	}
	return sniffed
}

// Read is what a canvas reads of an upload, see [Text].
func (u *Uploads) Read(ctx context.Context, file engine.Value) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	id, name := file.Get("id").Text(), file.Get("name").Text()
	u.mu.Lock()
	path, given := u.paths[id]
	u.mu.Unlock()
	if !given {
		return "", fmt.Errorf("file %q: %w", id, ErrNotGiven)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("file: %w", err)
	}
	return Text(ctx, &u.Documents, document.Source{
		Name: name, MimeType: file.Get("mime_type").Text(), Size: info.Size(),
		Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
	})
}

// Text is what a canvas reads of an upload: its text under its name, or a data URL for an image.
//
// Errors: [ErrTooLarge], those of documents.
//
// Source: RAGFlow api/db/services/file_service.py at 80a16e71 (behaviour read, written anew).
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

// imageURL is an image as a data URL. The image is encoded while it is read.
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

// MimeOf is the type of a file by the name's extension and the content's first bytes.
func MimeOf(name string, head []byte) string {
	return mimeOf(strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), "."), head)
}
