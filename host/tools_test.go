package host

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/tools"
)

const searchKey = "tvly-0123456789abcdef"

// searchService answers as Tavily does, with the received key in its text.
func searchService(t *testing.T) string {
	return httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		const answer = `{"results":[{"title":"Coats","url":"https://shop.example/coats","content":"Found with %s."}]}`
		_, _ = fmt.Fprintf(w, answer, key)
	})
}

func searchCanvas(base string) string {
	return sketch.Chain("begin Begin",
		`T TavilySearch {"api_key":"{{secret:TAVILY}}","base_url":"`+base+`"}`,
		`M Message {"content":["{T@formalized_content}"]}`)
}

// A tool runs on the server with a key of the tenant, which is in nothing that is stored or sent:
// neither events, nor the run's records, the export, the session, nor a file of the host.
func TestToolRunsWithASecretThatStaysOne(t *testing.T) {
	dir := t.TempDir()
	_, url := open(t, Config{Dir: dir, AllowPrivate: true})
	put := asked(t, url, "PUT", "/api/v2/secrets/TAVILY", "application/json", `{"value":"`+searchKey+`"}`)
	require.NotContains(t, put, "error")
	canvas := saved(t, url, "key", searchCanvas(searchService(t)))
	answer := said(t, url, "key", canvas, "warm coats")
	require.Contains(t, answer, "Found with ***.")
	require.Contains(t, answer, "https://shop.example/coats")
	shown := []string{"/api/v2/canvases/" + canvas, "/api/v2/runs", "/v1/canvas/get/" + canvas, "/metrics"}
	for _, path := range shown {
		require.NotContains(t, asked(t, url, "GET", path, "", ""), searchKey, path)
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		raw, err := io.ReadAll(f)
		require.NotContains(t, string(raw), searchKey, path)
		return err
	}))
}

// A switch in the folder of plugins counts at once; --no-tools leaves tools out.
func TestToolsOfAHostAreSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	_, url := open(t, Config{Dir: dir, AllowPrivate: true})
	canvas := saved(t, url, "key", sketch.Chain("begin Begin", "W WenCai"))
	require.Contains(t, said(t, url, "key", canvas, "q"), "no public API")
	require.NoError(t, tools.ReadSwitches(filepath.Join(dir, "plugins")).Set("iwencai", false))
	require.Contains(t, said(t, url, "key", canvas, "q"), "switched off")

	_, url = open(t, Config{NoTools: true})
	canvas = saved(t, url, "key", sketch.Chain("begin Begin", "W WenCai"))
	require.Contains(t, said(t, url, "key", canvas, "q"), "only where a host offers it")
}

// A preview in a page calls a tool through the host. The key stays on the host, and is sent only to
// the tool's service.
func TestPagesCallToolsThroughTheHost(t *testing.T) {
	var seen []string
	service := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"results":[{"title":"A","url":"https://a.example","content":"Text."}]}`)
	})
	_, url := open(t, Config{AllowPrivate: true})
	put := asked(t, url, "PUT", "/api/v2/secrets/TAVILY", "application/json", `{"value":"`+searchKey+`"}`)
	require.NotContains(t, put, "error")
	call := func(component, params string) string {
		body := `{"params":` + params + `,"arguments":{"query":"q"}}`
		return asked(t, url, "POST", "/api/v2/tools/"+component+"/call", "application/json", body)
	}
	answer := call("TavilySearch", `{"api_key":"own key of the canvas","base_url":"`+service+`"}`)
	require.Contains(t, answer, `"Text."`)
	require.Equal(t, []string{"Bearer own key of the canvas"}, seen)

	answer = call("TavilySearch", `{"api_key":"{{secret:TAVILY}}","base_url":"`+service+`"}`)
	require.Contains(t, answer, "tool_failed")
	require.Contains(t, answer, "goes to the tool's own service only")
	require.Len(t, seen, 1, "the key was not sent")
	require.Contains(t, call("TavilySearch", `{"api_key":"{{secret:OTHER}}"}`), "OTHER")
	require.JSONEq(t, `{"outputs":null}`, call("Nope", `{}`))
	require.JSONEq(t, `{"outputs":null}`, call("ExeSQL", `{}`), "connections of the host are not for pages")
}
