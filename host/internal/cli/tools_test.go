package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// tavilyKey must not be in any event, log or state.
const tavilyKey = "tvly-0123456789abcdef"

// tavilyDouble answers as Tavily does, with the key in its text.
func tavilyDouble(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+tavilyKey {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"detail":{"error":"invalid key"}}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		const answer = `{"results":[{"title":"Coats","url":"https://shop.example/coats","content":"Wool, %s."}]}`
		_, _ = fmt.Fprintf(w, answer, tavilyKey)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// searching returns a canvas with TavilySearch as a node and as a tool of an Agent.
func searching(t *testing.T, base, key string) string {
	params, err := json.Marshal(map[string]any{"api_key": key, "base_url": base, "query": "{sys.query}"})
	require.NoError(t, err)
	return file(t, "search.json", sketch.Chain("begin Begin", "TavilySearch:S TavilySearch "+string(params),
		`Agent:A Agent {"llm_id":"x","prompts":[{"role":"user","content":"{sys.query}"}],
			"tools":[{"component_name":"TavilySearch","name":"Search","params":`+string(params)+`}]}`,
		`Message:M Message {"content":["{TavilySearch:S@formalized_content} // {Agent:A@content}"]}`))
}

func TestToolsRunAsNodeAndAsToolOfAnAgent(t *testing.T) {
	t.Setenv("EASEL_PLUGINS", t.TempDir())
	t.Setenv("EASEL_SECRET_TAVILY", tavilyKey)
	canvas := searching(t, tavilyDouble(t), "{{secret:TAVILY}}")
	script := file(t, "script.json", `{"llm_script": [
		{"text": "[{\"name\": \"tavily_search_0\", \"arguments\": {\"query\": \"coats\"}}]"},
		{"text": "[{\"name\": \"complete_task\", \"arguments\": {\"answer\": \"done\"}}]"}],
		"fallback": {"text": "the end"}}`)
	state := filepath.Join(t.TempDir(), "state.json")
	code, out, errs := easel(t, "run", canvas, "--allow-private", "--events", "--state", state,
		"--model", "scripted:"+script, "-q", "warm coats")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "https://shop.example/coats")
	require.Contains(t, out, "Wool, ***.")
	require.Contains(t, out, `"tavily_search_0"`)
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	for name, text := range map[string]string{"events": out, "log": errs, "state": string(saved)} {
		require.NotContains(t, text, tavilyKey, name)
		require.NotContains(t, text, "0123456789abcdef", name)
	}
	require.Contains(t, string(saved), "{{secret:TAVILY}}")
}

func TestToolWithoutItsSecretSaysWhich(t *testing.T) {
	t.Setenv("EASEL_PLUGINS", t.TempDir())
	code, _, errs := easel(t, "run", searching(t, tavilyDouble(t), "{{secret:NOT_SET}}"), "--allow-private", "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "EASEL_SECRET_NOT_SET")
}

func TestPrivateAddressesOfToolsNeedAFlag(t *testing.T) {
	t.Setenv("EASEL_PLUGINS", t.TempDir())
	code, _, errs := easel(t, "run", searching(t, tavilyDouble(t), tavilyKey), "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "private or special address")
}

func TestToolsCanBeSwitchedOff(t *testing.T) {
	t.Setenv("EASEL_PLUGINS", t.TempDir())
	canvas := searching(t, tavilyDouble(t), tavilyKey)
	code, _, errs := easel(t, "run", canvas, "--allow-private", "--no-tools", "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "TavilySearch")

	code, out, errs := easel(t, "plugin", "disable", "tavily_search")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "tavily_search is off\n", out)
	_, _, errs = easel(t, "run", canvas, "--allow-private", "-q", "x")
	require.Contains(t, errs, "switched off; `easel plugin enable tavily_search` switches it on")
	_, out, _ = easel(t, "plugin", "list")
	require.Regexp(t, `tavily_search +1\.0\.0 +off +built in, serves TavilySearch`, out)
	require.Regexp(t, `arxiv_search +1\.0\.0 +on `, out)

	code, _, errs = easel(t, "plugin", "enable", "tavily_search", "--allow", "http")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "built-in tool")
	code, out, _ = easel(t, "plugin", "enable", "tavily_search", "--json")
	require.Equal(t, ExitOK, code)
	require.True(t, parse1(t, out).Get("enabled").True())
}

func TestComponentsSayThatToolsRun(t *testing.T) {
	_, out, _ := easel(t, "components")
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, " ")
		if slices.Contains([]string{"TavilySearch", "Crawler", "Browser"}, name) {
			require.Regexp(t, ` runs +runs +stand-in +`, line)
		}
	}
}

// The interpreter of the tools is compiled during a run whose canvas has one, before it is called.
func TestToolsAreCompiledBesideTheRun(t *testing.T) {
	agent := sketch.Canvas(
		`Agent:A Agent {
		"tools":[{"component_name":"Agent","params":{"tools":[{"component_name":"SearXNG","params":{}}]}}]}`,
	)
	for name, c := range map[string]struct {
		canvas string
		files  bool
	}{
		"a node":           {sketch.Canvas("S Wikipedia"), true},
		"a tool of a tool": {agent, true},
		"none":             {sketch.Canvas("S ExeSQL"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("EASEL_PLUGINS", t.TempDir())
			clear(t)
			cache := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			t.Setenv("HOME", cache)
			a, err := newApp(strings.NewReader(""), io.Discard, io.Discard)
			require.NoError(t, err)
			_, err = (&world{canvas: parse1(t, c.canvas)}).options(a)
			require.NoError(t, err)
			require.NoError(t, a.end())
			compiled, err := filepath.Glob(filepath.Join(toolCache(), "*"))
			require.NoError(t, err)
			require.Equal(t, c.files, len(compiled) > 0)
		})
	}
}
