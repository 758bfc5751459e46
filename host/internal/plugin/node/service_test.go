package node_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

const everything = `{"permissions": {
	"llm": {"max_calls": 3, "reason": "asks"}, "embed": {"max_calls": 1, "reason": "compares"}, "kv": {"bytes": 1000, "reason": "keeps"},
	"variables": {"read": ["sys.query", "env.n", "env.none", "P@text"], "write": ["env.n", "env.none"], "reason": "counts"}}}`

// ask is a guest that makes one request and returns the answer as its output.
func ask(request string) []byte { return guest(`say {"outputs":{"answer":`, "call "+request, "say }}") }

// shelf keeps one KV per tenant and plugin.
type shelf struct {
	mu  sync.Mutex
	kvs map[string]*plugin.MemoryKV
}

func (s *shelf) kv(tenant, name string) plugin.KV {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := tenant + "/" + name
	if s.kvs == nil {
		s.kvs = map[string]*plugin.MemoryKV{}
	}
	if s.kvs[key] == nil {
		s.kvs[key] = &plugin.MemoryKV{}
	}
	return s.kvs[key]
}

type fixed struct{}

func (fixed) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), nil
}

func TestServicesReachThePortsOfTheRun(t *testing.T) {
	keeps := &shelf{}
	s := newShop(t, node.Config{
		KV: keeps.kv, Tenant: func(*engine.Call) string { return "acme" }, Models: map[string]string{"fast": "small@x"},
		Embed: func(*engine.Call) plugin.Embedder { return fixed{} },
	})
	m := &model{replies: []engine.ModelPiece{{Text: "<think>hm</think>Hello"}, {Text: "Hi"}}}
	for _, c := range []struct{ request, want string }{
		{`{"op":"llm.chat","args":{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"}],"max_tokens":5}}`, `{"ok":{"text":"Hello","usage":{"prompt_tokens":3,"completion_tokens":2}}}`},
		{`{"op":"llm.chat","args":{"model":"fast","messages":[{"role":"user","content":"x"}]}}`, `{"ok":{"text":"Hi","usage":{"prompt_tokens":1,"completion_tokens":1}}}`},
		{`{"op":"llm.chat","args":{"model":"slow","messages":[{"role":"user","content":"x"}]}}`, `{"error":{"code":"not_found","message":"llm.chat: no model is called \"slow\" here; leave it out for the default","retryable":false}}`},
		{`{"op":"embed","args":{"texts":["a","b"]}}`, `{"ok":{"vectors":[[],[]]}}`},
		{`{"op":"kv.set","args":{"key":"k","value":"v"}}`, `{"ok":{}}`},
		{`{"op":"var.get","args":{"name":"sys.query"}}`, `{"ok":{"found":true,"value":"Q"}}`},
		{`{"op":"var.get","args":{"name":"env.none"}}`, `{"ok":{"found":false,"value":null}}`},
		{`{"op":"var.get","args":{"name":"P@text"}}`, `{"ok":{"found":false,"value":null}}`},
		{`{"op":"var.get","args":{"name":"env.other"}}`, `{"error":{"code":"denied","message":"reading variable \"env.other\" is not granted","retryable":false}}`},
		{`{"op":"var.set","args":{"name":"env.none","value":1}}`, `{"error":{"code":"not_found","message":"var.set: the canvas has no variable \"env.none\"","retryable":false}}`},
		{`{"op":"sleep","args":{"ms":1}}`, `{"ok":{}}`},
	} {
		s.add(ask(c.request), everything)
		got := s.play(t.Context(), engine.Ports{Model: m}, "begin Begin -> P", `P plugin:sample@1 {"llm_id": "big@x"}`, "=env.n 1")
		require.NoError(t, got.err, c.request)
		require.JSONEq(t, c.want, got.outputs["P"].Get("answer").JSON(), c.request)
	}
	require.Equal(t, "big@x", m.asked[0].LLM)
	require.Equal(t, "Be kind.", m.asked[0].System)
	require.Equal(t, 5, *m.asked[0].Config.MaxTokens)
	require.Equal(t, "P", m.asked[0].Node)
	require.Equal(t, "small@x", m.asked[1].LLM)
	value, found, err := keeps.kv("acme", "sample").Get(t.Context(), "k")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "v", value)
}

// TestUsageIsWhatTheModelReports has a model that reports tokens: the plugin sees them, and the run
// counts them once.
func TestUsageIsWhatTheModelReports(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(ask(`{"op":"llm.chat","args":{"messages":[{"role":"user","content":"Hi"}]}}`), everything)
	m := &model{replies: []engine.ModelPiece{{Text: "Hello", Usage: &engine.Usage{Prompt: 70, Completion: 30}}}}
	got := s.play(t.Context(), engine.Ports{Model: m}, "begin Begin -> P", "P plugin:sample@1")
	require.NoError(t, got.err)
	require.JSONEq(t, `{"prompt_tokens":70,"completion_tokens":30}`, got.outputs["P"].Get("answer").Get("ok").Get("usage").JSON())
	require.JSONEq(t, `{"prompt_tokens":70,"completion_tokens":30,"total_tokens":100,"calls":1}`, got.usage.JSON())
}

func TestVariablesAreWritten(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(ask(`{"op":"var.set","args":{"name":"env.n","value":{"a":[2]}}}`), everything)
	got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P", "P plugin:sample@1 -> M", `M Message {"content": ["{env.n.a.0}"]}`, "=env.n 1")
	require.NoError(t, got.err)
	require.Equal(t, []string{"2"}, got.said)
}

func TestStreamedChatIsEmitted(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(guest(`say {"outputs":{"text":"Hello","x":`, `call {"op":"llm.chat","args":{"stream":true,"messages":[{"role":"user","content":"Hi"}]}}`, "say }}"),
		`{"streams": true, "permissions": {"llm": {"max_calls": 1, "reason": "asks"}}}`)
	m := &model{replies: []engine.ModelPiece{{Text: "<think>hm</think>Hello"}}}
	got := s.play(t.Context(), engine.Ports{Model: m}, "begin Begin -> P", "P plugin:sample@1 -> M", `M Message {"content": ["{P@text}"]}`)
	require.NoError(t, got.err)
	require.Equal(t, "Hello", strings.Join(got.said, ""))
	require.True(t, m.asked[0].Stream)
}

type vault map[string]string

func (v vault) Secret(_ context.Context, name string) (engine.Secret, error) {
	if s := v[name]; s != "" {
		return engine.Secret{Value: s}, nil
	}
	return engine.Secret{}, fmt.Errorf("secret %s is not set", name)
}

func TestSecretsStayOutOfOutputs(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("X-Key")
		_, err := fmt.Fprintf(w, "you sent %s", seen)
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	s := newShop(t, node.Config{})
	manifest := `{"permissions": {"http": {"hosts": ["` + host + `"], "private": true, "reason": "asks"}, "secrets": {
		"KEY": {"hosts": ["` + host + `"], "reason": "key"}, "NONE": {"hosts": ["` + host + `"], "reason": "key"}}}}`
	play := func(name string) string {
		s.add(ask(`{"op":"http.fetch","args":{"url":"`+server.URL+`/","headers":{"X-Key":"{{secret:`+name+`:MARK}}"}}}`), manifest)
		got := s.play(t.Context(), engine.Ports{Secrets: vault{"KEY": "hunter2secret"}}, "begin Begin -> P", "P plugin:sample@1")
		require.NoError(t, got.err)
		return got.outputs["P"].JSON()
	}
	require.NotContains(t, play("KEY"), "hunter2secret")
	require.Equal(t, "hunter2secret", seen)
	require.Contains(t, play("NONE"), "secret NONE is not configured")
}

// TestSecretsAppearNowhere uses a service that returns the password in every form, and a plugin
// that emits, logs and fails with the response: no event, trace, error or log line contains it.
func TestSecretsAppearNowhere(t *testing.T) {
	const password = "hunter2&secret"
	inBase64 := base64.StdEncoding.EncodeToString([]byte("user:" + password))
	authorized := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, got, ok := r.BasicAuth(); ok && got == password {
			authorized++
		}
		w.Header().Set("X-Seen", r.Header.Get("Authorization"))
		_, err := fmt.Fprintf(w, "%s %s %s", r.Header.Get("Authorization"), r.Header.Get("X-Key"), url.QueryEscape(r.Header.Get("X-Key")))
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	manifest := `{"arguments": {"type": "object", "properties": {"q": {"type": "string"}}}, "streams": true, "permissions": {
		"http": {"hosts": ["` + host + `"], "private": true, "reason": "asks"}, "secrets": {"KEY": {"hosts": ["` + host + `"], "reason": "key"}}}}`
	fetch := `{"op":"http.fetch","args":{"url":"` + server.URL + `/","headers":{"Authorization":"Basic {{base64:user:{{secret:KEY:MARK}}}}","X-Key":"{{secret:KEY:MARK}}"}}}`
	log := &bytes.Buffer{}
	for _, c := range []struct {
		name  string
		steps []string
	}{
		{"in the answer", []string{`say {"outputs":{"text":"x","answer":`, "call " + fetch, "say }}"}},
		{"in the error", []string{"call " + fetch, `fail {"code":"upstream","message":"it said {{secret:KEY:MARK}}"}`}},
		{"in the name of a host", []string{`say {"outputs":{"text":"x","answer":`, "call " + strings.Replace(fetch, server.URL+"/", server.URL+"/?{{secret:KEY:MARK}}", 1), "say }}"}},
	} {
		for _, asTool := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, tool %t", c.name, asTool), func(t *testing.T) {
				s := newLoggedShop(t, node.Config{}, log)
				s.add(guest(c.steps...), manifest)
				lines := []string{"begin Begin -> P", "P plugin:sample@1 -> M", `M Message {"content": ["{P@text} {P@answer}"]}`}
				if asTool {
					lines = agent(`{}`)
				}
				m := &model{replies: []engine.ModelPiece{wish(`{"q": "x"}`)}}
				before := authorized
				canvas, err := engine.Load(s.registry(), canvas(t, lines...))
				require.NoError(t, err)
				state := canvas.State()
				var all bytes.Buffer
				for e, err := range canvas.Run(t.Context(), state, engine.Input{}, engine.Options{
					Ports: engine.Ports{Model: m, Secrets: vault{"KEY": password}}, Seed: 1, Internal: true,
				}) {
					if err != nil {
						fmt.Fprintln(&all, err)
						break
					}
					all.Write(e.JSON)
				}
				all.Write(canvas.Save(state))
				for _, q := range m.asked {
					fmt.Fprintf(&all, "%+v", q.Messages)
				}
				require.Equal(t, before+1, authorized, "the service itself gets the password")
				for _, form := range []string{password, url.QueryEscape(password), inBase64, inBase64[7 : len(inBase64)-4]} {
					require.NotContains(t, all.String(), form)
					require.NotContains(t, log.String(), form)
				}
			})
		}
	}
}
