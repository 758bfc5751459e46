package tools

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/tools"
)

var update = flag.Bool("update", false, "write what the tools give into testdata")

// double is a service as its documentation describes it: the requests it expects, in order, and
// its answers.
type double struct {
	Source    string          `json:"source"`
	Params    map[string]any  `json:"params"`
	Arguments map[string]any  `json:"arguments"`
	Exchanges []exchange      `json:"exchanges"`
	Outputs   json.RawMessage `json:"outputs"`
}

type exchange struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   json.RawMessage   `json:"body,omitempty"`
	Form   map[string]string `json:"form,omitempty"`
	Answer struct {
		Status int             `json:"status"`
		Type   string          `json:"type"`
		JSON   json.RawMessage `json:"json,omitempty"`
		Text   string          `json:"text,omitempty"`
	} `json:"answer"`
}

// serve plays the exchanges.
func (d *double) serve(t *testing.T) *httptest.Server {
	next := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if next >= len(d.Exchanges) {
			t.Errorf("unexpected request %s %s", r.Method, r.URL)
			return
		}
		e := d.Exchanges[next]
		next++
		e.compare(t, r)
		w.Header().Set("Content-Type", e.Answer.Type)
		w.WriteHeader(e.Answer.Status)
		_, _ = w.Write(append(e.Answer.JSON, e.Answer.Text...))
	}))
	t.Cleanup(func() {
		srv.Close()
		if next != len(d.Exchanges) {
			t.Errorf("%d of %d requests were made", next, len(d.Exchanges))
		}
	})
	return srv
}

// compare checks a request; it runs outside the test's goroutine.
func (e *exchange) compare(t *testing.T, r *http.Request) {
	equal := func(what string, want, got any) {
		if !assertEqual(want, got) {
			t.Errorf("%s %s: %s is %v, want %v", r.Method, r.URL.Path, what, got, want)
		}
	}
	equal("method", e.Method, r.Method)
	equal("path", e.Path, r.URL.Path)
	if e.Query != nil {
		equal("query", e.Query, flat(r.URL.Query()))
	}
	for name, want := range e.Header {
		equal(name, want, r.Header.Get(name))
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if e.Form != nil {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			t.Error(err)
		}
		equal("form", e.Form, flat(form))
	}
	if e.Body != nil {
		var want, got any
		if json.Unmarshal(e.Body, &want) != nil || json.Unmarshal(body, &got) != nil {
			t.Errorf("body %s is not JSON", body)
		}
		equal("body", want, got)
	}
}

func assertEqual(want, got any) bool {
	a, errA := json.Marshal(want)
	b, errB := json.Marshal(got)
	return errA == nil && errB == nil && string(a) == string(b)
}

func flat(v url.Values) map[string]string {
	out := map[string]string{}
	for name, values := range v {
		out[name] = strings.Join(values, ",")
	}
	return out
}

// shared is the host of all tests, which compiles the interpreter once.
var shared = sync.OnceValues(func() (*plugin.Host, error) {
	return plugin.New(context.Background(), plugin.Config{Log: slog.New(slog.DiscardHandler)})
})

// newSet makes a Set on the shared host, compiled.
func newSet(t testing.TB, cfg Config) *Set {
	t.Helper()
	set := newColdSet(t, cfg)
	require.NoError(t, set.Warm(t.Context()))
	return set
}

// newColdSet makes a Set on the shared host that nothing has compiled yet.
func newColdSet(t testing.TB, cfg Config) *Set {
	t.Helper()
	h, err := shared()
	require.NoError(t, err)
	cfg.Host = func(context.Context) (*plugin.Host, error) { return h, nil }
	return New(cfg)
}

// newInterpretingSet makes a Set that never compiles by itself.
func newInterpretingSet(t testing.TB) *Set {
	set := newColdSet(t, Config{AllowPrivate: true})
	set.begun, set.small = true, math.MaxInt
	return set
}

// value is v as the engine has it.
func value(t testing.TB, v any) engine.Value {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	out, err := engine.ParseJSON(raw)
	require.NoError(t, err)
	return out
}

// Every tool speaks to a double of its service.
func TestToolsSendDocumentedRequests(t *testing.T) {
	speakToServices(t, newSet(t, Config{AllowPrivate: true}))
}

// Calls that do not wait for the compiler give what the others give.
func TestInterpretedToolsSendDocumentedRequests(t *testing.T) {
	set := newInterpretingSet(t)
	speakToServices(t, set)
	require.False(t, set.isCompiled())
}

// Compiled code that continues a call sends no request a second time.
func TestToolsSendDocumentedRequestsAcrossTheSwitch(t *testing.T) {
	list, err := tools.All()
	require.NoError(t, err)
	for _, tool := range list {
		set := newColdSet(t, Config{AllowPrivate: true})
		set.begun, set.small = true, -1 // the first answer compiles
		speakToServices(t, set, tool)
		require.True(t, set.isCompiled() || tool.Component == "WenCai", tool.Component) // it sends nothing
	}
}

// speakToServices calls the given tools, or all.
func speakToServices(t *testing.T, set *Set, list ...tools.Tool) {
	if len(list) == 0 {
		var err error
		list, err = tools.All()
		require.NoError(t, err)
	}
	for _, tool := range list {
		if tool.Component == "WenCai" {
			continue
		}
		files, err := filepath.Glob(filepath.Join("testdata", tool.Name()+".*json")) // NAME.json, NAME.MORE.json
		require.NoError(t, err)
		require.NotEmpty(t, files, tool.Name())
		for _, file := range files {
			speakToService(t, set, tool, file)
		}
	}
}

// speakToService calls a tool whose service answers from the file.
func speakToService(t *testing.T, set *Set, tool tools.Tool, file string) {
	t.Run(filepath.Base(file), func(t *testing.T) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var d double
		require.NoError(t, json.Unmarshal(raw, &d))
		srv := d.serve(t)
		d.Params[tool.BaseParam()] = srv.URL
		for name, v := range d.Arguments {
			if text, ok := v.(string); ok {
				d.Arguments[name] = strings.Replace(text, "BASE", srv.URL, 1)
			}
		}
		out, err := set.Port("t", nil).CallTool(t.Context(), &engine.ExternalCall{
			Component: tool.Component, Params: value(t, d.Params), Arguments: value(t, d.Arguments), Key: "k",
		})
		require.NoError(t, err)
		require.NotContains(t, out.JSON(), "0123456789abcdef")
		if *update {
			write(t, file, raw, out)
			return
		}
		require.JSONEq(t, string(d.Outputs), out.JSON())
	})
}

// write replaces the outputs of a file, which are its last member.
func write(t *testing.T, file string, raw []byte, out engine.Value) {
	t.Helper()
	head, _, ok := strings.Cut(string(raw), `"outputs":`)
	require.True(t, ok)
	var pretty any
	require.NoError(t, json.Unmarshal([]byte(out.JSON()), &pretty))
	indented, err := json.MarshalIndent(pretty, "  ", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(head+`"outputs": `+string(indented)+"\n}\n"), 0o644))
}
