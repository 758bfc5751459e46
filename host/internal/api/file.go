package api

import (
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
)

// File answers with a file as an attachment: a browser saves it and runs nothing of it.
type File struct {
	Name    string
	Type    string // application/octet-stream when empty
	Size    int64
	Content io.ReadCloser // closed after the answer
}

// Write sends the file.
func (f File) Write(r *Request) error {
	defer f.Content.Close()
	h := r.Writer.Header()
	h.Set("Content-Type", cmp.Or(f.Type, "application/octet-stream"))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	r.Writer.WriteHeader(http.StatusOK)
	r.Begin()
	if _, err := io.Copy(r.Writer, f.Content); err != nil {
		return fmt.Errorf("download of %q: %w", f.Name, err)
	}
	return nil
}
