package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/model"
)

// named is the text of an outsider, hush the secret.
const named, hush = "{{secret:KEY}}", "hush-hush-1234"

// catcher is the server of an outsider, which stores every request as text.
type catcher struct {
	url string
	mu  sync.Mutex
	all []string
}

func newCatcher(t *testing.T) *catcher {
	t.Helper()
	c := &catcher{}
	c.url = httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		uri, _ := neturl.QueryUnescape(r.URL.RequestURI())
		form, _ := neturl.QueryUnescape(string(body))
		c.mu.Lock()
		c.all = append(c.all, fmt.Sprintf("%s %s\n%v\n%s\n%s", r.Method, uri, r.Header, body, form))
		c.mu.Unlock()
		_, _ = io.WriteString(w, named) // its answer names the secret, too
	})
	return c
}

// take returns the requests since the last time.
func (c *catcher) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

// sender returns a canvas that ends in an Invoke: begin -> nodes -> X. The canvas itself sends the
// secret in the header X-Own.
func sender(begin, params string, nodes ...string) string {
	lines := append([]string{"begin Begin " + begin}, nodes...)
	lines = append(lines, `X Invoke {"headers": "{\"X-Own\": \"{{secret:KEY}}\"}", `+params+`}`,
		`M Message {"content": ["{X@result}"]}`, `=env.set ""`, `@variables {"set": {"type": "string", "value": ""}}`)
	return sketch.Chain(lines...)
}

// ways returns the places of a request into which a reference can bring text; with line the text
// has no blanks or line ends, which no URL may hold.
func ways(url, ref string, line bool) map[string]string {
	at := `"url": "` + url + `/`
	places := map[string]string{
		"query": at + `", "variables": [{"key": "q", "ref": "` + ref + `"}]`,
		"JSON":  at + `", "method": "post", "variables": [{"key": "q", "ref": "` + ref + `"}]`,
		"form":  at + `", "method": "post", "datatype": "formdata", "variables": [{"key": "q", "ref": "` + ref + `"}]`,
	}
	if line {
		places["URL"] = at + `{` + ref + `}?q={` + ref + `}"`
	}
	return places
}

// TestOutsidersCannotReadSecrets has outsiders name a secret in every input of a run of a served
// host. The server that receives the requests of the canvas gets the secret once, where the canvas
// sends it, and otherwise the name.
func TestOutsidersCannotReadSecrets(t *testing.T) {
	c := newCatcher(t)
	knowledge := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(knowledge, "shop"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(knowledge, "shop", "a.md"),
		[]byte("Returns are sent to "+named+" within thirty days."), 0o600))
	provider := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"`+named+`"}}]}`)
	})
	_, url := open(t, Config{
		AllowPrivate: true, Knowledge: knowledge,
		Models: Models{Providers: []model.Provider{{Name: "p", BaseURL: provider}}},
	})
	put := func(body string) {
		require.NotContains(t, asked(t, url, "PUT", "/api/v2/secrets/KEY", "application/json", body), "error")
	}
	put(`{"value":"` + hush + `"}`)

	check := func(t *testing.T, answer string) {
		t.Helper()
		require.NotContains(t, answer, hush)
		got := c.take()
		require.NotEmpty(t, got, answer)
		for _, request := range got {
			require.Equal(t, 1, strings.Count(request, hush), "the canvas's own header only:\n%s", request)
			require.Contains(t, request, "X-Own:["+hush+"]")
		}
		require.Contains(t, got[len(got)-1], "secret:KEY", "what came from outside arrives as it is")
		require.NotRegexp(t, `secret:KEY:[0-9a-f]`, strings.Join(got, "\n"), "a mark")
	}
	llm := `{"llm_id": "m@p", "prompts": [{"role": "user", "content": "{sys.query}"}]}`
	for _, way := range []struct {
		name, ref string
		nodes     []string
	}{
		{"query", "sys.query", nil},
		{"history", "sys.history", nil},
		{"assigned variable", "env.set", []string{`A VariableAssigner {"variables": [{"variable": "env.set", "operator": "overwrite", "parameter": "sys.query"}]}`}},
		{"model", "L@content", []string{"L LLM " + llm}},
		{"agent", "L@content", []string{"L Agent " + llm}},
		{"passage", "R@formalized_content", []string{`R Retrieval {"kb_ids": ["shop"], "query": "Where are returns sent to?", "similarity_threshold": 0.0}`}},
		{"answer", "Y@result", []string{`Y Invoke {"url": "` + c.url + `/first", "headers": {"X-Own": "{{secret:KEY}}"}}`}},
		{"halves", "S@result", []string{`S StringTransform {"method": "merge", "script": "{{secret:{sys.query}", "delimiters": [""]}`}},
		{"script", "C@result", []string{`C CodeExec {"lang": "javascript", "script": "function main({q}) { return '{{secret' + ':KEY}}' + q }", "arguments": {"q": "sys.query"}, "outputs": {"result": {"type": "string", "value": ""}}}`}},
	} {
		for place, params := range ways(c.url, way.ref, way.name != "passage" && way.name != "history") {
			t.Run(way.name+" in "+place, func(t *testing.T) {
				canvas := saved(t, url, "key", sender(`{}`, params, way.nodes...))
				var token struct{ Token string }
				call(t, "POST", url+"/api/v2/canvases/"+canvas+"/token", "", &token)
				query := map[bool]string{true: "KEY}}", false: named}[way.name == "halves"]
				body, err := json.Marshal(map[string]any{"question": query, "stream": false})
				require.NoError(t, err)
				req, err := http.NewRequestWithContext(t.Context(), "POST",
					url+"/api/v1/agentbots/"+canvas+"/completions", strings.NewReader(string(body)))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer "+token.Token)
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				defer res.Body.Close()
				answer, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				check(t, string(answer))
			})
		}
	}

	const anyone = `{"mode": "Webhook", "security": {"auth_type": "none", "allow_anonymous": ` +
		`true}, "execution_mode": "Streaming",
		"schema": {"query": {"properties": {"q": {"type": "string"}}}, "headers": {"properties": {"X-Q": {"type": "string"}}},
		"body": {"properties": {"v": {"type": "string"}, "o": {"type": "object"}}}}}`
	for _, hook := range []struct{ name, ref, query, header, kind, body string }{
		{"body", "begin@body", "", "", "application/json", `{"v": "` + named + `"}`},
		{"escaped body", "begin@body", "", "", "application/json", `{"v": "\u007b\u007bsecret:KEY}}"}`},
		{"key of a body", "begin@body", "", "", "application/json", `{"v": "", "o": {"` + named + `": 1}}`},
		{"form", "begin@body", "", "", "application/x-www-form-urlencoded", "v=" + neturl.QueryEscape(named)},
		{"query", "begin@query", "?q=" + neturl.QueryEscape(named), "", "application/json", `{}`},
		{"header", "begin@headers", "", named, "application/json", `{}`},
	} {
		for place, params := range ways(c.url, hook.ref, false) {
			t.Run("webhook "+hook.name+" in "+place, func(t *testing.T) {
				canvas := saved(t, url, "key", sender(anyone, params))
				req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/webhook/"+canvas+hook.query,
					strings.NewReader(hook.body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", hook.kind)
				if hook.header != "" {
					req.Header.Set("X-Q", hook.header)
				}
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				defer res.Body.Close()
				answer, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				check(t, string(answer))
			})
		}
	}

	t.Run("a form", func(t *testing.T) {
		canvas := saved(t, url, "key", sender(`{}`, ways(c.url, "F@t", false)["JSON"], `F UserFillUp {"enable_tips": false, "inputs": {"t": {"name": "t", "type": "line"}}}`))
		var run struct{ ID, Status string }
		settled := func() string {
			require.Eventually(t, func() bool {
				call(t, "GET", url+"/api/v2/runs/"+run.ID, "", &run)
				return run.Status != "running"
			}, patience, poll)
			return run.Status
		}
		call(t, "POST", url+"/api/v2/canvases/"+canvas+"/runs", `{"query":"x"}`, &run)
		require.Equal(t, "paused", settled())
		call(t, "POST", url+"/api/v2/runs/"+run.ID+"/resume", `{"inputs":{"t":"`+named+`"}}`, &run)
		require.Equal(t, "succeeded", settled())
		check(t, "")
	})

	t.Run("an address that is not the secret's", func(t *testing.T) {
		address := strings.TrimPrefix(c.url, "http://")
		put(`{"value":"` + hush + `","hosts":["api.example.org"]}`)
		canvas := saved(t, url, "key", sender(`{}`, `"url": "{sys.query}"`))
		require.Contains(t, said(t, url, "key", canvas, c.url),
			`secret "KEY": secret is not bound to this host: `+address)
		require.Empty(t, c.take(), "nothing was sent")
		put(`{"value":"` + hush + `","hosts":["` + address + `"]}`)
		said(t, url, "key", canvas, c.url)
		require.Len(t, c.take(), 1)
	})
}
