package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// collect reads all pieces of an answer.
func collect(answer iter.Seq2[engine.ModelPiece, error]) (text string, last engine.ModelPiece, err error) {
	var b strings.Builder
	for p, err := range answer {
		if err != nil {
			return b.String(), last, err
		}
		b.WriteString(p.Text)
		if p.ToolCalls != nil {
			last.ToolCalls = p.ToolCalls
		}
		if p.Usage != nil && last.Usage != nil {
			return b.String(), last, errors.New("usage reported twice")
		}
		if p.Usage != nil {
			last.Usage = p.Usage
		}
	}
	return b.String(), last, nil
}

// saved returns a recorded server response.
func saved(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(data)
}

// serve returns a provider served by handler. Pauses between attempts are recorded instead of
// waited for.
func serve(t *testing.T, handler http.HandlerFunc) (*provider, *[]time.Duration) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p, err := newProvider(Provider{Name: "Test", BaseURL: server.URL + "/v1", Key: "secret-key"}, nil)
	require.NoError(t, err)
	p.client = server.Client()
	waits := &[]time.Duration{}
	p.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return p, waits
}

// patiently doubles the provider's timeout until meant returns true: on a busy machine a short
// timeout expires before the silence under test.
func patiently(t *testing.T, p *provider, meant func() bool) {
	t.Helper()
	for p.timeout = 100 * time.Millisecond; !meant(); p.timeout *= 2 {
		require.Less(t, p.timeout, 30*time.Second)
	}
}

// answerWith serves text: as SSE if it starts with "data:", else as JSON.
func answerWith(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(text, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = io.WriteString(w, text)
	}
}

func hello(stream bool) *engine.ModelRequest {
	return &engine.ModelRequest{Messages: []engine.ModelMessage{{Role: "user", Content: "Hello"}}, Stream: stream}
}

func TestAnswers(t *testing.T) {
	city := []engine.ToolCall{
		{ID: "call_abc", Name: "weather_0", Arguments: `{"city": "Paris"}`},
		{ID: "call_def", Name: "time_1", Arguments: `{}`},
	}
	for _, c := range []struct {
		name, file, text string
		calls            []engine.ToolCall
		usage            *engine.Usage
	}{
		{"streamed text", "text.sse", "Hello, world", nil, &engine.Usage{Prompt: 9, Completion: 3}},
		{
			"usage that grows with the answer", "usage_grows.sse", "Hello, world", nil,
			&engine.Usage{Prompt: 9, Completion: 3},
		},
		{"reasoning is enclosed in think marks", "reasoning.sse", "<think>Let me see.</think>42", nil, nil},
		{"reasoning in the other field", "reasoning_other.sse", "<think>Hm.</think>Yes", nil, nil},
		{"calls in parts", "tools.sse", "", city, nil},
		{
			"calls without index and id", "tools_bare.sse", "",
			[]engine.ToolCall{{ID: "call_0", Name: "f", Arguments: `{"a":1}`}},
			nil,
		},
		{
			"truncated at the length limit", "length.sse",
			"Once upon\n\n[The answer was cut at the limit of its length.]",
			nil, nil,
		},
		{"end without [DONE]", "no_mark.sse", "Done.", nil, nil},
		{
			"without streaming", "text.json", "<think>Short.</think>Hello, world", nil,
			&engine.Usage{Prompt: 9, Completion: 3},
		},
		{"calls without streaming", "tools.json", "", city[:1], nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := serve(t, answerWith(saved(t, c.file)))
			text, last, err := collect(p.generate(t.Context(), "m", hello(strings.HasSuffix(c.file, ".sse"))))
			require.NoError(t, err)
			require.Equal(t, c.text, text)
			require.Equal(t, c.calls, last.ToolCalls)
			require.Equal(t, c.usage, last.Usage)
		})
	}
}

func TestFailures(t *testing.T) {
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		stream  bool
		text    string // text received before the error
		status  int
		is      error
		want    string
	}{
		{
			"error message of the server", status(400, `{"error": {"message": "context too long",`+
				` "type": "x"}}`), true,
			"", 400, nil, "400 Bad Request: context too long",
		},
		{
			"the key is masked in an error",
			status(401, `{"error": {"message": "bad key secret-key"}}`), false, "", 401,
			nil,
			"bad key ***",
		},
		{"HTML error page", status(404, "<html><h1>Not here</h1></html>"), true, "", 404, nil, "Not here"},
		{"empty error response", status(403, ""), true, "", 403, nil, "the server gave no reason"},
		{
			"the error prefix is removed", status(400, `{"error": {"message": "**ERROR**: no"}}`), true, "", 400, nil,
			"400 Bad Request: : no",
		},
		{
			"HTML instead of a stream", answerWith(strings.Repeat("<p>words\n", 400)), true, "", 0, nil,
			"not a chat completion; check base_url: words",
		},
		{"HTML instead of JSON", answerWith("<html>"), false, "", 0, nil, "not a chat completion; check base_url"},
		{
			"invalid chunk in a stream", answerWith("data: {\"choices\": 7}\n\n"), true, "", 0, ErrBroken,
			"broke off",
		},
		{"truncated stream", answerWith(saved(t, "cut.sse")), true, "Hel", 0, ErrBroken, "broke off"},
		{"truncated JSON", answerWith(`{"choices": [`), false, "", 0, ErrBroken, "broke off"},
		{"an error inside a stream", answerWith(saved(t, "error.sse")), true, "Hel", 0, nil, "overloaded"},
		{"an empty stream", answerWith("data: [DONE]\n\n"), true, "", 0, ErrEmpty, "empty"},
		{"no choices", answerWith(`{"choices": []}`), false, "", 0, ErrEmpty, "empty"},
		{
			"reasoning alone",
			answerWith(`{"choices":[{"message":{"reasoning_content":"Hm."},"finish_reason":"stop"}]}`),
			false, "<think>Hm.</think>", 0, ErrEmpty, "wrote no answer",
		},
		{
			"content filter",
			answerWith(`{"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}`),
			false, "", 0, nil, "content filter",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := serve(t, c.handler)
			text, _, err := collect(p.generate(t.Context(), "m", hello(c.stream)))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.text, text)
			require.Equal(t, c.status, e.Status)
			require.ErrorContains(t, err, `model "m" of Test: `)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), mark)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

func TestBrokenConnection(t *testing.T) {
	p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	text, _, err := collect(p.generate(t.Context(), "m", hello(true)))
	require.ErrorIs(t, err, ErrBroken)
	require.Equal(t, "Hel", text)
}

func TestSilentServer(t *testing.T) {
	for _, c := range []struct{ name, before, text string }{
		{"before the response", "", ""},
		{"during the response", "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n", "Hel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // lets the server notice a canceled request
				if c.before != "" {
					_, _ = io.WriteString(w, c.before)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			})
			patiently(t, p, func() bool {
				text, _, err := collect(p.generate(t.Context(), "m", hello(true)))
				require.ErrorIs(t, err, ErrSilent)
				return text == c.text
			})
		})
	}
}

// A server is not silent while the caller is not ready for more.
func TestCallerThatReadsSlowly(t *testing.T) {
	ready := make(chan struct{}, 1)
	first, rest, _ := strings.Cut(saved(t, "text.sse"), ": keep-alive")
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, first)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ready:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, rest)
	})
	patiently(t, p, func() bool {
		select {
		case <-ready: // of an attempt that failed
		default:
		}
		pieces := 0
		for _, err := range p.generate(t.Context(), "m", hello(true)) {
			if err != nil {
				return false
			}
			if pieces++; pieces == 1 {
				time.Sleep(2 * p.timeout)
				ready <- struct{}{}
			}
		}
		return true
	})
}

func TestCancelInterruptsACall(t *testing.T) {
	received := make(chan struct{})
	p, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(received)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-received; cancel() }()
	_, _, err := collect(p.generate(ctx, "m", hello(true)))
	require.ErrorIs(t, err, context.Canceled)
}

func TestCallerStopsReading(t *testing.T) {
	p, _ := serve(t, answerWith(saved(t, "text.sse")))
	for piece, err := range p.generate(t.Context(), "m", hello(true)) {
		require.NoError(t, err)
		require.Equal(t, "Hello", piece.Text)
		break
	}
}

func TestAnswerTooLarge(t *testing.T) {
	p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		line := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 1<<20) + "\"}}]}\n\n"
		for range 40 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	})
	_, _, err := collect(p.generate(t.Context(), "m", hello(true)))
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestBusyServerIsRetried(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		after  string // Retry-After
		fails  int
		tries  int
		ok     bool
	}{
		{"rate limited once", 429, "2", 1, 2, true},
		{"two server errors", 503, "", 2, 3, true},
		{"persistent server error", 500, "", 99, 4, false},
		{"Retry-After too long", 429, "86400", 99, 1, false},
		{"client error is not retried", 400, "", 99, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			p, waits := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries++
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), "Hello") {
					t.Errorf("attempt %d has no body", tries)
				}
				if tries <= c.fails {
					w.Header().Set("Retry-After", c.after)
					w.WriteHeader(c.status)
					return
				}
				_, _ = io.WriteString(w, saved(t, "text.sse"))
			})
			_, _, err := collect(p.generate(t.Context(), "m", hello(true)))
			require.Equal(t, c.ok, err == nil, err)
			require.Equal(t, c.tries, tries)
			require.Len(t, *waits, c.tries-1)
			if c.after == "2" {
				require.Equal(t, 2*time.Second, (*waits)[0])
			}
			var e *Error
			if errors.As(err, &e) {
				require.Equal(t, c.status, e.Status)
				require.Equal(t, c.status != 400, e.Retryable())
			}
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	p, waits := serve(t, nil)
	p.config.BaseURL = "http://127.0.0.1:1/v1"
	_, _, err := collect(p.generate(t.Context(), "m", hello(false)))
	require.ErrorContains(t, err, "refused")
	require.Len(t, *waits, 3)
}

func TestRequest(t *testing.T) {
	var got map[string]any
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "Bearer secret-key" || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("request to %s with %q", r.URL, a)
		}
		got = nil
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, saved(t, "text.sse"))
	})
	zero, half, most := 0.0, 0.5, 100
	req := &engine.ModelRequest{
		System: "Be brief.", Stream: true,
		Messages: []engine.ModelMessage{
			{Role: "user", Content: "Weather?"},
			{Role: "assistant", ToolCalls: []engine.ToolCall{{ID: "c1", Name: "w", Arguments: `{"a":1}`}}},
			{Role: "tool", ToolID: "c1", Content: ""},
			{Role: "user", Content: "And this?", Images: []string{"data:image/png;base64,AA=="}},
		},
		Tools: []engine.ToolDef{{Name: "w", Description: "d", Parameters: engine.Object("type", "object", "x", 1)}},
		Config: engine.ModelConfig{
			Temperature: &zero, TopP: &half, MaxTokens: &most, Stop: []string{"|"},
			Thinking: "disabled",
		},
	}
	for _, c := range []struct{ name, model, want string }{
		{"all parameters", "m", saved(t, "request.json")},
		{"reasoning model without sampling parameters", "o3-mini", saved(t, "request_reasoning.json")},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := collect(p.generate(t.Context(), c.model, req))
			require.NoError(t, err)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(text))
		})
	}
}

func FuzzStream(f *testing.F) {
	for _, name := range []string{"text.sse", "tools.sse", "reasoning.sse", "cut.sse", "error.sse"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := newProvider(Provider{Name: "Test"}, nil)
		require.NoError(t, err)
		p.retries = 0
		p.client = &http.Client{Transport: replay(text)}
		for _, stream := range []bool{true, false} {
			if _, _, err := collect(p.generate(t.Context(), "m", hello(stream))); err != nil {
				require.NotContains(t, fmt.Sprint(err), mark)
			}
		}
	})
}

// replay responds to every request with the same body.
type replay string

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// A redirect to another port of the same host is another origin and must not receive the key.
func TestKeyStaysAtItsOrigin(t *testing.T) {
	requests := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	p, err := newProvider(Provider{Name: "Test", BaseURL: server.URL + "/v1", Key: "secret-key"}, nil)
	require.NoError(t, err)
	_, _, err = collect(p.generate(t.Context(), "m", &engine.ModelRequest{}))
	require.ErrorContains(t, err, "redirect to another origin")
	require.ErrorContains(t, err, other.URL)
	require.Zero(t, requests)
}

// A local server often has a short word as key, which is part of other words.
func TestShortKeyStaysInWords(t *testing.T) {
	for key, want := range map[string]string{
		"key":       "the api-*** is wrong: monkey keys",
		"api":       "the ***-key is wrong: monkey keys",
		"sk-secret": "the api-key is wrong: monkey keys",
	} {
		p, err := newProvider(Provider{Name: "Test", Key: key}, nil)
		require.NoError(t, err)
		require.Equal(t, want, p.clean("the api-key is wrong: monkey keys"))
	}
	p, err := newProvider(Provider{Name: "Test", Key: "sk-secret"}, nil)
	require.NoError(t, err)
	require.Equal(t, "wrong: xx***yy", p.clean("wrong: xxsk-secretyy"))
}

// A stream is read on while text arrives, although each of its events has a finish reason.
func TestFinishReasonInEachEvent(t *testing.T) {
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "data: "+`{"choices":[{"delta":{"content":"%d"},"finish_reason":"stop"}]}`+"\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	})
	text, _, err := collect(p.generate(t.Context(), "m", hello(true)))
	require.NoError(t, err)
	require.Equal(t, "01234", text)
}

// BenchmarkStream measures the time from the bytes of a stream to its pieces, per chunk.
func BenchmarkStream(b *testing.B) {
	const chunks = 1000
	line := `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini",` +
		`"system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,` +
		`"finish_reason":null}]}` + "\n\n"
	p, err := newProvider(Provider{Name: "Test"}, nil)
	require.NoError(b, err)
	p.client = &http.Client{Transport: replay(strings.Repeat(line, chunks) + "data: [DONE]\n\n")}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range p.generate(b.Context(), "m", hello(true)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunks), "ns/chunk")
}
