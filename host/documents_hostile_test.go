package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document/hostile"
	"github.com/easel-canvas/easel/host/internal/servertest"
)

// readOnly is a canvas that reads what is uploaded and shows nothing of it.
const readOnly = `{"components":{
	"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Message:A"],"upstream":[]},
	"Message:A":{"obj":{"component_name":"Message","params":{"content":["read"]}},"downstream":[],"upstream":["begin"]}}}`

// mostAdded is what a host in a limit of 1 GiB holds at most beside what it holds at rest, whatever
// is uploaded to it.
const mostAdded int64 = 500 << 20

// TestHostileDocuments uploads hostile documents to a host of 1 GiB, eight at a time, and runs a
// canvas with each. EASEL_HOSTILE says which, see [hostile.Choose].
func TestHostileDocuments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	t.Setenv(memoryVariable, strconv.Itoa(1<<30)) // of the host that starts
	url, pid := startProcess(t, t.TempDir())
	var made struct{ ID string }
	call(t, "POST", url+"/api/v2/canvases", `{"title":"c","dsl":`+readOnly+`}`, &made)
	rest := servertest.Memory(t, pid)
	files := make(chan hostile.File)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for f := range files {
				text, err := readHostile(url, made.ID, f)
				t.Logf("%s: %.300s", f.Name, text)
				if err != nil {
					t.Errorf("%s: the host does not answer: %v", f.Name, err)
				}
			}
		})
	}
	for _, f := range hostile.Choose(os.Getenv("EASEL_HOSTILE"), 0) {
		files <- f
	}
	close(files)
	group.Wait()
	peak := servertest.PeakMemory(t, pid)
	t.Logf("the host held %d MB at rest, %d MB at its peak, %d MB at the end", rest>>20, peak>>20,
		servertest.Memory(t, pid)>>20)
	require.Less(t, peak-rest, mostAdded)
	res, err := http.Get(url + "/readyz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// readHostile uploads a file, runs a canvas with it, and gives the last event of the run.
func readHostile(url, canvas string, f hostile.File) (string, error) {
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
	stored, err := post(url+"/api/v1/agents/"+canvas+"/upload", form.FormDataContentType(), &body)
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
	stream, err := post(url+"/api/v2/canvases/"+canvas+"/runs", "application/json", bytes.NewReader(request))
	if err != nil {
		return "", err
	}
	events := strings.Split(strings.TrimSpace(string(stream)), "\n\n")
	return events[len(events)-1], nil
}

// post gives the whole answer to a request.
func post(url, kind string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequest("POST", url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}
