package model

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// pairOf returns models with two providers: the first one answers by handler, "b@Second" with
// "fine".
func pairOf(t *testing.T, handler http.HandlerFunc) (m *Models, second *[]string) {
	t.Helper()
	first := httptest.NewServer(handler)
	t.Cleanup(first.Close)
	second = &[]string{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*second = append(*second, string(body))
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":3,"completion_tokens":4}}`)
	}))
	t.Cleanup(other.Close)
	m, err := New(Config{Providers: []Provider{
		{Name: "First", BaseURL: first.URL + "/v1", Models: []Entry{
			{Name: "a"}, {Name: "own", Fallback: []string{"b@Second"}},
		}},
		{Name: "Second", BaseURL: other.URL + "/v1", Models: []Entry{{Name: "b"}}},
	}})
	require.NoError(t, err)
	for _, p := range m.providers {
		p.timeout = time.Second
		p.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	return m, second
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const started = `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\n"

// silent answers nothing. The server sees the end of the connection once it has read the request.
func silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestFallbackByFailure(t *testing.T) {
	dropped := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}
	for name, c := range map[string]struct {
		first http.HandlerFunc
		falls bool // in both forms
	}{
		"500":            {answer(500, `{"error":"broken"}`), true},
		"503":            {answer(503, `upstream`), true},
		"429":            {answer(429, `{"error":"slow down"}`), true},
		"408":            {answer(408, ``), true},
		"no quota":       {answer(429, `{"error":{"code":"insufficient_quota","message":"no"}}`), true},
		"no balance":     {answer(402, `{"error":"Insufficient Balance"}`), true},
		"no quota, 400":  {answer(400, `{"error":{"message":"insufficient_quota"}}`), true},
		"dropped":        {dropped, true},
		"silent":         {silent, true},
		"cut":            {answer(200, `{"choices":[`), true},
		"error event":    {answer(200, "event: error\ndata: Overloaded\n\n"), true},
		"status inside":  {answer(200, `{"error":{"code":503,"message":"busy"}}`), true},
		"finish":         {answer(200, `{"choices":[{"delta":{},"finish_reason":"error"}]}`), true},
		"400":            {answer(400, `{"error":"invalid messages"}`), false},
		"401":            {answer(401, `{"error":"wrong key"}`), false},
		"404":            {answer(404, `{"error":"no such model"}`), false},
		"422":            {answer(422, `{"detail":"bad"}`), false},
		"other form":     {answer(200, `<html><title>Welcome</title></html>`), false},
		"invalid inside": {answer(200, `{"error":{"message":"invalid tool schema"}}`), false},
		"filter": {
			answer(200, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`), false,
		},
		"empty": {answer(200, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), false},
	} {
		for form, stream := range map[string]bool{"streamed": true, "whole": false} {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				m, second := pairOf(t, c.first)
				m.providers[0].timeout = 200 * time.Millisecond
				for _, id := range []string{"a@First", "own"} {
					req := hello(stream)
					var warnings []string
					req.LLM, req.Warned = id, func(text string) { warnings = append(warnings, text) }
					if id != "own" {
						req.Fallback = []string{"gone@Nowhere", "a@First", "b@Second", "b@Second"}
					}
					*second = nil
					text, last, err := collect(m.Generate(t.Context(), req))
					if !c.falls {
						require.Error(t, err)
						require.Empty(t, *second)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, "fine", text)
					require.Len(t, *second, 1)
					require.Equal(t, 7, int(last.Usage.Tokens()))
					require.Contains(t, warnings[len(warnings)-1], "of First: ")
					require.Contains(t, warnings[len(warnings)-1], "; b@Second is called instead")
					require.Len(t, warnings, map[string]int{"own": 1, "a@First": 2}[id])
				}
			})
		}
	}
}

// A reader must not get the start of one answer and the end of another. An answer that is not
// streamed has no reader before its end.
func TestNoFallbackAfterText(t *testing.T) {
	for _, stream := range []bool{true, false} {
		m, second := pairOf(t, answer(200, started+`data: {"error":{"code":503,"message":"busy"}}`+"\n\n"))
		req := hello(stream)
		req.LLM, req.Fallback = "a", []string{"b"}
		text, _, err := collect(m.Generate(t.Context(), req))
		if stream {
			require.ErrorContains(t, err, "busy")
			require.Equal(t, "Hel", text)
			require.Empty(t, *second)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "fine", text)
	}
}

func TestNoFallbackAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, second := pairOf(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		silent(w, r)
	})
	req := hello(true)
	req.LLM, req.Fallback = "a", []string{"b"}
	_, _, err := collect(m.Generate(ctx, req))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, *second)
}

// If each model fails, the error is the last one; unknown names are reported once.
func TestFallbacksThatFail(t *testing.T) {
	m, _ := pairOf(t, answer(503, "first"))
	m.providers[1].config.BaseURL = m.providers[0].config.BaseURL
	req := hello(true)
	var warnings []string
	req.Warned = func(text string) { warnings = append(warnings, text) }
	req.LLM, req.Fallback = "a", []string{"gone@Nowhere", "b"}
	_, _, err := collect(m.Generate(t.Context(), req))
	require.ErrorContains(t, err, `model "b" of Second: 503`)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], `unknown model "gone@Nowhere"`)
	req.Fallback, warnings = []string{"gone@Nowhere"}, nil
	_, _, err = collect(m.Generate(t.Context(), req))
	require.ErrorContains(t, err, `model "a" of First: 503`)
	require.Len(t, warnings, 1)
}

// Tokens count for the model that answered.
func TestUsageOfFallbacks(t *testing.T) {
	for _, stream := range []bool{true, false} {
		m, _ := pairOf(t, answer(503, ""))
		var used []Use
		one := &Tenant{tenant: "t", account: unlimited{}, models: m, used: func(u Use) { used = append(used, u) }}
		req := hello(stream)
		req.LLM, req.Fallback = "a", []string{"b"}
		_, _, err := collect(one.Generate(t.Context(), req))
		require.NoError(t, err)
		require.Equal(t, []Use{{Tenant: "t", Model: "b@Second", Tokens: Tokens{Input: 3, Output: 4}}}, used)
	}
}

// A model that is chosen for all calls, such as by --model, has no fallbacks of canvases.
func TestChosenModelsHaveNoFallback(t *testing.T) {
	m, second := pairOf(t, answer(503, ""))
	chosen, err := m.Select("a@First")
	require.NoError(t, err)
	req := hello(true)
	req.Fallback = []string{"b"}
	_, _, err = collect(chosen.Generate(t.Context(), req))
	require.Error(t, err)
	require.Empty(t, *second)
}

func TestUnknownFallbacksInConfig(t *testing.T) {
	_, err := New(Config{Providers: []Provider{{Name: "P", Models: []Entry{{Name: "m", Fallback: []string{"x@Q"}}}}}})
	require.ErrorContains(t, err, `providers[0]: model "m": fallback: unknown model "x@Q"`)
}

// What a provider attached to its calls does not go to another one, which answers the next round.
func TestFallbackInAgentRound(t *testing.T) {
	first := modeltest.NewVendor(modeltest.FormOf("anthropic"), modeltest.Saying(
		modeltest.Reply{Thought: thought, Signature: "c2lnbmVk", Calls: parallel},
		modeltest.Answer{Status: 529, Body: `{"error":{"message":"Overloaded"}}`}))
	t.Cleanup(first.Close)
	second := modeltest.NewVendor(modeltest.FormOf("gemini"), modeltest.Saying(modeltest.Reply{Text: helloText}))
	t.Cleanup(second.Close)
	m, err := New(Config{Providers: []Provider{
		{Name: "First", API: Anthropic, BaseURL: first.BaseURL(), Key: "k", Models: []Entry{
			{Name: "m", Fallback: []string{"m@Second"}},
		}},
		{Name: "Second", API: Gemini, BaseURL: second.BaseURL(), Key: "k", Models: []Entry{{Name: "m"}}},
	}})
	require.NoError(t, err)
	for _, p := range m.providers {
		p.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	r := runNode(t, m, "Agent", true)
	require.NoError(t, r.err)
	require.Empty(t, second.Faults())
	require.Equal(t, helloText, strings.TrimSpace(engine.WithoutReasoning(r.out)))
	require.Contains(t, second.Requests()[0].Raw, "echo_tool_1")
	require.NotContains(t, second.Requests()[0].Raw, "c2lnbmVk")
	require.Len(t, r.warnings, 1)
	require.Contains(t, r.warnings[0], "Overloaded; m@Second is called instead")
}
