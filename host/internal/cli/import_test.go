package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The published version of a canvas is exported with it, and stays separate from the draft.
func TestExportAndImportOfPublishedVersions(t *testing.T) {
	env := []string{"EASEL_API_KEY=" + operatorKey}
	verb := func(v string) string { return strings.Replace(echoing, "You said", "You "+v, 1) }
	says := func(s *served, id, want string, members string) {
		t.Helper()
		require.Contains(t, s.post("/0.27/api/v1/agents/chat/completions", operatorKey,
			`{"agent_id":"`+id+`","query":"x"`+members+`}`), want)
	}
	const nothing = "No available published version"
	place := database(t, "sqlite")
	s := serve(t, env, place...)
	one := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"one","dsl":`+verb("published")+`}`), "id")
	s.post("/api/v2/canvases/"+one+"/publish", operatorKey, ``)
	s.post("/v1/canvas/set", operatorKey, `{"id":"`+one+`","title":"one","dsl":`+verb("drew")+`}`)
	says(s, one, "You published x", `,"release":true`)
	same := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"same","dsl":`+verb("agreed")+`}`), "id")
	s.post("/api/v2/canvases/"+same+"/publish", operatorKey, ``)
	member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"never","dsl":`+echoing+`}`), "id")

	all, never := filepath.Join(t.TempDir(), "all.zip"), filepath.Join(t.TempDir(), "never.json")
	_, err := commandIn(t, append([]string{"export", "-o", all}, place...)...)
	require.NoError(t, err)
	_, err = commandIn(t, append([]string{"export", "never", "-o", never}, place...)...)
	require.NoError(t, err)
	text, err := os.ReadFile(never)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"published"`)
	require.NoError(t, s.stop())

	place = database(t, "sqlite")
	s = serve(t, env, place...)
	for range 2 { // new ones, and over those that are there
		_, err = commandIn(t, append([]string{"import", all, "--replace"}, place...)...)
		require.NoError(t, err)
		_, list := s.get("/api/v2/canvases", operatorKey)
		ids := map[string]string{}
		for _, m := range regexp.MustCompile(`"id":"([0-9a-f]{32})","title":"(\w+)"`).FindAllStringSubmatch(list, -1) {
			ids[m[2]] = m[1]
		}
		says(s, ids["one"], "You drew x", "")
		says(s, ids["one"], "You published x", `,"release":true`)
		says(s, ids["same"], "You agreed x", `,"release":true`)
		says(s, ids["never"], "You said x", "")
		says(s, ids["never"], nothing, `,"release":true`)
	}

	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"title":"bad","dsl":`+echoing+`,"published":{"components":{}}}`),
		0o600))
	_, err = commandIn(t, append([]string{"import", bad}, place...)...)
	require.ErrorContains(t, err, "bad.json: published: ")
}

// Commands that need the data of a host say how it is made, and leave no half of it behind.
func TestDataDirectoryIsMadeByServe(t *testing.T) {
	canvas := file(t, "canvas.json", echoing)
	missing, plugins := filepath.Join(t.TempDir(), "data"), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(plugins, "plugins"), 0o755)) // as plugin install does
	for _, dir := range []string{missing, plugins} {
		for _, args := range [][]string{
			{"import", canvas},
			{"export"},
			{"kb", "create", "x"},
			{"kb", "list"},
			{"backup", filepath.Join(t.TempDir(), "b.zip")},
		} {
			_, err := commandIn(t, append(args, "--data", dir)...)
			require.ErrorContains(t, err, "run `easel serve --data "+dir+"` once", "%v", args)
			require.NoFileExists(t, filepath.Join(dir, "easel.db"), "%v", args)
			require.NoDirExists(t, filepath.Join(dir, "nats"), "%v", args)
		}
	}
}

// Models that a file names are replaced as it is imported, in all steps, tools and the graph.
func TestImportWithOtherModels(t *testing.T) {
	place := database(t, "sqlite")
	file := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},
		"downstream":["LLM:A"]},"LLM:A":{"obj":{"component_name":"LLM","params":{"llm_id":"deepseek-chat@DeepSeek",
		"temperature":1.0}},"upstream":["begin"]}},
		"graph":{"nodes":[{"data":{"form":{"llm_id":"deepseek-chat@DeepSeek"}}}]}}`), 0o600))
	run := func(args ...string) (string, error) {
		return commandIn(t, append(append([]string{"import", file}, args...), place...)...)
	}
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...) // makes the first tenant
	require.NoError(t, s.stop())
	for args, want := range map[string]string{"x": "expected OLD=NEW", "a=b": "no step names this model"} {
		_, err := run("--map", args)
		require.ErrorContains(t, err, want)
	}
	_, err := run("--map", "deepseek-chat@DeepSeek=gpt-4.1@OpenAI")
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out.json")
	_, err = commandIn(t, append([]string{"export", "a", "-o", out}, place...)...)
	require.NoError(t, err)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NotContains(t, string(text), "deepseek")
	require.Equal(t, 2, strings.Count(string(text), `"gpt-4.1@OpenAI"`))
	require.Contains(t, string(text), "1.0")
}
