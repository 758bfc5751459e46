package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestRecordedCasePasses(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"shop":  {examples + "shop.json", "-q", "How long can I return shoes?", "-q", "Thank you"},
		"order": {examples + "order.json", "-q", "mugs"},
		"form":  {file(t, "c.json", form), "--file", file(t, "a.txt", "text"), "--inputs", `{"city": "Rome"}`},
	} {
		path := filepath.Join(dir, name+".json")
		code, out, errs := easel(t, append([]string{"record", "--knowledge", examples + "knowledge", "-o", path},
			args...)...)
		require.Equal(t, ExitOK, code, errs)
		require.Contains(t, out, "recorded")
	}
	code, out, _ := easel(t, "test", dir, "-v")
	require.Equal(t, ExitOK, code, out)
	require.Equal(t, "ok   form\nok   order\nok   shop\n3 passed, 0 failed\n", out)

	for _, flags := range [][]string{{"--cut"}, {"--keep"}, {"--concurrency", "1"}} {
		code, out, _ := easel(t, append([]string{"test", dir}, flags...)...)
		require.Equal(t, ExitOK, code, out)
	}

	path := filepath.Join(dir, "shop.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "You are welcome", "You were welcome",
		1)), 0o600))
	code, out, _ = easel(t, "test", dir, "--only", "s*")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "FAIL shop\n")
	require.Contains(t, out, "0 passed, 1 failed\n")
	code, out, _ = easel(t, "test", path, "--json")
	require.Equal(t, ExitFailed, code)
	require.False(t, parse1(t, out).Get("passed").True())
}

// searchThenDouble is a canvas that searches at an address and then calls a tool of an MCP server.
var searchThenDouble = sketch.Canvas(
	"begin Begin -> TavilySearch:S",
	`TavilySearch:S TavilySearch {"query":"QUERY {sys.query}","api_key":"KEY","base_url":"BASE"} -> Agent:A`,
	`Agent:A Agent {"llm_id":"x",
		"mcp":[{"mcp_id":"numbers","tools":{"double":{}}}],"prompts":[{"role":"user","content":"{sys.query}"}]}
		-> Message:M`,
	`Message:M Message {"content":["{TavilySearch:S@json} {Agent:A@content}"]}`,
)

// A case has the answers of tools and MCP servers: it passes when the services are gone, names the
// argument of a call that changed, and holds no key, neither of the canvas nor of the environment.
func TestRecordedToolsPassWithoutTheirServices(t *testing.T) {
	t.Setenv("EASEL_SECRET_TAVILY", "tvly-from-the-environment")
	for name, key := range map[string]string{"literal": "tvly-in-the-canvas", "secret": "{{secret:TAVILY}}"} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				key := r.Header.Get("Authorization")
				answer := engine.Object("title", "T", "url", "http://example.org", "content", key)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, engine.Object("results", engine.List(answer)).JSON())
			}))
			text := strings.NewReplacer("BASE", service.URL, "KEY", key).Replace(searchThenDouble)
			canvas := file(t, "c.json", strings.Replace(text, "QUERY", "warm", 1))
			servers := file(t, "mcp.json", `{"mcpServers":{"numbers":`+stdioServer(t)+`}}`)
			path := filepath.Join(t.TempDir(), "case.json")
			code, _, errs := easel(t, "record", canvas, "-o", path, "-q", "coats", "--allow-private", "--mcp", servers,
				"--model", doublingScript(t))
			require.Equal(t, ExitOK, code, errs)
			require.Equal(t, 1, asked)
			service.Close()
			recorded, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(recorded), "tvly-")
			require.Contains(t, string(recorded), "twice 21 is 42")

			code, out, errs := easel(t, "test", path)
			require.Equal(t, ExitOK, code, out+errs)
			changed := file(t, "changed.json", strings.Replace(text, "QUERY", "cold", 1))
			code, out, _ = easel(t, "test", path, "--canvas", changed)
			require.Equal(t, ExitFailed, code)
			require.Contains(t, out, "tool call TavilySearch: arguments.query: expected warm coats, saw cold coats")
			require.Equal(t, 1, asked)
		})
	}
}

// invokeTwice is a canvas that sends two web requests, the second with the answer to the first.
var invokeTwice = sketch.Canvas(
	"begin Begin -> Invoke:A",
	`Invoke:A Invoke {"url":"BASE/PATH?q={sys.query}","method":"get",
		"headers":"{\"Authorization\": \"Bearer {{secret:SHOP}}\"}"} -> Invoke:B`,
	`Invoke:B Invoke {"url":"BASE/order","method":"post",
		"variables":[{"key":"of","ref":"Invoke:A@result"}]} -> Message:M`,
	`Message:M Message {"content":["{Invoke:B@status_code} {Invoke:B@result}"]}`,
)

// A case has the answers to web requests, errors included: it passes when the server is gone, names
// what changed in a request, and holds no secret, not even one that the server sends back.
func TestRecordedRequestsPassWithoutTheirServer(t *testing.T) {
	t.Setenv("EASEL_SECRET_SHOP", "shop-from-the-environment")
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/order" {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write(body)
			return
		}
		w.Header().Set("X-Seen", r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "found "+r.URL.Query().Get("q")+" for "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	text := strings.ReplaceAll(invokeTwice, "BASE", server.URL)
	path := filepath.Join(t.TempDir(), "case.json")
	code, _, errs := easel(t, "record", file(t, "c.json", strings.Replace(text, "PATH", "search", 1)), "-o", path,
		"-q", "warm coats", "--allow-private")
	require.Equal(t, ExitOK, code, errs)
	require.EqualValues(t, 2, asked.Load())
	server.Close()
	recorded, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(recorded), "shop-from-the-environment")
	require.Contains(t, string(recorded), `"headers":{"Authorization":"Bearer {{secret:SHOP}}"}`)
	require.Contains(t, string(recorded), "409")

	code, out, errs := easel(t, "test", path)
	require.Equal(t, ExitOK, code, out+errs)
	changed := file(t, "changed.json", strings.Replace(text, "PATH", "find", 1))
	code, out, _ = easel(t, "test", path, "--canvas", changed)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "tool call Invoke: arguments.url: expected "+server.URL+"/search?q=warm%20coats, saw "+
		server.URL+"/find?q=warm%20coats")

	code, _, errs = easel(t, "record", changed, "-o", path, "-q", "warm coats", "--allow-private")
	require.Equal(t, ExitOK, code, errs)
	code, out, errs = easel(t, "test", path)
	require.Equal(t, ExitOK, code, "a server that is down is recorded, too: "+out+errs)
}

// Cases store one result per query; this canvas sends the same query to two datasets.
func TestRecordReportsWhatCannotRepeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guide.json")
	code, _, errs := easel(t, "record", examples+"guide.json", "--knowledge", examples+"knowledge", "-q",
		"Which shoes for a wet trail?", "-o", path)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "the case is not reproducible")
	require.FileExists(t, path)
}

func TestReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "case.json")
	code, _, errs := easel(t, "record", examples+"shop.json", "-o", path, "-q", "Thank you")
	require.Equal(t, ExitOK, code, errs)
	code, out, _ := easel(t, "replay", path)
	require.Equal(t, ExitOK, code)
	v := parse1(t, out)
	require.Equal(t, "case", v.Get("name").Str())
	require.Equal(t, "workflow_started", v.Get("runs").At(0).Get("events").At(0).Get("event").Str())
}

func TestReplayTemplates(t *testing.T) {
	path := file(t, "t.jsonl", `{"name": "a", "template": "Hi {{ who }}", "context": {"who": "you"}}`+"\n\n"+
		`{"name": "b", "template": "{% if %}", "context": {}}`+"\n")
	code, out, errs := easel(t, "replay", "--templates", path)
	require.Equal(t, ExitOK, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	require.Equal(t, `{"name":"a","text":"Hi you"}`, lines[0])
	require.NotEmpty(t, parse1(t, lines[1]).Get("error").Str())
}

// A case recorded from a canvas tests the current canvas if it is named, else the copy in the case.
func TestCaseOfAChangedCanvas(t *testing.T) {
	shop, err := os.ReadFile(examples + "shop.json")
	require.NoError(t, err)
	canvas := file(t, "shop.json", string(shop))
	path := filepath.Join(t.TempDir(), "thanks.json")
	code, _, errs := easel(t, "record", canvas, "-o", path, "-q", "Thank you")
	require.Equal(t, ExitOK, code, errs)
	code, out, errs := easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitOK, code, out+errs)

	changed := strings.Replace(string(shop), "You are welcome", "With pleasure", 1)
	require.NotEqual(t, string(shop), changed)
	require.NoError(t, os.WriteFile(canvas, []byte(changed), 0o600))
	code, out, _ = easel(t, "test", path)
	require.Equal(t, ExitOK, code, out)
	code, out, _ = easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "FAIL thanks\n")
	require.Contains(t, out, "With pleasure")
	code, out, _ = easel(t, "replay", path, "--canvas", canvas)
	require.Equal(t, ExitOK, code)
	require.Contains(t, out, "With pleasure")

	require.NoError(t, os.WriteFile(canvas, []byte(`{"components":{}}`), 0o600))
	code, out, errs = easel(t, "test", path, "--canvas", canvas)
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, errs, canvas+": the canvas does not load")
	require.Empty(t, out)
	code, _, errs = easel(t, "test", path, "--canvas", filepath.Join(t.TempDir(), "none.json"))
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "none.json")
	code, _, errs = easel(t, "replay", "--templates", path, "--canvas", canvas)
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "--templates excludes --canvas")
}
