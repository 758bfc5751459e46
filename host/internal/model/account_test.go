package model

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// ledger is an account that records spent tokens; left is the number of calls it allows.
type ledger struct {
	mu    sync.Mutex
	left  int
	spent []int64
}

var errSpent = errors.New("spent")

func (l *ledger) Allow(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left < 0 {
		return errSpent
	}
	return nil
}

func (l *ledger) Spend(tokens int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tokens != 0 {
		l.spent = append(l.spent, tokens)
	}
}

// accounted returns a tenant whose models are served by handler and whose account allows one call.
func accounted(t *testing.T, handler http.HandlerFunc) (*Tenant, *ledger) {
	t.Helper()
	m, _ := forwards(t, handler)
	l := &ledger{left: 1}
	return &Tenant{tenant: "t", account: l, models: m}, l
}

func TestCallsAreCounted(t *testing.T) {
	ask := func(stream bool) *engine.ModelRequest {
		req := hello(stream)
		req.LLM = "m"
		return req
	}
	prompt := promptTokens(ask(true))
	require.Positive(t, prompt)
	withoutUsage := func(name string) string { // removes the usage report
		var out strings.Builder
		for event := range strings.SplitSeq(saved(t, name), "\n\n") {
			if event != "" && !strings.Contains(event, `"usage":{`) {
				out.WriteString(event + "\n\n")
			}
		}
		return out.String()
	}
	for _, test := range []struct {
		name, answer string
		stream       bool
		want         []int64
	}{
		{"reported usage", saved(t, "text.sse"), true, []int64{12}},
		{"reported usage without streaming", saved(t, "text.json"), false, []int64{12}},
		{"estimate without a report", withoutUsage("text.sse"), true, []int64{prompt + 2 + 2}},
		{
			"estimate for an invalid report",
			`{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":-5,"completion_tokens":9}}`,
			false,
			[]int64{prompt + 2},
		},
		{"the last of several reports", "data: " +
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\ndata: " +
			`{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,` +
			`"completion_tokens":2}}` + "\n\n", true, []int64{3}},
		{
			"estimate of a truncated response", "data: " + `{"choices":[{"delta":{"content":"abcde"}}]}` + "\n\n", true,
			[]int64{prompt + 2},
		},
		{"error is free", "data: " + `{"error":{"message":"no"}}` + "\n\n", true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			tenant, l := accounted(t, answerWith(test.answer))
			_, _, _ = collect(tenant.Generate(t.Context(), ask(test.stream)))
			require.Equal(t, test.want, l.spent)
			_, _, err := collect(tenant.Generate(t.Context(), ask(test.stream)))
			require.ErrorIs(t, err, errSpent)
			require.Equal(t, test.want, l.spent)
		})
	}
	t.Run("caller stops reading", func(t *testing.T) {
		tenant, l := accounted(t, answerWith(saved(t, "text.sse")))
		for range tenant.Generate(t.Context(), ask(true)) {
			break
		}
		require.Equal(t, []int64{prompt + 2}, l.spent)
	})
}

func TestOfflineAnswersAreNotCounted(t *testing.T) {
	l := &ledger{}
	tenant := &Tenant{account: l, models: &Models{}}
	text, _, err := collect(tenant.Generate(t.Context(), hello(true)))
	require.NoError(t, err)
	require.NotEmpty(t, text)
	require.Empty(t, l.spent)
}

func TestVectorsAreCounted(t *testing.T) {
	for text, want := range map[string]int64{
		`{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`: 7,
		`{"data":[{"index":0,"embedding":[1]}]}`:                                              2,
	} {
		tenant, l := accounted(t, answerWith(text))
		tenant.models.providers[0].config.Models = []Entry{{Name: "e", Kind: KindEmbedding}}
		_, err := tenant.Embed(t.Context(), []string{"12345"})
		require.NoError(t, err)
		require.Equal(t, []int64{want}, l.spent)
		_, err = tenant.Embed(t.Context(), []string{"12345"})
		require.ErrorIs(t, err, errSpent)
	}
}

func TestForwardIsCounted(t *testing.T) {
	var sent string
	serve := func(text string) (*Tenant, *ledger) {
		return accounted(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent = string(body)
			answerWith(text)(w, r)
		})
	}
	forward := func(tenant *Tenant, body string) string {
		request, err := engine.ParseJSONText(body)
		require.NoError(t, err)
		res, err := tenant.Forward(t.Context(), request)
		require.NoError(t, err)
		got, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NoError(t, res.Body.Close())
		_, err = tenant.Forward(t.Context(), request)
		require.ErrorIs(t, err, errSpent)
		return string(got)
	}
	const question = `"messages":[{"role":"system","content":"1234"},{"role":"user","content":[{"type":"text",` +
		`"text":"12345678"},{"type":"image_url"}]}]`

	t.Run("usage report is requested, and hidden unless the client requested it", func(t *testing.T) {
		tenant, l := serve(saved(t, "text.sse"))
		got := forward(tenant, `{"model":"m","stream":true,`+question+`}`)
		require.Contains(t, sent, `"stream_options":{"include_usage":true}`)
		require.NotContains(t, got, "usage")
		report := `data: {"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,` +
			`"completion_tokens":3,"total_tokens":12}}` + "\n\n"
		require.Equal(t, strings.Replace(saved(t, "text.sse"), report, "", 1), got, "the rest is unchanged")
		require.Equal(t, []int64{12}, l.spent)

		tenant, l = serve(saved(t, "text.sse"))
		require.Equal(t, saved(t, "text.sse"), forward(tenant,
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},`+question+`}`))
		require.Equal(t, []int64{12}, l.spent)
	})
	t.Run("estimate without a report", func(t *testing.T) {
		tenant, l := serve("data: {\"choices\":[{\"delta\":{\"content\":\"12345\"}}]}\r\n\r\ndata: [DONE]\r\n\r\n")
		forward(tenant, `{"model":"m","stream":true,`+question+`}`)
		require.Equal(t, []int64{1 + 2 + 2}, l.spent)
	})
	t.Run("without streaming", func(t *testing.T) {
		tenant, l := serve(saved(t, "text.json"))
		require.Equal(t, saved(t, "text.json"), forward(tenant, `{"model":"m",`+question+`}`))
		require.NotContains(t, sent, "stream_options")
		require.Equal(t, []int64{12}, l.spent)
	})
	t.Run("truncated response is passed on and estimated", func(t *testing.T) {
		tenant, l := serve("data: {\"choices\":[{\"delta\":{\"content\":\"12345\"}}]}\n\ndata: {\"cho")
		require.Contains(t, forward(tenant, `{"model":"m","stream":true,`+question+`}`), "\n\ndata: {\"cho")
		require.Equal(t, []int64{1 + 2 + 2}, l.spent)
		tenant, l = serve(`{"choices":`)
		forward(tenant, `{"model":"m",`+question+`}`)
		require.Equal(t, []int64{1 + 2 + 3}, l.spent)
	})
	t.Run("error response is free", func(t *testing.T) {
		tenant, l := accounted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no"}}`)
		})
		forward(tenant, `{"model":"m",`+question+`}`)
		require.Empty(t, l.spent)
	})
}

func TestUseIsReported(t *testing.T) {
	tenant, _ := accounted(t, answerWith(saved(t, "text.sse")))
	var used []Use
	tenant.used = func(u Use) { used = append(used, u) }
	req := hello(true)
	req.LLM = "m"
	_, _, err := collect(tenant.ForCanvas("c").Generate(t.Context(), req))
	require.NoError(t, err)
	require.Len(t, used, 1)
	p, name, err := tenant.models.resolve("m", KindChat)
	require.NoError(t, err)
	require.Equal(t, Use{
		Tenant: "t", Canvas: "c", Model: name + "@" + p.config.Label(), Tokens: Tokens{Input: 9, Output: 3},
	}, used[0])
}

func TestCountsDoNotOverflow(t *testing.T) {
	var b bill
	b.report(&engine.Usage{Prompt: math.MaxInt, Completion: math.MaxInt})
	require.EqualValues(t, math.MaxInt64, b.tokens(nil).sum())
	b = bill{estimated: math.MaxInt64}
	b.addText("more")
	require.EqualValues(t, math.MaxInt64, b.tokens(func() int64 { return 5 }).sum())
}

// The client receives the provider's bytes unchanged, except for a usage report it did not request.
func FuzzCountedBody(f *testing.F) {
	f.Add("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n", true)
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\r\n\r\n: ping\n\nevent: x", false)
	f.Fuzz(func(t *testing.T, text string, hide bool) {
		read := func(r io.Reader) string {
			l := &ledger{}
			c := &countedBody{
				ReadCloser: io.NopCloser(r), request: engine.Object(), hide: hide,
				charge: func(used Tokens) { l.Spend(used.sum()) },
			}
			c.lines = bufio.NewReader(r)
			got, err := io.ReadAll(c)
			require.NoError(t, err)
			require.NoError(t, c.Close())
			for _, n := range l.spent {
				require.Positive(t, n)
			}
			return string(got)
		}
		got := read(strings.NewReader(text))
		require.Equal(t, got, read(iotest.OneByteReader(strings.NewReader(text))), "read sizes do not matter")
		if !hide {
			require.Equal(t, text, got)
		}
		rest := got
		for i := 0; i < len(text) && rest != ""; i++ {
			if text[i] == rest[0] {
				rest = rest[1:]
			}
		}
		require.Empty(t, rest, "nothing is added or reordered")
	})
}
