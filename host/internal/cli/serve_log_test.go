package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Data that must never be in a log line, each marked by a word.
const (
	secretKey      = "ragflow-hush-api-key"
	secretRedis    = "hush-redis-password"
	secretModel    = "hush-model-key"
	secretURL      = "hush-url-password"
	secretPrompt   = "hush-prompt"
	secretAnswer   = "hush-answer"
	secretDocument = "hush-document"
	secretLogin    = "hush-login-password"
)

// post sends JSON and returns the body of any response.
func (s *served) post(path, key, body string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return string(text)
}

// TestServeLogsNoSecrets causes successful and failed operations on a server, and reads its log.
func TestServeLogsNoSecrets(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secretModel {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "fail") {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error": {"message": "`+secretAnswer+`"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"choices": [{"message": {"role": "assistant", "content": "`+secretAnswer+`"}}]}`)
	}))
	defer model.Close()
	documents := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(documents, "d"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(documents, "d", "a.json"), []byte(`{"`+secretDocument+`"`), 0o600))
	s := serve(t, []string{
		"EASEL_API_KEY=" + secretKey, "EASEL_REDIS_PASSWORD=" + secretRedis,
		"OPENAI_API_KEY=" + secretModel, "OPENAI_BASE_URL=" + model.URL, "OPENAI_MODEL=m",
	}, "--allow-private", "--redis-door", "127.0.0.1:0", "--redis", "redis://u:"+secretURL+"@127.0.0.1:1/0",
		"--knowledge", documents)

	dsl := func(node string) string {
		return sketch.Chain("begin Begin", "X "+node, `M Message {"content":["{X@content} {X@result}"]}`)
	}
	for title, node := range map[string]string{
		"model":  `LLM {"sys_prompt":"` + secretPrompt + `","prompts":[{"role":"user","content":"{sys.query}"}]}`,
		"fetch":  `Invoke {"url":"http://u:` + secretURL + `@127.0.0.1:1/?q=` + secretPrompt + `","method":"get"}`,
		"code":   `CodeExec {"lang":"javascript","script":"function main() { throw new Error('` + secretPrompt + `') }"}`,
		"search": `Retrieval {"kb_ids":["none"],"query":"` + secretPrompt + `"}`,
	} {
		answer := s.post("/api/v2/canvases", secretKey, `{"title":"`+title+`","dsl":`+dsl(node)+`}`)
		_, rest, _ := strings.Cut(answer, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		for _, query := range []string{secretPrompt, "fail " + secretPrompt} {
			said := s.post("/api/v1/agents/"+id+"/completions", secretKey, `{"question":"`+query+`"}`)
			require.Contains(t, said, "data:")
		}
	}
	s.post("/api/v1/agents", "wrong-"+secretKey, `{}`)
	s.post("/api/v2/canvases", secretKey, `{"title":"`+secretPrompt)
	s.post("/v1/user/login", "", `{"email":"me@localhost","password":"`+secretLogin+`"}`)
	s.post("/v1/canvas/completion", secretKey, `{"id":"`+secretPrompt+`","query":"`+secretPrompt+`"}`)
	_, metrics := s.get("/metrics", secretKey)
	require.NoError(t, s.stop())
	text := s.errs.String() + metrics
	require.Contains(t, text, "knowledge is indexed")
	for _, secret := range []string{
		secretKey, secretRedis, secretModel, secretURL, secretPrompt, secretAnswer,
		secretDocument, secretLogin,
	} {
		for line := range strings.Lines(text) {
			require.NotContains(t, line, secret)
		}
	}
}

// Errors of addresses, which journals collect, have no credentials, even of invalid addresses.
func TestServeHidesCredentialsOfAddresses(t *testing.T) {
	const broken, noPort = "u:hush%zz@127.0.0.1:1/x", "u:hush@127.0.0.1:port/x"
	for _, c := range []struct{ name, value string }{
		{"--nats", "nats://" + broken},
		{"--nats", "nats://" + noPort},
		{"--nats", "hush@127.0.0.1:1"},
		{"--nats", "nats://127.0.0.1:1?token=hush"},
		{"--embedding", "http://" + broken + "#m"},
		{"--embedding", "http://u:hush@127.0.0.1:1/x"},
		{"--rerank", "http://" + broken + "#m"},
		{"--rerank", "http://u:hush@127.0.0.1:1/x"},
		{"--sources", "ftp://u:hush@127.0.0.1:1/x#d"},
		{"--code-executor", "http://127.0.0.1:1/x?password=hush"},
		{"--postgres", "postgres://" + broken},
		{"--redis", "redis://" + broken},
		{"--index", "https://" + noPort},
		{"--ocr", "http://" + noPort},
		{"--files", "s3://b?endpoint=http://" + noPort},
		{"OPENAI_BASE_URL", "http://" + broken},
		{"OPENAI_BASE_URL", "u:hush@127.0.0.1:1"},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			t.Parallel()
			env := []string{"EASEL_API_KEY=0123456789abcdef", "OPENAI_MODEL=m", "OPENAI_API_KEY=k"}
			args := []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()}
			if strings.HasPrefix(c.name, "--") {
				args = append(args, c.name, c.value)
			} else {
				env = append(env, c.name+"="+c.value)
			}
			var out servertest.Output
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			a := withEnv(t, &out, waiting{&out, stop}, env)
			err := a.dispatch(ctx, args)
			require.Error(t, err)
			require.NotContains(t, err.Error()+out.String(), "hush")
		})
	}
}

// waiting ends a start that waits for a server.
type waiting struct {
	io.Writer
	stop func()
}

func (w waiting) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "not reachable yet") {
		w.stop()
	}
	return w.Writer.Write(b)
}
