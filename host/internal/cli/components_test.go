package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/cli/place"
	"github.com/easel-canvas/easel/host/internal/cli/place/placetest"
)

// Every component that is listed as running in the command is run there. A service may be
// unavailable; the requirements on the command are met.
func TestComponentsRunInTheCommand(t *testing.T) {
	t.Setenv("EASEL_PLUGINS", t.TempDir())
	clear(t)
	a, err := newApp(strings.NewReader(""), os.Stderr, os.Stderr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.end()) })
	w := &world{private: true, save: t.TempDir()}
	options, err := w.options(a)
	require.NoError(t, err)
	options.Ports.Canvases = a.canvasesBeside(file(t, "canvas.json", "{}"))
	cli, err := place.Named("cli")
	require.NoError(t, err)
	ran := 0
	for _, s := range a.registry.Specs() {
		t.Run(s.Name, func(t *testing.T) {
			text := runOnce(t, a.registry, s, options)
			if status := cli.Status(s); status.State == place.Runs {
				ran++
				require.False(t, placetest.Lacks(text), text)
				return
			}
			require.True(t, placetest.Lacks(text) || s.Name == "Retrieval", "the list says %s", cli.Status(s))
		})
	}
	require.Greater(t, ran, 40)
	for language, script := range map[string]string{
		"javascript": "function main() { return 1 }", "python": "def main(): return 1",
	} {
		_, err := options.Ports.Code.RunCode(t.Context(), &engine.CodeCall{
			Language: language, Script: script, Arguments: engine.Object(),
		})
		installs := err != nil && strings.Contains(err.Error(), "easel python install")
		require.Equal(t, cli.Runs(language), err == nil || installs, "scripts in %s: %v", language, err)
	}
}

// runOnce runs a component and returns the errors and warnings of the run.
func runOnce(t *testing.T, registry *engine.Registry, s *engine.Spec, options engine.Options) string {
	t.Helper()
	canvas, err := engine.Load(registry, placetest.Canvas(s))
	require.NoError(t, err)
	var text strings.Builder
	in := engine.Input{Query: engine.String("coats"), UserID: "u"}
	for e, err := range canvas.Run(t.Context(), canvas.State(), in, options) {
		if err != nil {
			return text.String() + err.Error()
		}
		switch e.Type {
		case engine.EventWarning:
			text.WriteString(e.Data().Get("text").Text())
		case engine.EventNodeFinished:
			text.WriteString(e.Data().Get("error").Text() + e.Data().Get("outputs").Get("_ERROR").Text())
		}
	}
	return text.String()
}

// A chosen place adds the problems of a canvas there, with codes.
func TestValidateForAPlace(t *testing.T) {
	canvas := file(t, "c.json", sketch.Canvas(
		`@settings {"fallback_models": ["m@Local", "gpt-8@Local"]}`,
		"begin Begin -> CodeExec:C",
		`CodeExec:C CodeExec {"lang":"python","script":"x"} -> Agent:A`,
		`Agent:A Agent {"llm_id":"gpt-9@Local","max_round":3,
			"mcp":[{"mcp_id":"shop","tool":{"find":{}},"aproval":true},{"url":"https://m.example","server_type":"sse"}],
			"prompts":[{"role":"user","content":"{sys.query}"}],"tools":[
			{"component_name":"TavilySearch","name":"Search","params":{"api_key":"x"}},
			{"component_name":"Retrieval","name":"Find","params":{"kb_ids":["manual"]}}]} -> Message:M`,
		`Message:M Message {"content":["{Agent:A@content}"]}`,
	))
	t.Setenv("EASEL_PYTHON", t.TempDir())
	datasets := t.TempDir()
	require.NoError(t, os.Mkdir(datasets+"/manuals", 0o700))
	models := file(t, "models.json", `{"providers":[{"name":"Local","base_url":"http://127.0.0.1:1","models":["m"]}]}`)
	codes := func(args ...string) (out map[string][]string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		a := withEnv(t, &stdout, &stderr, []string{"EASEL_MODEL_FILE=" + models})
		_ = a.dispatch(t.Context(), append([]string{"validate", canvas, "--json"}, args...)) // exits with 4
		out = map[string][]string{}
		for _, d := range parse1(t, stdout.String()).At(0).Get("diagnostics").Elements() {
			out[d.Get("code").Str()] = append(out[d.Get("code").Str()], d.Get("message").Str())
		}
		return out
	}
	got := codes()
	require.Contains(t, got["needs_host"][0], "TavilySearch")
	require.Contains(t, got["unknown_param"][0], `did you mean "max_rounds"?`)
	require.Len(t, got["not_available"], 1)
	require.Contains(t, got["not_available"][0], "easel python install")

	got = codes("--place", "cli")
	const lacks = "tool Find: Retrieval does not run here (cli): it requires --knowledge DIR"
	require.Contains(t, got["not_available"], lacks)
	require.NotContains(t, got, "needs_host")
	require.Len(t, got["unknown_model"], 2)
	require.Contains(t, got["unknown_model"][0], `unknown model "gpt-8@Local"`)
	require.Contains(t, got["unknown_model"][1], "gpt-9@Local")
	require.Contains(t, got["unknown_param"][0], "max_rounds")
	require.Equal(t, []string{
		`MCP server shop: unknown parameter "tool", which has no effect; did you mean "tools"?`,
		`MCP server shop: unknown parameter "aproval", which has no effect; did you mean "approval"?`,
	}, got["unknown_param"][1:])

	got = codes("--place", "server", "--knowledge", datasets)
	require.Len(t, got["not_available"], 1, "Python alone")
	require.Equal(t, []string{`tool Find: no dataset "manual"; did you mean "manuals"?`}, got["unknown_dataset"])

	got = codes("--place", "page")
	require.Contains(t, strings.Join(got["not_available"], "\n"), "a stand-in answers")
	require.NotContains(t, got, "unknown_model")

	code, _, errs := easel(t, "validate", canvas, "--place", "moon")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, `unknown place "moon"; accepted are cli, server, page`)
}

// Params of external components are known, also those that only their tool reads, and a kind of
// database without a driver is named before a run.
func TestValidateExternalComponents(t *testing.T) {
	canvas := file(t, "c.json", `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["ExeSQL:S"],"upstream":[]},
		"ExeSQL:S":{"obj":{"component_name":"ExeSQL","params":{"db_type":"mssql","database":"d","host":"h",
			"username":"u","password":"p","max_record":3}},"downstream":["Agent:A"],"upstream":["begin"]},
		"Agent:A":{"obj":{"component_name":"Agent","params":{
			"prompts":[{"role":"user","content":"{sys.query}"}],"tools":[
			{"component_name":"QWeather","name":"Weather","params":{
				"web_apikey":"k","base_url":"https://w.example","lnag":"en"}},
			{"component_name":"ExeSQL","name":"Shop","params":{"db_type":"sqlite","database":"d"}}]}},
			"downstream":["DeepL:D"],"upstream":["ExeSQL:S"]},
		"DeepL:D":{"obj":{"component_name":"DeepL","params":{"auth_key":"k","target_lang":"FR"}},
			"downstream":[],"upstream":["Agent:A"]}}}`)
	_, out, _ := easel(t, "validate", canvas, "--json")
	got := map[string][]string{}
	for _, d := range parse1(t, out).At(0).Get("diagnostics").Elements() {
		got[d.Get("code").Str()] = append(got[d.Get("code").Str()], d.Get("message").Str())
	}
	require.Equal(t, []string{
		`unknown parameter, which has no effect; did you mean "max_records"?`,
		`Weather: unknown parameter "lnag", which has no effect; did you mean "lang"?`,
	}, got["unknown_param"])
	require.Len(t, got["not_available"], 1)
	require.Contains(t, got["not_available"][0], `db_type "mssql" (one of postgres, mysql, mariadb, oceanbase, sqlite)`)
}

func TestComponentsListPlaces(t *testing.T) {
	_, out, _ := easel(t, "components", "--json", "TavilySearch", "Retrieval", "Begin")
	list := parse1(t, out)
	require.Equal(t, `{"cli":{"state":"runs"},"server":{"state":"runs"},"page":{"state":"stand-in"}}`,
		compact(list.At(0).Get("places")))
	require.Equal(t, "--knowledge DIR", list.At(1).Get("places").Get("cli").Get("needs").Str())
	require.Equal(t, "runs", list.At(2).Get("places").Get("page").Get("state").Str())
}

// compact returns JSON without blanks.
func compact(v engine.Value) string { return strings.ReplaceAll(v.JSON(), ": ", ":") }
