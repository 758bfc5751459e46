// Package files reads local files for runs without a server: uploads behind the engine's files port, and folders of
// texts as datasets behind its retriever port.
//
// An upload must have been handed over by the person who started the run (Add); a canvas cannot name a file of its
// own choice. A Folder reads only below its root.
package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

var (
	// ErrNotGiven means that a canvas asks for a file nobody handed over; pass it with the run.
	ErrNotGiven = errors.New("the file was not given to this run")
	// ErrNotText means that a file is neither text nor image; convert it to text first.
	ErrNotText = errors.New("the file is neither text nor image")
	// ErrTooLarge means that a file is larger than what a prompt could ever hold.
	ErrTooLarge = errors.New("the file is too large")
)

// largest is the size up to which a file is read, in bytes.
const largest = 32 << 20

// Uploads are files handed to a run. The zero value has none. It is safe for concurrent use.
type Uploads struct {
	mu    sync.Mutex
	paths map[string]string // id -> path
}

var _ engine.Files = (*Uploads)(nil)

// Add hands over a file and gives its upload descriptor, {id, name, size, extension, mime_type, created_by}.
func (u *Uploads) Add(path string) (engine.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return engine.Null, fmt.Errorf("file: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return engine.Null, fmt.Errorf("file %s: it is no regular file", path)
	case info.Size() > largest:
		return engine.Null, fmt.Errorf("file %s: %w: %d bytes, at most %d are read", path, ErrTooLarge, info.Size(), largest)
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

// Read is the text of an upload under a line with its name, or a data URL for an image.
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
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("file: %w", err)
	}
	text, err := Text(name, file.Get("mime_type").Text(), data)
	if err != nil {
		return "", fmt.Errorf("file %s: %w", path, err)
	}
	return text, nil
}

// Text is what a canvas reads of an upload: its text under a line with its name, or a data URL for an image.
//
// Errors: [ErrNotText].
func Text(name, mimeType string, data []byte) (string, error) {
	if strings.HasPrefix(mimeType, "image/") {
		return "data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(data), nil
	}
	text, err := decode(data)
	if err != nil {
		return "", err
	}
	return "File: " + name + "\n\n" + text, nil
}

// MimeOf is the type of a file by the name's extension and the content's first bytes.
func MimeOf(name string, head []byte) string {
	return mimeOf(strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), "."), head)
}

// decode reads UTF-8, and UTF-16 with its mark. Line ends become \n.
func decode(data []byte) (string, error) {
	text := ""
	switch {
	case len(data) >= 2 && (data[0] == 0xFF && data[1] == 0xFE || data[0] == 0xFE && data[1] == 0xFF):
		text = utf16Text(data)
	case utf8.Valid(data) && !strings.Contains(string(data), "\x00"):
		text = strings.TrimPrefix(string(data), "\uFEFF")
	default:
		return "", ErrNotText
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

func utf16Text(data []byte) string {
	first, second := 1, 0
	if data[0] == 0xFE {
		first, second = 0, 1
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i+first])<<8|uint16(data[i+second]))
	}
	return string(utf16.Decode(units))
}
