package code

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// sandbox is a double of the executor manager: it answers POST /run with a fixed response and keeps
// the last request.
type sandbox struct {
	status   int
	response string
	request  map[string]any
	header   http.Header
}

func (s *sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/sub/run" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.request, s.header = nil, r.Header
	if json.Unmarshal(body, &s.request) != nil {
		http.Error(w, "bad request", http.StatusUnprocessableEntity)
		return
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	fmt.Fprint(w, s.response)
}

// executor returns a port over a double.
func executor(t *testing.T, s *sandbox) *Port {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p, err := New(Config{Executor: server.URL + "/sub/", Token: "shared secret"})
	require.NoError(t, err)
	return p
}

func TestExecutorRequest(t *testing.T) {
	s := &sandbox{response: `{"status":"success","stdout":"log\n","stderr":"warning\n","exit_code":0,"artifacts":[],
		"result":{"present":true,"value":{"n":12345678901234567890123,"f":1.10},"type":"json"}}`}
	p := executor(t, s)
	res, err := p.RunCode(t.Context(), &engine.CodeCall{
		Language: "python", Script: "def main(text): return 1", Arguments: engine.Object("text", "grüß"),
	})
	require.NoError(t, err)
	require.Equal(t, `{"n":12345678901234567890123,"f":1.10}`, res.Value.JSON())
	require.Equal(t, "log\n", res.Stdout)
	require.Equal(t, "warning\n", res.Stderr)
	require.Equal(t, "python", s.request["language"])
	script, err := base64.StdEncoding.DecodeString(s.request["code_b64"].(string))
	require.NoError(t, err)
	require.Equal(t, "def main(text): return 1", string(script))
	require.Equal(t, map[string]any{"text": "grüß"}, s.request["arguments"])
	require.Equal(t, "Bearer shared secret", s.header.Get("Authorization"))

	_, err = p.RunCode(t.Context(), &engine.CodeCall{Language: "javascript", Script: "function main() {}"})
	require.NoError(t, err)
	require.Equal(t, "nodejs", s.request["language"])
	require.Equal(t, map[string]any{}, s.request["arguments"])
	require.NoError(t, p.Missing("python"))
}

func TestExecutorResponses(t *testing.T) {
	for _, c := range []struct {
		name, response        string
		value, stdout, stderr string
		limit                 string // part of the error of a limit
		fails                 string // part of any other error
	}{
		{
			name: "nothing returned",
			response: `{"status":"success","stdout":"","stderr":"","exit_code":0,
				"result":{"present":true,"value":null}}`,
		},
		{
			name:     "an executor that prints the result",
			response: `{"status":"success","stdout":"{'a': 1}\n","stderr":"","exit_code":0}`, stdout: "{'a': 1}\n",
		},
		{
			name: "an error of the script",
			response: `{"status":"program_error","stdout":"log","exit_code":1,
				"stderr":"Traceback (most recent call last):\nValueError: no\n"}`,
			stderr: "Traceback (most recent call last):\nValueError: no\n",
		},
		{
			name:     "an error without text",
			response: `{"status":"runtime_error","stdout":"","stderr":"","exit_code":139}`,
			stderr:   "runtime_error (exit code 139)\n",
		},
		{
			name: "an unsafe script",
			response: `{"status":"program_runner_error","stdout":"","stderr":"Line 1: Import: os","exit_code":-999,
				"detail":"Code is unsafe"}`,
			stderr: "Line 1: Import: os",
		},
		{
			name: "time",
			response: `{"status":"resource_limit_exceeded","stdout":"","stderr":"Execution timeout","exit_code":-124,` +
				`"resource_limit_type":"time"}`,
			limit: "time limit of the executor: Execution timeout",
		},
		{
			name: "memory",
			response: `{"status":"resource_limit_exceeded","stdout":"","stderr":"Memory limit exceeded",
				"exit_code":-137,"resource_limit_type":"memory"}`,
			limit: "memory limit of the executor",
		},
		{
			name: "no container",
			response: `{"status":"program_runner_error","stdout":"","stderr":"Container pool is busy",
				"exit_code":-10,"detail":"no_available_container"}`,
			fails: "no_available_container: Container pool is busy",
		},
		{name: "another service", response: `{"ok": true}`, fails: "response is not that of an executor"},
		{name: "HTML", response: `<html>login</html>`, fails: "<html>login</html>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := executor(t, &sandbox{response: c.response})
			res, err := p.RunCode(t.Context(), &engine.CodeCall{Language: "python", Script: "x"})
			switch {
			case c.limit != "":
				require.ErrorIs(t, err, engine.ErrLimit)
				require.ErrorContains(t, err, c.limit)
				return
			case c.fails != "":
				require.ErrorIs(t, err, ErrExecutor)
				require.NotErrorIs(t, err, engine.ErrLimit)
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.True(t, res.Value.IsNull())
			require.Equal(t, c.stdout, res.Stdout)
			require.Equal(t, c.stderr, res.Stderr)
		})
	}
}

func TestExecutorStatuses(t *testing.T) {
	for _, c := range []struct {
		status         int
		response, want string
	}{
		{401, `{"detail":"Missing or invalid sandbox executor API token"}`, "401 Unauthorized: Missing or invalid"},
		{
			429,
			`{"status":"program_runner_error","stderr":"Too many requests, please try again later","exit_code":-429}`,
			"429 Too Many Requests: Too many requests",
		},
		{422, `{"detail":[{"loc":["body"]}]}`, `422 Unprocessable Entity: {"detail":`},
		{500, strings.Repeat("x", 10_000), "500 Internal Server Error: " + strings.Repeat("x", 200)},
	} {
		p := executor(t, &sandbox{status: c.status, response: c.response})
		_, err := p.RunCode(t.Context(), &engine.CodeCall{Language: "python", Script: "x"})
		require.ErrorIs(t, err, ErrExecutor)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "shared secret")
		require.Less(t, len(err.Error()), 400)
	}
}

func TestExecutorArtifacts(t *testing.T) {
	s := &sandbox{response: `{"status":"success","stdout":"","stderr":"","exit_code":0,
		"result":{"present":true,"value":1},
		"artifacts":[{"name":"a.png","mime_type":"image/png","size":4,"content_b64":"iVBORw=="}]}`}
	p := executor(t, s)
	call := &engine.CodeCall{Language: "python", Script: "x"}
	res, err := p.RunCode(t.Context(), call)
	require.NoError(t, err)
	require.Empty(t, res.Artifacts)
	require.Contains(t, res.Stderr, `artifact "a.png" left out`)

	var saved []byte
	res, err = p.With(func(_ context.Context, name, format string, data []byte) (engine.Value, error) {
		saved = data
		return engine.Object("doc_id", name, "format", format), nil
	}).RunCode(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, "\x89PNG", string(saved))
	const want = `{"name":"a.png","mime_type":"image/png","size":4,"doc_id":"a.png","format":"png"}`
	require.Equal(t, want, res.Artifacts[0].JSON())

	s.response = strings.Replace(s.response, "iVBORw==", "?", 1)
	_, err = p.With(func(context.Context, string, string, []byte) (engine.Value, error) { return engine.Null, nil }).
		RunCode(t.Context(), call)
	require.ErrorContains(t, err, `artifact "a.png": illegal base64`)
}

func TestExecutorStops(t *testing.T) {
	asked, end := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	defer server.Close()
	defer close(end)
	e, err := NewExecutor(server.URL)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err = e.RunCode(ctx, &engine.CodeCall{Language: "python", Script: "x"})
	require.ErrorIs(t, err, context.Canceled)
	e.Time = time.Millisecond
	_, err = e.RunCode(t.Context(), &engine.CodeCall{Language: "python", Script: "x"})
	require.ErrorIs(t, err, engine.ErrLimit)
	require.ErrorContains(t, err, "no response within 1ms")
}

func TestExecutorAddress(t *testing.T) {
	for _, address := range []string{
		"sandbox:9385", "ftp://sandbox", "http://", "http://user:pw@sandbox", "http://sandbox/?a=b", "::",
	} {
		_, err := New(Config{Executor: address})
		require.ErrorContains(t, err, "code executor", address)
		require.NotContains(t, err.Error(), "pw")
	}
	for address, want := range map[string]string{
		"http://sandbox:9385": "http://sandbox:9385/run",
		"https://s/a/":        "https://s/a/run",
		"http://s/run":        "http://s/run",
	} {
		e, err := NewExecutor(address)
		require.NoError(t, err)
		require.Equal(t, want, e.address)
	}
}
