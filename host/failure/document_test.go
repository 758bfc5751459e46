package failure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/document/hostile"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// readOnly is a canvas that reads what is uploaded and shows nothing of it.
var readOnly = sketch.Canvas("begin Begin -> Message:A", `Message:A Message {"content":["read"]}`)

// hostileDocuments uploads hostile documents to a host of 1 GiB, eight at a time, and runs a canvas
// with each: every run ends, and the host stays below 600 MB. EASEL_HOSTILE selects the documents,
// see [hostile.Choose].
func hostileDocuments(t *testing.T, bin programs) { readDocuments(t, bin, os.Getenv("EASEL_HOSTILE")) }

// allDocuments uploads all of them.
func allDocuments(t *testing.T, bin programs) { readDocuments(t, bin, "all") }

func readDocuments(t *testing.T, bin programs, only string) {
	const memory = 1 << 30
	w := embedded(t, bin)
	h := w.start("a", "--memory", strconv.Itoa(memory))
	t.Logf("in a control group: %v", confine(t, h, memory))
	canvas := w.canvas(readOnly)
	rest := servertest.Memory(t, h.PID())
	files := make(chan hostile.File)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for f := range files {
				text, err := w.readHostile(h.url, canvas, f)
				t.Logf("%s: %.300s", f.Name, text)
				if err != nil {
					t.Errorf("%s: the host does not answer: %v", f.Name, err)
				}
			}
		})
	}
	for _, f := range hostile.Choose(only, 0) {
		files <- f
	}
	close(files)
	group.Wait()
	peak := servertest.PeakMemory(t, h.PID())
	t.Logf("%d MB at rest, %d MB at the peak, %d MB at the end", rest/1e6, peak/1e6, servertest.Memory(t, h.PID())/1e6)
	require.Less(t, peak, int64(600e6))
	w.call("GET", h.url+"/readyz", "", nil)
}

// readHostile uploads a file, runs a canvas with it, and returns the last event of the run.
func (w *world) readHostile(url, canvas string, f hostile.File) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", f.Name)
	if err != nil {
		return "", err
	}
	if _, err := part.Write(f.Make()); err != nil {
		return "", err
	}
	if err := form.Close(); err != nil {
		return "", err
	}
	stored, err := w.send(url+"/api/v1/agents/"+canvas+"/upload", form.FormDataContentType(), &body)
	if err != nil {
		return "", err
	}
	var answer struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	if err := json.Unmarshal(stored, &answer); err != nil {
		return "", err
	}
	if answer.Code != 0 {
		return "", fmt.Errorf("upload: %s", answer.Message)
	}
	request, err := json.Marshal(map[string]any{"query": "q", "stream": true, "files": []json.RawMessage{answer.Data}})
	if err != nil {
		return "", err
	}
	stream, err := w.send(url+"/api/v2/canvases/"+canvas+"/runs", "application/json", bytes.NewReader(request))
	if err != nil {
		return "", err
	}
	events := strings.Split(strings.TrimSpace(string(stream)), "\n\n")
	return events[len(events)-1], nil
}

// send returns the whole answer to a request of any content type.
func (w *world) send(url, contentType string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}
