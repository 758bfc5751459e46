package host

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// reading is a canvas that answers with the text of what is uploaded, and with a document of that
// answer.
var reading = sketch.Canvas(
	"begin Begin -> Message:A",
	`Message:A Message {"content":["# Read\n\n{sys.files}"],"output_format":"FORMAT"}`,
)

// documentHost serves the canvas.
func documentHost(t *testing.T, format string) (url, canvas string) {
	t.Helper()
	h, err := New(t.Context(), Config{
		Dir: t.TempDir(), Key: "key", Sync: SyncInterval, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		require.NoError(t, h.Close())
	})
	var made struct{ ID string }
	call(t, "POST", server.URL+"/api/v2/canvases",
		`{"title":"c","dsl":`+strings.ReplaceAll(reading, "FORMAT", format)+`}`, &made)
	return server.URL, made.ID
}

// sendFile sends a file as a form and returns the response of the host.
func sendFile(t *testing.T, url, canvas, name string, data []byte) json.RawMessage {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/agents/"+canvas+"/upload", &body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var answer struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	require.Zero(t, answer.Code, answer.Message)
	return answer.Data
}

// ask runs the canvas with a file and returns its message and the document it makes.
func ask(t *testing.T, url, canvas string, file json.RawMessage) (text, errs string, made attachment) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": "q", "stream": true, "files": []json.RawMessage{file}})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v2/canvases/"+canvas+"/runs",
		bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	for frame := range frames(t, res.Body) {
		var e struct {
			Event string
			Error string
			Data  struct {
				Content    string
				Error      string
				Attachment attachment
			}
		}
		require.NoError(t, json.Unmarshal([]byte(frame), &e), frame)
		text += e.Data.Content
		errs += e.Error + e.Data.Error
		if e.Data.Attachment.DocID != "" {
			made = e.Data.Attachment
		}
	}
	return text, errs, made
}

type attachment struct {
	DocID    string `json:"doc_id"`
	Format   string
	FileName string `json:"file_name"`
}

func download(t *testing.T, key, url, id string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/v1/agents/download?id="+id, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, data
}

// A document that is uploaded is read by a run, and the document that the run makes is downloaded,
// and read in turn.
func TestDocuments(t *testing.T) {
	url, canvas := documentHost(t, "docx")
	for _, c := range []struct{ file, want string }{
		{"returns.docx", "You can return shoes[^f1] within thirty days. 三十天内可以退货。"},
		{"returns.pptx", "Returns 退货"},
		{"orders.xlsx", "| Shoes 鞋 | 0.3 | 25.6% | 2026-02-28 |"},
		{"returns.pdf", "You can return shoes within"},
	} {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("internal", "document", "testdata", c.file))
			require.NoError(t, err)
			file := sendFile(t, url, canvas, c.file, data)
			text, errs, made := ask(t, url, canvas, file)
			require.Empty(t, errs)
			require.Contains(t, text, "File: "+c.file)
			require.Contains(t, text, c.want)

			require.Equal(t, "docx", made.Format)
			res, docx := download(t, "key", url, made.DocID)
			require.Equal(t, http.StatusOK, res.StatusCode)
			_, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
			require.NoError(t, err)
			require.Equal(t, made.FileName, params["filename"])
			again, _, _ := ask(t, url, canvas, sendFile(t, url, canvas, "again.docx", docx))
			require.Contains(t, again, "File: "+c.file)
		})
	}
}

// A file that cannot be read ends its run with the reason, and nothing else.
func TestDocumentsThatCannotBeRead(t *testing.T) {
	url, canvas := documentHost(t, "")
	for _, c := range []struct{ name, file, content, want string }{
		{"an executable", "a.bin", "\x7fELF\x00\x00", "neither text nor a document"},
		{"a truncated PDF", "a.pdf", "%PDF-1.7 and no more", "damaged"},
		{"the head of a Word 97 document", "a.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs, _ := ask(t, url, canvas, sendFile(t, url, canvas, c.file, []byte(c.content)))
			require.Contains(t, errs, c.want)
			require.Contains(t, errs, c.file)
		})
	}
}

// The name of a file is shown as it was sent, and is never a path.
func TestNamesOfFiles(t *testing.T) {
	url, canvas := documentHost(t, "")
	for _, c := range []struct{ name, want string }{
		{"退货 Größe.txt", "退货 Größe.txt"},
		{"../../etc/passwd", "passwd"},
		{`C:\Users\me\note.txt`, "note.txt"},
		{"..", "file"},
		{`quote".txt`, "quote.txt"},
		{strings.Repeat("长", 300) + ".txt", strings.Repeat("长", 196) + ".txt"},
	} {
		t.Run(c.want, func(t *testing.T) {
			raw := sendFile(t, url, canvas, c.name, []byte("text"))
			var file struct{ ID, Name string }
			require.NoError(t, json.Unmarshal(raw, &file))
			require.Equal(t, c.want, file.Name)
			res, data := download(t, "key", url, file.ID)
			require.Equal(t, "text", string(data))
			_, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
			require.NoError(t, err)
			require.Equal(t, c.want, params["filename"])
			require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		})
	}
	for _, id := range []string{"../store.db", "..%2f..%2fetc%2fpasswd", "", "no-such-id"} {
		_, data := download(t, "key", url, id)
		require.Contains(t, string(data), "File not found.")
	}
}
