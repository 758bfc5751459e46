package pluginkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// script is a plugin of one file of JavaScript that requests all permissions; body is the body of
// the function that answers calls.
func script(t testing.TB, body string) []byte {
	t.Helper()
	return scriptFile(t, `export const manifest = {
	abi: 1, name: "script", version: "1.0.0", description: "Runs a body.", license: "Apache-2.0",
	limits: { fuel: 200e6, memory_mb: 8, timeout_ms: 300000 },
	permissions: {
		http: { hosts: ["api.example"], methods: ["GET", "POST"], reason: "asks" },
		kv: { bytes: 1000, reason: "keeps" },
		llm: { max_calls: 2, reason: "asks" }, secrets: { KEY: { hosts: ["api.example"], reason: "signs in" } },
		variables: { read: ["sys.query"], reason: "reads" },
	},
};
export default async function run(call) {`+body+`}
`)
}

func scriptFile(t testing.TB, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), pluginkit.JSFile)
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	wasm, err := pluginkit.BuildJS(file)
	require.NoError(t, err)
	h, err := plugin.New(t.Context(), plugin.Config{Trust: plugin.Trust{Local: plugin.Off}})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	wasm, err = pluginkit.Pack(t.Context(), h, wasm, filepath.Dir(file))
	require.NoError(t, err)
	return wasm
}

func parsed(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

// TestJavaScript plays what a plugin in JavaScript may do on the server and, with the same outputs
// and fuel, in the kernel of web pages.
func TestJavaScript(t *testing.T) {
	nodeProgram, err := exec.LookPath("node")
	require.NoError(t, err, "the kernel of pages is tested with Node.js")
	emitted := "Hello, 世界"
	type played struct {
		name, body string
		play       pluginkit.Case
	}
	list := []played{
		{
			"params and arguments", `return { both: [call.params, call.arguments], node: call.info.node }`,
			pluginkit.Case{
				Arguments: engine.Object("b", "å\U0001F30D"),
				Outputs:   parsed(t, `{"both":[{"do":0},{"b":"å🌍"}],"node":"Plugin:0"}`),
			},
		},
		{"text only", `return "plain"`, pluginkit.Case{Outputs: engine.Object("text", "plain")}},
		{
			"emits", `call.emit("Hello, "); await null; call.think("hm");
				call.progress(50, "half"); call.emit("世界"); return {}`,
			pluginkit.Case{Emitted: &emitted},
		},
		{
			"a request with a secret", `
				const { status, body } = call.fetch({
					url: "https://api.example/x", headers: { "X-Key": call.secret("KEY") },
				});
				return { status, body: JSON.parse(body) }`,
			pluginkit.Case{
				HTTP:    []pluginkit.Response{{URL: "/x", Status: 201, Body: `{"ok":true}`}},
				Secrets: map[string]string{"KEY": "s3cret"}, Outputs: parsed(t, `{"status":201,"body":{"ok":true}}`),
			},
		},
		{
			"a refused request that is caught", `
				try { call.fetch("https://elsewhere.example/"); } catch (e) {
					return { code: e.code, is: e instanceof PluginError };
				}`,
			pluginkit.Case{Outputs: parsed(t, `{"code":"denied","is":true}`)},
		},
		{
			"the model, keys and variables", `
				call.store("k", "v");
				return { text: call.chat({ messages: [{ role: "user", content: "hi" }] }).text, v: call.load("k"),
					none: call.load("x") === undefined, keys: call.keys(), q: call.variable("sys.query") }`,
			pluginkit.Case{
				Chat: []string{"ho"}, Variables: engine.Object("sys.query", "Q"),
				Outputs: parsed(t, `{"text":"ho","v":"v","none":true,"keys":["k"],"q":"Q"}`),
			},
		},
		{
			"an error with its own code", `throw new PluginError("rate_limited", "slow down", { retry_after_ms: 5 })`,
			pluginkit.Case{Error: "rate_limited"},
		},
		{
			"base64", `
			const bytes = Uint8Array.from([0, 1, 250, 255, 66]);
			return { to: [0, 1, 2, 3, 5].map((n) => toBase64(bytes.slice(0, n))), from: [...fromBase64("AAH6/0I=")] }`,
			pluginkit.Case{Outputs: parsed(t, `{"to":["","AA==","AAE=","AAH6","AAH6/0I="],"from":[0,1,250,255,66]}`)},
		},
		{
			"decimals", `
			return [(2.5).toFixed(0), (-2.5).toFixed(0), (0.5).toFixed(0), (1.25).toFixed(1), (-1.25).toFixed(1),
				(9.5).toFixed(0), (99.95).toFixed(1), (1.005).toFixed(2), (9.5).toPrecision(1), (0.125).toPrecision(2),
				(1e21).toFixed(2), (0.1).toFixed(20), (-9.5).toExponential(0), (9.95).toPrecision(2),
				(995).toPrecision(2),
				(5e-324).toPrecision(3), 0.1 + 0.2, 1e300, (123.456).toFixed(1)].join(" ")`,
			pluginkit.Case{Outputs: engine.Object("text", "3 -3 1 1.3 -1.3 10 100.0 1.00 1e+1 0.13 1e+21 "+
				"0.10000000000000000555 -1e+1 9.9 1.0e+3 4.94e-324 0.30000000000000004 1e+300 123.5")},
		},
	}
	var body strings.Builder
	cases := make([]pluginkit.Case, len(list))
	for i, c := range list { // one plugin, so that its code is compiled once
		fmt.Fprintf(&body, "if (call.params.do === %d) { %s }\n", i, c.body)
		c.play.Name, c.play.Params = c.name, engine.Object("do", i)
		cases[i] = c.play
	}
	r, err := pluginkit.Run(t.Context(), script(t, body.String()), cases,
		pluginkit.Options{Node: nodeProgram, CacheDir: t.TempDir()})
	require.NoError(t, err)
	for _, check := range r.Checks {
		require.NotEqual(t, pluginkit.Failed, check.Outcome, "%s: %s", check.Name, check.Detail)
	}
	require.Len(t, r.Fuel, len(list), "all were played")
}

// TestJavaScriptFaults checks the errors of faulty and hostile scripts, and that the next
// call works.
func TestJavaScriptFaults(t *testing.T) {
	own := []contract.Code{contract.Internal}
	endless := []contract.Code{contract.OutOfFuel, contract.Internal}
	list := []struct {
		name, body string
		codes      []contract.Code
		message    string
	}{
		{"an exception", "\n\nconst x = null;\nreturn x.y;", own, "at plugin.js:14"},
		{"a rejected promise", `await Promise.reject(new Error("no luck"))`, own, "no luck"},
		{"a promise that is never settled", `await new Promise(() => {})`, own, "nothing settles"},
		{"an endless loop", `for (;;) {}`, []contract.Code{contract.OutOfFuel}, "allowed are 200000000"},
		{
			"endless recursion", `const f = () => f() + 1; f()`,
			[]contract.Code{contract.Internal, contract.StackOverflow},
			"stack",
		},
		{
			"a memory bomb", `const a = []; for (;;) a.push(new Uint8Array(1 << 16))`,
			[]contract.Code{contract.Internal, contract.OutOfMemory, contract.OutOfFuel},
			"",
		},
		{"a job that queues jobs", `const f = () => Promise.resolve().then(f); await f()`, endless, ""},
		{"a slow regular expression", `/^(a+)+$/.test("a".repeat(40) + "b")`, endless, ""},
	}
	body := "if (call.params.do < 0) return 'fine';"
	for i, c := range list {
		body += fmt.Sprintf("if (call.params.do === %d) { %s }\n", i, c.body)
	}
	h, err := plugin.New(t.Context(), plugin.Config{
		Trust:  plugin.Trust{Local: plugin.Off},
		Limits: contract.Limits{TimeoutMS: int((5 * time.Minute).Milliseconds())}, // on a busy machine
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	m, err := h.Load(t.Context(), script(t, body), plugin.LoadOptions{Granted: contract.Everything()})
	require.NoError(t, err)
	for i, c := range list {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.Invoke(t.Context(), plugin.Invocation{Params: engine.Object("do", i)})
			var e *contract.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, c.codes, e.Code, e.Message)
			require.Contains(t, e.Message, c.message)
			answer, err := m.Invoke(t.Context(), plugin.Invocation{Params: engine.Object("do", -1)})
			require.NoError(t, err)
			require.Equal(t, "fine", answer.Outputs.Get("text").Str())
		})
	}
}

// TestJavaScriptSource checks the errors of sources that are not plugins.
func TestJavaScriptSource(t *testing.T) {
	h, err := plugin.New(t.Context(), plugin.Config{Trust: plugin.Trust{Local: plugin.Off}})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	for source, message := range map[string]string{
		"export const = 1":                        "SyntaxError",
		`import { x } from "left-pad";`:           "a plugin is one file, without imports",
		`export default () => ({})`:               "exports no manifest",
		"// " + strings.Repeat("x", 256<<10):      "allowed are 262144",
		"// \xff":                                 "not UTF-8",
		`export const manifest = { abi: 1 };`:     "name",
		`throw new Error("at the top of a file")`: "at the top of a file",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, pluginkit.JSFile), []byte(source), 0o600))
		wasm, err := pluginkit.Build(t.Context(), dir)
		if err == nil {
			_, err = pluginkit.Pack(t.Context(), h, wasm, dir)
		}
		require.ErrorContains(t, err, message)
	}
	dir := t.TempDir() // the manifest may be a separate file, and the source may check params
	source := `export const check = (params) => { if (params.bad) throw new PluginError("invalid_argument", "it is bad") };
		export default () => { console.warn("odd", { a: 1 }); return "hi"; }`
	require.NoError(t, os.WriteFile(filepath.Join(dir, pluginkit.JSFile), []byte(source), 0o600))
	manifest, err := json.Marshal(map[string]any{"abi": 1, "name": "beside", "version": "1.0.0", "description": "d"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, pluginkit.ManifestFile), manifest, 0o600))
	wasm, err := pluginkit.Build(t.Context(), dir)
	require.NoError(t, err)
	wasm, err = pluginkit.Pack(t.Context(), h, wasm, dir)
	require.NoError(t, err)
	m, err := h.Load(t.Context(), wasm, plugin.LoadOptions{})
	require.NoError(t, err)
	require.NoError(t, m.Check(t.Context(), nil, engine.Object("bad", false)))
	require.ErrorContains(t, m.Check(t.Context(), nil, engine.Object("bad", true)), "it is bad")
	answer, err := m.Invoke(t.Context(), plugin.Invocation{})
	require.NoError(t, err)
	require.Equal(t, []plugin.LogLine{{Level: "warn", Text: `odd {"a":1}`}}, answer.Logs)
}
