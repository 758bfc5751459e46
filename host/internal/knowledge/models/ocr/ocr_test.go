package ocr

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

var _ document.PlacedOCR = (*Service)(nil)

// picture is a PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
	return b.Bytes()
}

// serve starts a service with the API, which is given each image and its language.
func serve(t *testing.T, answer func(w http.ResponseWriter, image []byte, language string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("file")
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/ocr" || header.Filename != "image.png" ||
			r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		data, err := io.ReadAll(file)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		answer(w, data, r.FormValue("language"))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/ocr"
}

func read(t *testing.T, setting string) (string, error) {
	t.Helper()
	s, err := New(setting, "key", nil)
	require.NoError(t, err)
	s.endpoint.Retries = -1
	return s.Recognize(t.Context(), picture(t))
}

// Lines of two columns come in any order and are read one column after the other.
func TestReadingOrder(t *testing.T) {
	var list []string
	for i := range 6 {
		for side, x := range []int{100, 600} {
			top := 100 + 40*(5-i) + 20*side // not in rows, which would be those of a table
			list = append(list, fmt.Sprintf(
				`{"text": "line %d of side %d here", "bbox": [%d, %d, %d, %d], "confidence": 0.9}`,
				5-i, side, x, top, x+320, top+30))
		}
	}
	url := serve(t, func(w http.ResponseWriter, image []byte, language string) {
		if !bytes.Equal(image, picture(t)) || language != "de" {
			http.Error(w, "unexpected image", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, `{"results": [`+strings.Join(list, ",")+`]}`)
	})
	text, err := read(t, url+"#de")
	require.NoError(t, err)
	text = strings.Join(strings.Fields(text), " ")
	require.Less(t, strings.Index(text, "line 5 of side 0"), strings.Index(text, "line 0 of side 1"), text)
	require.Less(t, strings.Index(text, "line 0 of side 0"), strings.Index(text, "line 1 of side 0"), text)
}

// The text of an image and of a scanned page has its place: in pixels of the image, and in points
// of the page.
func TestPlaces(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ []byte, _ string) {
		_, _ = io.WriteString(w, `{"results": [{"text": "Two words", "bbox": [50, 100, 250, 125]}]}`)
	})
	s, err := New(url, "key", nil)
	require.NoError(t, err)
	r := &document.Reader{OCR: s}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	for name, c := range map[string]struct {
		data []byte
		want block.Position
	}{
		"a.png": {picture(t), block.Position{Page: 1, Left: 50, Right: 250, Top: 100, Bottom: 125}},
		// A page is drawn with 2.5 pixels for each point.
		"a.pdf": {
			pdftest.Pages("0 0 0 rg 100 400 200 200 re f"),
			block.Position{Page: 1, Left: 20, Right: 100, Top: 40, Bottom: 50},
		},
	} {
		list, err := r.Blocks(t.Context(), document.Bytes(name, "", c.data))
		require.NoError(t, err, name)
		require.NotEmpty(t, list, name)
		last := list[len(list)-1]
		require.Equal(t, "Two words", last.Text, name)
		require.Len(t, last.Positions, 1, name)
		at := last.Positions[0]
		require.Equal(t, c.want.Page, at.Page, name)
		require.InDeltaSlice(t, []float64{c.want.Left, c.want.Right, c.want.Top, c.want.Bottom},
			[]float64{at.Left, at.Right, at.Top, at.Bottom}, 0.01, name)
	}
}

// An image without text has none; what is not an answer is an error that names the service.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, want, err string }{
		"empty":      {answer: `{"results": []}`},
		"line":       {answer: `{"results": [{"text": "Two  words", "bbox": [0, 0, 100, 20]}]}`, want: "Two words"},
		"no results": {answer: `{"text": "x"}`, err: "/ocr: the answer has no results"},
		"no box":     {answer: `{"results": [{"text": "x"}]}`, err: "result 0: bbox is not [left, top, right, bottom]"},
		"turned box": {answer: `{"results": [{"text": "x", "bbox": [9, 0, 0, 9]}]}`, err: "result 0: bbox"},
		"not JSON":   {answer: `<html>`, err: "the answer is not the expected JSON"},
		"too large":  {answer: strings.Repeat(" ", maxAnswer+1), err: fmt.Sprintf("more than %d bytes", maxAnswer)},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ []byte, _ string) { _, _ = io.WriteString(w, c.answer) })
			text, err := read(t, url)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

// A service that refuses an image is not asked again, one that is busy is.
func TestRefusals(t *testing.T) {
	var requests atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ []byte, _ string) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		http.Error(w, "image is too large", http.StatusRequestEntityTooLarge)
	})
	s, err := New(url, "key", nil)
	require.NoError(t, err)
	_, err = s.Recognize(t.Context(), picture(t))
	require.ErrorContains(t, err, "/ocr: server returned 413 Request Entity Too Large: image is too large")
	require.EqualValues(t, 2, requests.Load())
}

func TestAddresses(t *testing.T) {
	for _, setting := range []string{"", "ocr", "ftp://host/ocr", "http://", "://"} {
		_, err := New(setting, "", nil)
		require.ErrorContains(t, err, "OCR: unknown address (want http://HOST/ocr", setting)
	}
}

// A document that is an image is read by the service.
func TestImageDocument(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ []byte, _ string) {
		_, _ = io.WriteString(w, `{"results": [{"text": "Goods can be returned", "bbox": [0, 0, 400, 20]}]}`)
	})
	s, err := New(url, "key", nil)
	require.NoError(t, err)
	r := &document.Reader{OCR: s}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	list, err := r.Blocks(t.Context(), document.Bytes("scan.png", "", picture(t)))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "Goods can be returned", list[0].Text)
}
