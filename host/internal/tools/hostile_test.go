package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// ask calls a component whose service answers with serve. The key is the same for all.
func ask(t *testing.T, component string, params map[string]any, serve http.HandlerFunc) (engine.Value, error) {
	t.Helper()
	srv := httptest.NewServer(serve)
	t.Cleanup(srv.Close)
	all := map[string]any{"api_key": testKey, "base_url": srv.URL}
	for name, v := range params {
		all[name] = v
	}
	return newSet(t, Config{AllowPrivate: true}).Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
		Component: component, Key: "k", Params: value(t, all), Arguments: value(t, map[string]any{"query": "q"}),
	})
}

const testKey = "key-0123456789abcdef"

// refused requires an error with a code and part of its message, and without a key.
func refused(t *testing.T, err error, code, part string) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	require.Contains(t, e.Message, part)
	require.NotContains(t, err.Error(), testKey)
	return e
}

func TestRefusalsOfServicesHaveCodes(t *testing.T) {
	const data = "application/json"
	for _, c := range []struct {
		name        string
		status      int
		header      string
		contentType string
		body        string
		code, part  string
		again       bool
	}{
		{"invalid key", 401, "", data, `{"detail":{"error":"bad key"}}`, "unauthorized", "bad key", false},
		{"forbidden", 403, "", data, `{}`, "unauthorized", "403", false},
		{"rate limited", 429, "7", data, `{"detail":"slow"}`, "rate_limited", "slow; try again after 7 s", true},
		{"rate limited with an HTML page", 429, "", "text/html", `<html>busy</html>`, "rate_limited", "429", true},
		{"bad request", 400, "", data, `{"detail":"too long"}`, "invalid_argument", "too long", false},
		{"gone", 404, "", "text/plain", `no`, "not_found", "404", false},
		{"broken", 500, "", data, `{"detail":"oops"}`, "upstream", "500: oops", true},
		{"bad gateway", 502, "", "text/html", `<html><h1>Bad Gateway</h1></html>`, "upstream", "502", true},
		{"HTML instead of data", 200, "", "text/html", `<html>log in</html>`, "upstream", "but text/html", true},
		{"nothing", 200, "", "", ``, "upstream", "but empty", true},
		{"truncated", 200, "", data, `{"results":[{"title":"A"`, "upstream", "not JSON", true},
		{"unknown charset", 200, "", data +
			"; charset=x-none", "{\"results\":\"\xd6\xd0\"}", "upstream", "charset", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ask(t, "TavilySearch", nil, func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			e := refused(t, err, c.code, c.part)
			require.Equal(t, !c.again, errors.Is(err, engine.ErrNoRetry))
			if c.header != "" {
				require.EqualValues(t, 7000, e.RetryAfterMS)
			}
		})
	}
}

func TestLatinAnswersAreRead(t *testing.T) {
	out, err := ask(t, "TavilySearch", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=ISO-8859-1")
		_, _ = io.WriteString(w, "{\"results\":[{\"title\":\"Gr\xf6\xdfe \x80\",\"content\":\"c\",\"score\":1}]}")
	})
	require.NoError(t, err)
	require.Equal(t, "Größe €", out.Get("chunks").At(0).Get("title").Text())
}

// Text in other charsets is decoded by the header of the answer, or by the declaration in a page or
// a feed.
func TestAnswersInOtherCharsetsAreRead(t *testing.T) {
	const tea = "\xb2\xe8" // 茶 in GBK
	const feed = `<feed><entry><id>1</id><title>` + tea + `</title><summary>` + tea + `</summary></entry></feed>`
	for _, c := range []struct{ component, contentType, body string }{
		{"TavilySearch", "application/json; charset=GBK", `{"results":[{"title":"` + tea + `","content":"` +
			tea + `","score":1}]}`},
		{"TavilySearch", "application/json; charset=gb18030", `{"results":[{"title":"` + tea + `","content":"` +
			tea + `"}]}`},
		{"TavilySearch", "application/json; charset=Shift_JIS", `{"results":[{"title":"` + "\x92\x83" +
			`","content":"x"}]}`},
		{"Crawler", "text/html", `<html><head><meta charset="gbk"></head><body><p>` + tea + `</p></body></html>`},
		{"Crawler", "text/html", `<meta http-equiv=Content-Type content="text/html; charset=gb2312"><p>` + tea +
			`</p>`},
		{"Crawler", "text/html; charset=big5", "<p>\xaf\xf9</p>"},
		{"ArXiv", "application/atom+xml", `<?xml version="1.0" encoding="gbk"?>` + feed},
	} {
		serve := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.contentType)
			_, _ = io.WriteString(w, c.body)
		}
		srv := httptest.NewServer(http.HandlerFunc(serve))
		url := srv.URL
		out, err := newSet(t, Config{AllowPrivate: true}).Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
			Component: c.component, Key: "k", Params: value(t, map[string]any{"api_key": testKey, "base_url": url}),
			Arguments: value(t, map[string]any{"query": url}),
		})
		srv.Close()
		require.NoError(t, err, c.contentType)
		require.Contains(t, out.JSON(), "茶", c.contentType+c.body)
	}
}

func TestHostileAnswersEndAtLimits(t *testing.T) {
	const data, feed = "application/json", "application/atom+xml"
	bomb := `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><feed>&b;</feed>`
	for _, c := range []struct {
		name, component, contentType, code, part string
		body                                     func(w io.Writer) error
	}{
		{"endless", "TavilySearch", data, "upstream", "response of more than 10485760 bytes", endless},
		{"deep JSON", "TavilySearch", data, "upstream", "not JSON", repeated("[", 1_000_000)},
		{"deep objects", "TavilySearch", data, "upstream", "not JSON", repeated(`{"a":`, 700_000)},
		{"many values", "TavilySearch", data, "oom", "", repeated("["+strings.Repeat("1,", 1_900_000)+"1]", 1)},
		{"XML bomb", "ArXiv", feed, "upstream", "entities", repeated(bomb, 1)},
		{"deep XML", "ArXiv", feed, "upstream", "nested", repeated("<a>", 1_000_000)},
		{"many elements", "ArXiv", feed, "upstream", "more than 100000 elements", repeated("<a/>", 1_000_000)},
		{"HTML instead of XML", "ArXiv", "text/html", "upstream", "not XML", repeated("<html></html>", 1)},
		{"deep HTML", "DuckDuckGo", "text/html", "upstream", "nested", repeated("<div>", 800_000)},
		{
			"a page for crawlers", "DuckDuckGo", "text/html", "rate_limited", "proof of a person",
			repeated(`<form id="challenge-form"></form>`, 1),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			_, err := ask(t, c.component, nil, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				_ = c.body(w) // the tool hangs up
			})
			refused(t, err, c.code, c.part)
			t.Log(time.Since(began))
		})
	}
}

// endless writes until the reader hangs up.
func endless(w io.Writer) error {
	piece := strings.Repeat(" ", 1<<20)
	for {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
}

func repeated(piece string, times int) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat(piece, times))
		return err
	}
}

func TestSlowServiceEndsWithTheCaller(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	_, err := newSet(t, Config{AllowPrivate: true}).Port("t", nil).CallTool(ctx, tavily(t, srv.URL))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestKeysDoNotLeak(t *testing.T) {
	for _, body := range []string{
		`{"results":[{"title":"%s","url":"https://x/?k=%[1]s","content":"%[1]s","score":1}]}`,
		`{"detail":{"error":"invalid key %s"}}`,
	} {
		out, err := ask(t, "TavilySearch", nil, func(w http.ResponseWriter, r *http.Request) {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if key != testKey {
				t.Errorf("the service got %q", key)
			}
			w.Header().Set("Content-Type", "application/json")
			if strings.Contains(body, "detail") {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = fmt.Fprintf(w, body, key)
		})
		require.NotContains(t, out.JSON(), testKey)
		require.NotContains(t, out.JSON(), "{{secret:")
		if err != nil {
			require.NotContains(t, err.Error(), testKey)
			require.Contains(t, err.Error(), "***")
		}
	}
}

// secrets is engine.Secrets over a map; BOUND may go to another host only.
type secrets map[string]string

func (s secrets) Secret(_ context.Context, name string) (engine.Secret, error) {
	v, ok := s[name]
	if !ok {
		return engine.Secret{}, fmt.Errorf("environment variable %s is not set", name)
	}
	if name == "BOUND" {
		return engine.Secret{Value: v, Hosts: []string{"api.tavily.com"}}, nil
	}
	return engine.Secret{Value: v}, nil
}

func TestKeysComeFromSecretsOfTheHost(t *testing.T) {
	var got atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, tavilyAnswer)
	}))
	defer srv.Close()
	const mark = "0123456789abcdef0123456789abcdef"
	call := func(text string) error {
		c := tavily(t, srv.URL)
		c.Params = value(t, map[string]any{"api_key": text, "base_url": srv.URL})
		c.SecretMark = mark
		kept := secrets{"TAVILY": "s3cret-value", "BOUND": "b0und-value"}
		_, err := newSet(t, Config{AllowPrivate: true}).Port("t", kept).CallTool(t.Context(), c)
		return err
	}
	require.NoError(t, call("{{secret:TAVILY:"+mark+"}}"))
	require.Equal(t, "Bearer s3cret-value", got.Load())
	refused(t, call("{{secret:NONE:"+mark+"}}"), "unauthorized", `param api_key: environment variable NONE is not set`)
	refused(t, call("{{secret:BOUND:"+mark+"}}"), "unauthorized", "bound to api.tavily.com")
	// Without the mark of the run it is text from outside.
	require.NoError(t, call("{{secret:TAVILY}}"))
	require.Equal(t, "Bearer {{secret:TAVILY}}", got.Load())
}

func TestKeyIsRequired(t *testing.T) {
	_, err := ask(t, "TavilySearch", map[string]any{"api_key": ""}, func(http.ResponseWriter, *http.Request) {
		t.Error("asked without a key")
	})
	refused(t, err, "unauthorized", "api_key is empty; set it to a key of Tavily")
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	asked := atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer srv.Close()
	set := newSet(t, Config{})
	for component, params := range map[string]map[string]any{
		"TavilySearch": {"api_key": testKey, "base_url": srv.URL},
		"SearXNG":      {"searxng_url": srv.URL},
	} {
		_, err := set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
			Component: component, Params: value(t, params), Arguments: value(t, map[string]any{"query": "q"}),
		})
		refused(t, err, "unauthorized", "private or special address")
	}
	_, err := set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
		Component: "Crawler", Params: value(t, map[string]any{}), Arguments: value(t, map[string]any{"query": srv.URL}),
	})
	refused(t, err, "unauthorized", "private or special address")
	require.False(t, asked.Load())
}

// A redirect leads only to hosts of the manifest and of the canvas.
func TestRedirectsToOtherHostsAreRefused(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer inner.Close()
	_, err := ask(t, "TavilySearch", nil, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(inner.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	})
	refused(t, err, "unauthorized", "is not granted")
}

// An address from a model or a reference is not granted: it would determine where the key is sent.
func TestOnlyTheCanvasNamesOtherHosts(t *testing.T) {
	set := newSet(t, Config{AllowPrivate: true})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	defer srv.Close()
	address := strings.Replace(srv.URL, "127.0.0.1", "127.0.0.2", 1)
	_, err := set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
		Component: "SearXNG", Params: value(t, map[string]any{}),
		Arguments: value(t, map[string]any{"query": "q", "searxng_url": address}),
	})
	refused(t, err, "unauthorized", "is not granted")
	_, err = set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
		Component: "SearXNG", Params: value(t, map[string]any{"searxng_url": "{sys.query}"}),
		Arguments: value(t, map[string]any{"query": "q"}),
	})
	refused(t, err, "invalid_argument", "references are not replaced")
}

func TestToolsWithoutAServiceFailWithTheReason(t *testing.T) {
	set := newSet(t, Config{})
	_, err := set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
		Component: "WenCai", Params: value(t, map[string]any{}), Arguments: value(t, map[string]any{"query": "q"}),
	})
	refused(t, err, "upstream", "iWencai has no public API")
	_, err = set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{Component: "ExeSQL"})
	require.ErrorIs(t, err, engine.ErrNoPort)
}

func TestSwitchesOfToolsCountAtOnce(t *testing.T) {
	dir := t.TempDir()
	srv := answering("application/json", tavilyAnswer)
	defer srv.Close()
	p := newSet(t, Config{AllowPrivate: true, Switches: ReadSwitches(dir)}).Port("t", nil)
	_, err := p.CallTool(t.Context(), tavily(t, srv.URL))
	require.NoError(t, err)
	other := ReadSwitches(dir)
	require.NoError(t, other.Set("tavily_search", false))
	_, err = p.CallTool(t.Context(), tavily(t, srv.URL))
	refused(t, err, "denied", "easel plugin enable tavily_search")
	require.NoError(t, other.Set("tavily_search", true))
	_, err = p.CallTool(t.Context(), tavily(t, srv.URL))
	require.NoError(t, err)
}

// A host compiles the tools at its start; a first call waits for no compiler.
func TestWarmCompilesForAllTools(t *testing.T) {
	srv := answering("application/json", tavilyAnswer)
	defer srv.Close()
	set := newColdSet(t, Config{AllowPrivate: true})
	require.NoError(t, set.Warm(t.Context()))
	require.Len(t, set.open, 1)
	require.NotContains(t, set.open, "tavily_search")
	_, err := set.Port("t", nil).CallTool(t.Context(), tavily(t, srv.URL))
	require.NoError(t, err)
	require.NoError(t, (*Set)(nil).Warm(t.Context()), "a host without tools")
}

// A call that is interpreted has the tools compiled, which continue it without a second request.
func TestCallsCompileTheTools(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			close(asked)
			<-answer
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, tavilyAnswer)
	}))
	defer srv.Close()
	set := newColdSet(t, Config{AllowPrivate: true})
	p := set.Port("t", nil)
	first := make(chan error, 1)
	go func() {
		_, err := p.CallTool(t.Context(), tavily(t, srv.URL))
		first <- err
	}()
	<-asked
	require.Eventually(t, set.isCompiled, 2*time.Minute, time.Millisecond)
	_, err := p.CallTool(t.Context(), tavily(t, srv.URL))
	require.NoError(t, err, "compiled")
	close(answer)
	require.NoError(t, <-first, "interpreted until the answer")
	require.EqualValues(t, 2, requests.Load())
}

// JSON may be nested equally deep in both.
func TestDepthOfAnswersIsTheSameWhenInterpreted(t *testing.T) {
	const most = 201
	for depth, ok := range map[int]bool{most: true, most + 1: false} {
		srv := answering("application/json", `{"results":[],"x":`+
			strings.Repeat("[", depth-1)+strings.Repeat("]", depth-1)+`}`)
		for _, set := range []*Set{newSet(t, Config{AllowPrivate: true}), newInterpretingSet(t)} {
			_, err := set.Port("t", nil).CallTool(t.Context(), tavily(t, srv.URL))
			require.Equal(t, ok, err == nil, "%d: %v", depth, err)
		}
		srv.Close()
	}
}
