package apitest

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Vendor is a server that speaks OpenAI's protocol and wants the key sk-vendor.
func Vendor(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"small","context_length":8192,"capabilities":{"vision":false}}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body, err := engine.ParseJSON(text)
		if err != nil {
			t.Error(err)
		}
		question := body.Get("messages").At(-1)
		for _, m := range body.Get("messages").Elements() {
			question = m.Get("content")
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-vendor":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, r.Header.Get("Authorization"))
		case question.Text() == "fail":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no, said sk-vendor","type":"invalid_request_error","code":null}}`)
		case question.Text() == "page":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "<script>alert(1)</script>")
		case body.Get("stream").True():
			w.Header().Set("Content-Type", "text/event-stream")
			for i, word := range []string{"One", " two"} {
				_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
				_ = http.NewResponseController(w).Flush()
				if question.Text() == "slow" && i == 0 {
					<-r.Context().Done()
					return
				}
				if question.Text() == "cut" && i == 0 {
					panic(http.ErrAbortHandler)
				}
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"model":%q,"seed":%s,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello from %s"}}]}`,
				body.Get("model").Str(), body.Get("seed").JSON(), body.Get("model").Str())
		}
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "\x00sound") })
	mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		_, head, err := r.FormFile("file")
		if err != nil || r.Header.Get("Authorization") != "Bearer sk-vendor" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, `{"text":" %s of %d bytes by %s"}`, head.Filename, head.Size, r.FormValue("model"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// Form is a multipart body with one file.
func Form(name, content string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

// Recording is a multipart body with a file of a media type, as browsers send what they record.
func Recording(media, content string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="blob"`}, "Content-Type": {media},
	})
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

// RequireKeys requires members of an object.
func RequireKeys(t testing.TB, v engine.Value, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		_, ok := v.Lookup(name)
		require.True(t, ok, "%s is missing in %s", name, v.JSON())
	}
}

// Completions is the path of the host's models.
const Completions = "/api/llm/chat/completions"

// Ask is a request of a model.
func Ask(model, text string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"seed":7.0,"stream":%v,"messages":[{"role":"system","content":"s"},{"role":"user","content":%q}]}`, model, stream, text)
}

// Hook is a canvas that a webhook starts; options are members of its Begin.
func Hook(options string) string {
	return sketch.Canvas(`begin Begin {"mode":"Webhook",`+options+`} -> Message:A`,
		`Message:A Message {"content":["got {begin@body}"]}`)
}
