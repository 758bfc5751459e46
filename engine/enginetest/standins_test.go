package enginetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// ask makes one call and returns its pieces.
func ask(ctx context.Context, m engine.Model, req engine.ModelRequest) (pieces []string, err error) {
	for p, e := range m.Generate(ctx, &req) {
		if e != nil {
			return pieces, e
		}
		pieces = append(pieces, p.Text)
	}
	return pieces, nil
}

// script reads the replies of an llm_script.
func script(t *testing.T, text string) []enginetest.Reply {
	t.Helper()
	c, err := enginetest.ParseCase([]byte(`{"name":"x","dsl":{},"runs":[{"llm_script":` + text + `}]}`))
	require.NoError(t, err)
	return c.Runs[0].Script
}

func TestFunctionCallsOfReplies(t *testing.T) {
	const call = `{"tool_calls":[{"id":"1","name":"double","arguments":"{\"n\":2}"}]}`
	want := []engine.ToolCall{{ID: "1", Name: "double", Arguments: `{"n":2}`}}
	for _, stream := range []bool{false, true} {
		m := &enginetest.Model{Script: script(t, "["+call+"]")}
		require.True(t, m.ModelInfo(t.Context(), "").Tools)
		var calls []engine.ToolCall
		for p, err := range m.Generate(t.Context(), &engine.ModelRequest{Stream: stream}) {
			require.NoError(t, err)
			calls = append(calls, p.ToolCalls...)
		}
		require.Equal(t, want, calls)
	}
	able := &enginetest.Model{Script: script(t, `[{"text":"a","tool_calls":[]}]`)}
	require.True(t, able.ModelInfo(t.Context(), "").Tools)
	unable := &enginetest.Model{Script: script(t, `["a"]`)}
	require.False(t, unable.ModelInfo(t.Context(), "").Tools)
	_, err := enginetest.ParseCase([]byte(`{"name":"x","dsl":{},"runs":[{"llm_script":[{"tool_calls":[]}]}]}`))
	require.ErrorContains(t, err, "expected one of")
}

func TestModelReplies(t *testing.T) {
	tests := []struct {
		name, reply string
		chat        []string
		stream      []string
		chatErr     string
		streamErr   string
	}{
		{name: "a text is one piece", reply: `{"text":"ab"}`, chat: []string{"ab"}, stream: []string{"ab"}},
		{
			name: "chunks are joined in a plain call", reply: `{"chunks":["a","b"]}`, chat: []string{"ab"},
			stream: []string{"a", "b"},
		},
		{
			name: "an error stands inside the text", reply: `{"error":"m"}`,
			chat: []string{"**ERROR**: GENERIC_ERROR - m"}, stream: []string{"**ERROR**: GENERIC_ERROR - m"},
		},
		{name: "raise fails the call", reply: `{"raise":"m"}`, chatErr: "m", streamErr: "m"},
		{
			name: "a chunk may raise in the middle", reply: `{"chunks":["a",{"raise":"m"},"b"]}`,
			stream: []string{"a"}, chatErr: "m", streamErr: "m",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &enginetest.Model{Script: script(t, "["+tt.reply+","+tt.reply+"]")}
			got, err := ask(t.Context(), m, engine.ModelRequest{})
			requireAnswer(t, tt.chat, tt.chatErr, got, err)
			got, err = ask(t.Context(), m, engine.ModelRequest{Stream: true})
			requireAnswer(t, tt.stream, tt.streamErr, got, err)
			require.Zero(t, m.Left())
		})
	}
}

func requireAnswer(t *testing.T, want []string, wantErr string, got []string, err error) {
	t.Helper()
	require.Equal(t, want, got)
	if wantErr == "" {
		require.NoError(t, err)
	} else {
		require.EqualError(t, err, wantErr)
	}
}

func TestModelTakesTheFirstReplyThatFits(t *testing.T) {
	m := &enginetest.Model{Script: script(t, `[{"match":"blue","text":"1"},{"text":"2"},{"match":"red","text":"3"}]`)}
	var got []string
	for _, req := range []engine.ModelRequest{
		{System: "red"}, {Messages: []engine.ModelMessage{{Role: "user", Content: "so blue"}}}, {System: "red"}, {},
	} {
		pieces, err := ask(t.Context(), m, req)
		require.NoError(t, err)
		got = append(got, pieces...)
	}
	require.Equal(t, []string{"2", "1", "3", "**ERROR**: GENERIC_ERROR - script exhausted"}, got)
}

func TestModelRecordsCalls(t *testing.T) {
	m := enginetest.FixedModel("x")
	half, most := 0.5, 77
	_, err := ask(t.Context(), m, engine.ModelRequest{
		Stream: true, System: "s", Messages: []engine.ModelMessage{{Role: "user", Content: "u"}},
		Config: engine.ModelConfig{Temperature: &half, MaxTokens: &most},
	})
	require.NoError(t, err)
	require.Equal(t, `{"kind": "stream", "model": "", "system": "s", "messages": [{"role": "user", "content": "u"}], `+
		`"gen_conf": {"temperature": 0.5, "max_tokens": 77}}`, m.Calls()[0].Text())
}

func TestModelStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &enginetest.Model{Script: []enginetest.Reply{enginetest.ChunksReply("a", "b", "c")}}
	var got []string
	var last error
	for p, err := range m.Generate(ctx, &engine.ModelRequest{Stream: true}) {
		got, last = append(got, p.Text), err
		cancel()
	}
	require.Equal(t, []string{"a", ""}, got)
	require.ErrorIs(t, last, context.Canceled)
}

func TestHTTP(t *testing.T) {
	const base = "http://127.0.0.1:18099"
	tests := []struct {
		name string
		req  engine.HTTPRequest
		want string // status, type and body
		err  string
	}{
		{
			name: "the request is echoed, its query not decoded",
			req:  engine.HTTPRequest{Method: "get", URL: base + "/e?a=b%20c#x"},
			want: `200 application/json {"body": "", "ct": null, "method": "GET", "path": "/e?a=b%20c", "x": null}`,
		},
		{
			name: "with body, type and test header",
			req: engine.HTTPRequest{Method: "POST", URL: base, Body: `{"k":1}`, Header: []engine.HTTPHeader{
				{Name: "content-type", Value: "application/json"}, {Name: "X-Test", Value: "1"},
			}},
			want: `200 application/json ` +
				`{"body": "{\"k\":1}", "ct": "application/json", "method": "POST", "path": "/", "x": "1"}`,
		},
		{
			name: "a broken page is an answer", req: engine.HTTPRequest{Method: "PUT", URL: base + "/status/1"},
			want: `500 text/plain broken`,
		},
		{
			name: "a page", req: engine.HTTPRequest{Method: "GET", URL: base + "/html"},
			want: `200 text/html <html><head><style>x{}</style></head><body><h1>Title</h1><p>Body</p></body></html>`,
		},
		{
			name: "another port refuses", req: engine.HTTPRequest{Method: "GET", URL: "http://127.0.0.1:18098/x"},
			err: "refused",
		},
		{
			name: "another scheme is unknown", req: engine.HTTPRequest{Method: "GET", URL: "https://127.0.0.1:18099/x"},
			err: "only http",
		},
		{
			name: "a proxy that is not there refuses",
			req:  engine.HTTPRequest{Method: "GET", URL: base, Proxy: "http://127.0.0.1:1"}, err: "refused",
		},
		{
			name: "other methods are not served", req: engine.HTTPRequest{Method: "DELETE", URL: base},
			want: `501 text/plain unsupported method`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := enginetest.HTTP{}.Do(t.Context(), &tt.req)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, engine.Int(int64(res.Status)).Text()+" "+res.Header[0].Value+" "+res.Body)
			require.Equal(t, engine.Int(int64(len(res.Body))).Text(), res.Header[1].Value)
		})
	}
}

func TestFiles(t *testing.T) {
	f := &enginetest.Files{Blobs: parse(t, `{"i":"PNG","d":"DOC","t":{"text":"as it is"}}`)}
	for file, want := range map[string]string{
		`{"id":"i","name":"p.png","mime_type":"image/png"}`:  "data:image/png;base64,UE5H",
		`{"id":"d","name":"d.txt","mime_type":"text/plain"}`: "[d.txt]DOC",
		`{"id":"t","name":"p.png","mime_type":"image/png"}`:  "as it is",
	} {
		got, err := f.Read(t.Context(), parse(t, file))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestClockMovesOnlyInSleep(t *testing.T) {
	c := &enginetest.Clock{}
	require.Equal(t, enginetest.ClockStart, c.Now())
	require.NoError(t, c.Sleep(t.Context(), time.Hour))
	require.Equal(t, enginetest.ClockStart.Add(time.Hour), c.Now())
	require.Equal(t, c.Now(), c.Now())
}

func TestIDsCount(t *testing.T) {
	ids := enginetest.IDsFrom(0xfe)
	require.Equal(t, "000000000000000000000000000000ff", ids.NewID())
	require.Equal(t, "00000000000000000000000000000100", ids.NewID())
}
