package cli

import (
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// An image in --knowledge is read by the service of --ocr, with its key.
func TestRunReadsImagesByOCR(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer ocr key" || r.FormValue("language") != "de" {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, `{"results": [{"text": "The pump opens at nine", "bbox": [0, 0, 200, 20]}]}`)
	}))
	defer service.Close()
	t.Setenv("EASEL_OCR_KEY", "ocr key")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "manuals"), 0o755))
	picture, err := os.Create(filepath.Join(dir, "manuals", "sign.png"))
	require.NoError(t, err)
	require.NoError(t, png.Encode(picture, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, picture.Close())
	canvas := filepath.Join(dir, "canvas.json")
	require.NoError(t, os.WriteFile(canvas, sketch.Bytes(
		"begin Begin -> Retrieval:A",
		`Retrieval:A Retrieval {"kb_ids": ["manuals"]} -> Message:B`,
		`Message:B Message {"content": ["{Retrieval:A@formalized_content}"]}`,
	), 0o600))
	code, out, errs := easel(t, "run", canvas, "-q", "pump", "--knowledge", dir, "--ocr", service.URL+"/ocr#de")
	require.Zero(t, code, errs)
	require.Contains(t, out, "The pump opens at nine")
	code, _, errs = easel(t, "run", canvas, "-q", "pump", "--ocr", "tesseract")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "OCR: unknown address")
}
