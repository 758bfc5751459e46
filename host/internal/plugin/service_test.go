package plugin

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// blocking is a Variables that signals a request and waits to be released.
type blocking struct{ c chan struct{} }

func (b blocking) Variable(ctx context.Context, _ string) (engine.Value, bool, error) {
	b.c <- struct{}{}
	select {
	case <-b.c:
		return engine.Int(1), true, nil
	case <-ctx.Done():
		return engine.Null, false, ctx.Err()
	}
}
func (b blocking) SetVariable(context.Context, string, engine.Value) error { return nil }

// vars is a Variables over a map.
type vars map[string]engine.Value

func (v vars) Variable(_ context.Context, name string) (engine.Value, bool, error) {
	x, ok := v[name]
	return x, ok, nil
}

func (v vars) SetVariable(_ context.Context, name string, x engine.Value) error {
	v[name] = x
	return nil
}

// model is a Chatter and Embedder with fixed answers.
type model struct{ err error }

func (m model) Chat(_ context.Context, r contract.ChatRequest, delta func(string) error) (contract.ChatAnswer, error) {
	if m.err != nil {
		return contract.ChatAnswer{}, m.err
	}
	text := "re: " + r.Messages[0].Content
	if delta != nil {
		for _, piece := range []string{"re: ", r.Messages[0].Content} {
			if err := delta(piece); err != nil {
				return contract.ChatAnswer{}, err
			}
		}
	}
	return contract.ChatAnswer{Text: text, Usage: engine.Usage{Prompt: 3, Completion: 4}}, nil
}

func (m model) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = []float32{float32(len(texts[i]))}
	}
	return out, m.err
}

func TestCallOperations(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, map[string]any{"permissions": map[string]any{
		"llm": map[string]any{"max_calls": 1, "reason": "r"}, "embed": map[string]any{"max_calls": 5, "reason": "r"},
		"kv":        map[string]any{"bytes": 10, "reason": "r"},
		"variables": map[string]any{"read": []string{"sys.query"}, "write": []string{"env.x"}, "reason": "r"},
	}})
	all := Services{
		Chat: model{}, Embed: model{}, KV: &MemoryKV{},
		Variables: vars{"sys.query": engine.String("why"), "sys.secret": engine.Int(1)},
	}
	for _, c := range []struct {
		name, request, want string
		services            Services
		grant               *contract.Permissions
	}{
		{"a model answers", `{"op":"llm.chat","args":{"messages":[{"role":"user","content":"hi"}]}}`, `{"ok":{"text":"re: hi","usage":{"prompt_tokens":3,"completion_tokens":4}}}`, all, nil},
		{"texts are embedded", `{"op":"embed","args":{"texts":["a","bb"]}}`, `{"ok":{"vectors":[[1],[2]]}}`, all, nil},
		{"a missing key is not found", `{"op":"kv.get","args":{"key":"k"}}`, `{"ok":{"found":false,"value":""}}`, all, nil},
		{"set a key", `{"op":"kv.set","args":{"key":"k","value":"v"}}`, `{"ok":{}}`, all, nil},
		{"get a key", `{"op":"kv.get","args":{"key":"k"}}`, `{"ok":{"found":true,"value":"v"}}`, all, nil},
		{"list keys", `{"op":"kv.list"}`, `{"ok":{"keys":["k"]}}`, all, nil},
		{"quota exceeded", `{"op":"kv.set","args":{"key":"k","value":"0123456789"}}`, `{"error":{"code":"denied","message":"kv: more than the 10 bytes granted","retryable":false}}`, all, nil},
		{"delete a key", `{"op":"kv.delete","args":{"key":"k"}}`, `{"ok":{}}`, all, nil},
		{"set without a value", `{"op":"kv.set","args":{"key":"k"}}`, `{"error":{"code":"invalid_argument","message":"kv.set: value is missing","retryable":false}}`, all, nil},
		{"a declared variable", `{"op":"var.get","args":{"name":"sys.query"}}`, `{"ok":{"found":true,"value":"why"}}`, all, nil},
		{"an undeclared variable", `{"op":"var.get","args":{"name":"sys.secret"}}`, `{"error":{"code":"denied","message":"reading variable \"sys.secret\" is not granted","retryable":false}}`, all, nil},
		{"read access does not allow writing", `{"op":"var.set","args":{"name":"sys.query","value":1}}`, `{"error":{"code":"denied","message":"writing variable \"sys.query\" is not granted","retryable":false}}`, all, nil},
		{"a written variable", `{"op":"var.set","args":{"name":"env.x","value":{"a":1}}}`, `{"ok":{}}`, all, nil},
		{"sleeping", `{"op":"sleep","args":{"ms":1}}`, `{"ok":{}}`, all, nil},
		{"an unknown operation", `{"op":"image.draw"}`, `{"error":{"code":"unsupported","message":"no operation \"image.draw\" on this host","retryable":false}}`, all, nil},
		{"a service the host does not offer", `{"op":"llm.chat","args":{"messages":[{"role":"user","content":"hi"}]}}`, `{"error":{"code":"unsupported","message":"this host offers no model","retryable":false}}`, Services{}, nil},
		{
			"a service the tenant lacks", `{"op":"llm.chat","args":{"messages":[{"role":"user","content":"hi"}]}}`,
			`{"error":{"code":"denied","message":"llm.chat is not granted","retryable":false}}`, all,
			&contract.Permissions{},
		},
		{"a model call that fails", `{"op":"llm.chat","args":{"messages":[{"role":"user","content":"hi"}]}}`, `{"error":{"code":"upstream","message":"down","retryable":true}}`, Services{Chat: model{errors.New("down")}}, nil},
		{
			"a request that is not JSON", `hello`,
			`{"error":{"code":"invalid_argument","message":"request is not readable: invalid JSON at line 1, column 1: unexpected \"h\"","retryable":false}}`, all, nil,
		},
		{
			"arguments of the wrong type", `{"op":"sleep","args":{"ms":"x"}}`,
			`{"error":{"code":"invalid_argument","message":"sleep: ms is not a whole number","retryable":false}}`, all,
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := m.Call(context.Background(), CallRequest{Input: []byte(c.request), Services: c.services, Grant: c.grant})
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(res.Output))
		})
	}
}

func TestChatStreamsThroughEmit(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, map[string]any{"permissions": map[string]any{"llm": map[string]any{"max_calls": 1, "reason": "r"}}})
	text := ""
	_, err := m.Call(context.Background(), CallRequest{
		Input:    []byte(`{"op":"llm.chat","args":{"stream":true,"messages":[{"role":"user","content":"hi"}]}}`),
		Services: Services{Chat: model{}},
		Emit:     func(_ context.Context, e contract.Emission) error { text += e.Text; return nil },
	})
	require.NoError(t, err)
	require.Equal(t, "re: hi", text)
}

func TestWaitingGuestsLeaveRoomForOthers(t *testing.T) {
	h := newHost(t, Config{MaxRunning: 1})
	waiting, busy := load(t, h, relay, nil), load(t, h, echo, nil)
	b := blocking{make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := waiting.Call(context.Background(), CallRequest{
			Input: []byte(`{"op":"var.get","args":{"name":"x"}}`), Services: Services{Variables: b}, Grant: &contract.Permissions{Variables: &contract.VariablePermission{Read: []string{"x"}}},
		})
		done <- err
	}()
	<-b.c
	_, err := busy.Call(context.Background(), CallRequest{Input: []byte("x")})
	require.NoError(t, err)
	b.c <- struct{}{}
	require.NoError(t, <-done)
}

func TestSleepEndsAtTheDeadline(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, nil)
	began := time.Now()
	_, err := m.Call(context.Background(), CallRequest{Input: []byte(`{"op":"sleep","args":{"ms":60000}}`), Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, contract.Timeout)
	require.Less(t, time.Since(began), time.Minute, "it would sleep that long")
}

func TestCancelReachesAWaitingGuest(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, nil)
	var res Result
	var err error
	for wait := 10 * time.Millisecond; wait < 20*time.Second; wait *= 2 { // on a busy machine it may not wait yet
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(wait, cancel)
		res, err = m.Call(ctx, CallRequest{Input: []byte(`{"op":"sleep","args":{"ms":60000}}`)})
		if err == nil {
			break
		}
		require.ErrorIs(t, err, contract.Cancelled)
	}
	require.NoError(t, err)
	require.Equal(t, "cancelled", string(res.Output))
}
