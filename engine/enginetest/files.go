package enginetest

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Files is a scripted engine.Files.
type Files struct {
	// Blobs are the contents: file id -> content. A content {"text": T} is given as T, whatever the
	// file is.
	Blobs engine.Value
}

// Read returns an image as a data URL and anything else as [name]content.
func (f *Files) Read(ctx context.Context, file engine.Value) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	id := file.Get("id").Text()
	content, ok := f.Blobs.Lookup(id)
	if !ok {
		return "", fmt.Errorf("no file has the id %q", id)
	}
	if text, ok := content.Lookup("text"); ok {
		return text.Text(), nil
	}
	if mime := file.Get("mime_type").Str(); strings.HasPrefix(mime, "image/") {
		return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(content.Text())), nil
	}
	return "[" + file.Get("name").Text() + "]" + content.Text(), nil
}
