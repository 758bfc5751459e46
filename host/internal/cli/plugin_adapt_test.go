package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// foreignModule is an Extism plugin of two functions: one returns its input, one an object.
const foreignModule = `(module
	(import "extism:host/env" "input_length" (func $length (result i64)))
	(import "extism:host/env" "input_offset" (func $offset (result i64)))
	(import "extism:host/env" "output_set" (func $set (param i64 i64)))
	(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
	(import "extism:host/env" "store_u64" (func $store (param i64 i64)))
	(func (export "_start"))
	(func (export "helper") (param i32))
	(func (export "same") (result i32) call $offset call $length call $set i32.const 0)
	(func (export "object") (result i32) (local $at i64)
		i64.const 8 call $alloc local.tee $at
		i64.const 0x7d37203a226e227b call $store
		local.get $at i64.const 8 call $set i32.const 0))`

func TestPluginAdapt(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	module, out := filepath.Join(dir, "Count Vowels.wasm"), filepath.Join(dir, "out.wasm")
	require.NoError(t, os.WriteFile(module, wattest.Must(foreignModule), 0o600))

	code, _, errs := easel(t, "plugin", "adapt", module, "-o", out)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "several exports can be called; choose one with --entry: same, object, _start")
	code, _, errs = easel(t, "plugin", "adapt", module, "-o", out, "--entry", "helper")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, `no export "helper" without arguments; those that can be called: same, object, _start`)
	code, _, errs = easel(t, "plugin", "adapt", module, "-o", out, "--entry", "same", "--allow-http", "a.example")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "imports no http_request")
	code, _, errs = easel(t, "plugin", "adapt", module, "-o", module, "--entry", "same")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "would be overwritten")

	code, said, errs := easel(t, "plugin", "adapt", module, "-o", out, "--entry", "same")
	require.Zero(t, code, errs)
	require.Contains(t, said, "easel plugin run "+out)
	code, said, errs = easel(t, "plugin", "run", out, "--arg", "input=żółw")
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"output":"żółw"}`, said)
	code, _, errs = easel(t, "plugin", "adapt", out, "-o", filepath.Join(dir, "twice.wasm"))
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "has a manifest already")

	code, _, errs = easel(t, "plugin", "adapt", module, "-o", out, "--entry", "object", "--input", "json",
		"--output", "json", "--name", "numbers")
	require.Zero(t, code, errs)
	code, said, errs = easel(t, "plugin", "run", out)
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"output":{"n": 7}}`, said)
	code, said, errs = easel(t, "plugin", "install", out, "--json")
	require.Zero(t, code, errs)
	var e plugin.Entry
	require.NoError(t, json.Unmarshal([]byte(said), &e))
	require.Equal(t, "numbers", e.Name)
	require.True(t, e.Enabled)
}

// A module without a function that a plugin can call is refused with what it exports, and functions
// of language runtimes are no candidates.
func TestPluginAdaptListsCandidates(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	module, out := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "out.wasm")
	const none = "no export can be called: a plugin calls a function without arguments whose result is i32 or " +
		"nothing; the module exports "
	for source, want := range map[string]string{
		`(module (func (export "add") (param i32 i32) (result i32) i32.const 0)
			(func (export "ratio") (result i64) i64.const 0)
			(func (export "_initialize")))`: none + "add(i32, i32) -> i32, ratio() -> i64, _initialize()",
		`(module)`: none + "no functions",
		`(module (func (export "hs_init")) (func (export "__wasm_call_ctors"))
			(func (export "a")) (func (export "b")))`: "choose one with --entry: a, b\n",
	} {
		require.NoError(t, os.WriteFile(module, wattest.Must(source), 0o600))
		require.Contains(t, fails(t, "plugin", "adapt", module, "-o", out), want)
		require.Contains(t, fails(t, "plugin", "adapt", module, "-o", out, "--mcp"),
			"no exports list_tools and call_tool, or describe and call")
	}
}

// configurable is an Extism plugin that returns a value of its configuration, or a response.
const configurable = `(module
		(import "extism:host/env" "input_offset" (func $input (result i64)))
		(import "extism:host/env" "length" (func $length (param i64) (result i64)))
		(import "extism:host/env" "output_set" (func $set (param i64 i64)))
		(import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
		(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))
		(func (export "config") (result i32) (local $at i64)
			call $input call $config local.tee $at local.get $at call $length call $set i32.const 0)
		(func (export "fetch") (result i32) (local $at i64)
			call $input i64.const 0 call $http local.tee $at local.get $at call $length call $set i32.const 0))`

// Permissions and configuration of a module are in the manifest that adapt writes.
func TestPluginAdaptConfig(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	module, out := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "out.wasm")
	require.NoError(t, os.WriteFile(module, wattest.Must(configurable), 0o600))
	require.Contains(t, fails(t, "plugin", "adapt", module, "-o", out, "--entry", "config", "--config", "colour"),
		"--config colour: expected NAME=VALUE")
	require.Contains(t, fails(t, "plugin", "adapt", module, "-o", out, "--entry", "fetch", "--allow-private"),
		"--allow-private needs --allow-http HOST")
	adapt := func(flags ...string) {
		succeeds(t, append([]string{"plugin", "adapt", module, "-o", out}, flags...)...)
	}
	run := func(flags ...string) string {
		return succeeds(t, append([]string{"plugin", "run", out, "--arg"}, flags...)...)
	}
	adapt("--entry", "config", "--config", "colour=blue=1", "--setting", "shape")
	require.JSONEq(t, `{"output":"blue=1"}`, run("input=colour"))
	require.JSONEq(t, `{"output":"7"}`, run("input=colour", "--setting", "colour=7"))
	require.JSONEq(t, `{"output":"round"}`, run("input=shape", "--setting", "shape=round"))

	adapt("--entry", "fetch", "--allow-http", "127.0.0.1", "--allow-private")
	require.Contains(t, succeeds(t, "plugin", "inspect", out, "--json"), `"private": true`)
	// The input is JSON, but a text of this plugin.
	require.Contains(t, fails(t, "plugin", "run", out, "--arg", `input={"url":"http://other.example/"}`), "denied")
}

// The cases of an adapted plugin give the same in the kernel of web pages.
func TestPluginAdaptInThePage(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	module, out := filepath.Join(dir, "same.wasm"), filepath.Join(dir, "out.wasm")
	require.NoError(t, os.WriteFile(module, wattest.Must(foreignModule), 0o600))
	code, _, errs := easel(t, "plugin", "adapt", module, "-o", out, "--entry", "same")
	require.Zero(t, code, errs)
	cases := filepath.Join(dir, "cases.json")
	const same = `[{"name":"same","arguments":{"input":"żółw"},"outputs":{"output":"żółw"}}]`
	require.NoError(t, os.WriteFile(cases, []byte(same), 0o600))
	code, said, errs := easel(t, "plugin", "test", out, "--cases", cases, "-v")
	require.Zero(t, code, said+errs)
	require.Contains(t, said, "Node: 1 cases")

	// A request that is refused ends the call in both.
	require.NoError(t, os.WriteFile(module, wattest.Must(configurable), 0o600))
	succeeds(t, "plugin", "adapt", module, "-o", out, "--entry", "fetch", "--allow-http", "a.example")
	const denied = `[{"name":"denied","arguments":{"input":"{\"url\":\"http://b.example/\"}"},"error":"denied"}]`
	require.NoError(t, os.WriteFile(cases, []byte(denied), 0o600))
	require.Contains(t, succeeds(t, "plugin", "test", out, "--cases", cases, "-v"), "Node: 1 cases")

	for list, call := range map[string]string{"list_tools": "call_tool", "describe": "call"} {
		require.NoError(t, os.WriteFile(module, mcpModule(list, call), 0o600))
		succeeds(t, "plugin", "adapt", module, "-o", out, "--mcp", "--tool", "Now")
		const now = `[{"name":"now","arguments":{"city":"Oslo"},"outputs":{"text":"done"}}]`
		require.NoError(t, os.WriteFile(cases, []byte(now), 0o600))
		require.Contains(t, succeeds(t, "plugin", "test", out, "--cases", cases, "-v"), "Node: 1 cases")
	}
}

// A manifest of Extism names a module with its configuration, hosts and limits. Modules that are
// linked when they are loaded are refused.
func TestPluginAdaptExtismManifest(t *testing.T) {
	pluginFolder(t)
	t.Chdir(t.TempDir())
	wasm := wattest.Must(configurable)
	require.NoError(t, os.WriteFile("a.wasm", wasm, 0o600))
	sum := sha256.Sum256(wasm)
	write := func(text string) {
		require.NoError(t, os.WriteFile("m.json", []byte(text), 0o600))
	}
	write(`{"wasm":[{"path":"a.wasm","hash":"` + hex.EncodeToString(sum[:]) + `"}],"config":{"colour":"blue"},
		"allowed_hosts":["a.example"],"memory":{"max_pages":33},"timeout_ms":900}`)
	succeeds(t, "plugin", "adapt", "m.json", "-o", "out.wasm", "--entry", "config")
	require.JSONEq(t, `{"output":"blue"}`, succeeds(t, "plugin", "run", "out.wasm", "--arg", "input=colour"))
	shown, err := engine.ParseJSONText(succeeds(t, "plugin", "inspect", "out.wasm", "--json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"memory_mb":3,"timeout_ms":900}`, shown.Get("manifest").Get("limits").JSON())
	require.Contains(t, shown.Get("manifest").Get("permissions").JSON(), "a.example")

	write(`{"wasm":[{"data":"` + base64.StdEncoding.EncodeToString(wasm) + `"}]}`)
	succeeds(t, "plugin", "adapt", "m.json", "-o", "out.wasm", "--entry", "config")
	for text, want := range map[string]string{
		`{"wasm":[{"path":"a.wasm","name":"lib"},{"path":"b.wasm","name":"main"}]}`: "" +
			"the manifest names 2 modules (lib, main); a plugin is one module",
		`{"wasm":[]}`: "the manifest names 0 modules",
		`{"wasm":[{"url":"https://a.example/a.wasm"}]}`:           "download it and write its path",
		`{"wasm":[{"path":"a.wasm","hash":"00"}]}`:                "the manifest has 00",
		`{"wasm":[{"path":"none.wasm"}]}`:                         "none.wasm",
		`{"wasm":[{"data":"!"}]}`:                                 "illegal base64",
		`{"wasm":[{"data":{"len":1}}]}`:                           "data: json",
		`{"wasm":`:                                                "manifest of Extism",
		`{"wasm":[{"path":"a.wasm"}],"allowed_paths":{"a":"b"}}`:  "a plugin has no folders",
		`{"wasm":[{"path":"/dev/null"}]}`:                         "/dev/null is no regular file",
		`{"wasm":[{"path":"."}]}`:                                 "is no regular file",
		`{"wasm":[{"path":"a.wasm"}],"config":{"a=b":"c"}}`:       `config "a=b": a name has no =`,
		`{"wasm":[{"path":"a.wasm"}],"memory":{"max_pages":-64}}`: "limits",
	} {
		write(text)
		require.Contains(t, fails(t, "plugin", "adapt", "m.json", "-o", "out.wasm", "--entry", "config"), want)
	}
	write(`{"wasm":[{"path":"./a.wasm"}]}`)
	require.Contains(t, fails(t, "plugin", "adapt", "m.json", "-o", "a.wasm", "--entry", "config"),
		"a.wasm would be overwritten")
	linked := wattest.Must(`(module (import "lib" "upper" (func $f)) (func (export "run") call $f))`)
	require.NoError(t, os.WriteFile("a.wasm", linked, 0o600))
	require.Contains(t, fails(t, "plugin", "adapt", "a.wasm", "-o", "out.wasm"),
		`the module imports upper of the module "lib"; a plugin is one module`)
}

// A WASI program becomes a command, which runs alike on a server and in the page.
func TestPluginAdaptProgram(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	module, out, cases := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "out.wasm"), filepath.Join(dir, "c.json")
	for _, p := range wattest.Programs() {
		if p.Code != "" { // the test's other inputs would fail as well
			continue
		}
		require.NoError(t, os.WriteFile(module, wattest.Must(p.Text), 0o600))
		succeeds(t, "plugin", "adapt", module, "-o", out)
		text, err := json.Marshal([]map[string]any{{
			"name": "runs", "arguments": map[string]string{"input": p.Input},
			"outputs": map[string]string{"output": p.Output},
		}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(cases, text, 0o600))
		require.Contains(t, succeeds(t, "plugin", "test", out, "--cases", cases, "-v"), "Node: 1 cases", p.Name)
	}
	failing := wattest.NewProgram("one\\0aquota \\1b[31mexceeded\\0a", `
		i32.const 100 i32.const 23 call $err i32.const 7 call $exit`)
	require.NoError(t, os.WriteFile(module, wattest.Must(failing), 0o600))
	succeeds(t, "plugin", "adapt", module, "-o", out, "--entry", "_start", "--input", "bytes")
	errs := fails(t, "plugin", "run", out, "--arg", "input=AAE=")
	require.Contains(t, errs, "exit: quota <U+001B>[31mexceeded")
	require.NotContains(t, errs, "\x1b")
}

// mcpModule exports MCP tools in the form of hyper-mcp: now returns the message of its call, and
// broken fails. list and call are the names of the exports.
func mcpModule(list, call string) []byte {
	const tools = `{"tools":[{"name":"Now","description":"Tells the time.","inputSchema":{"type":"object",` +
		`"required":["city"],"properties":{"city":{"type":"string"}}}},{"name":"other","inputSchema":{}}]}`
	const head, tail = `{"isError":false,"content":[{"type":"text","text":"done"}],"structuredContent":`, `}`
	put := func(text string,
		at int,
	) string {
		return "(data (i32.const " + strconv.Itoa(at) + ") " + strconv.Quote(text) + ")"
	}
	write := func(at, n int) string {
		return "i32.const " + strconv.Itoa(at) + " i32.const " + strconv.Itoa(n) + " call $write "
	}
	return wattest.Must(`(module
		(import "easel:host/v1" "output_write" (func $write (param i32 i32)))
		(import "easel:host/v1" "input_read" (func $read (param i32 i32) (result i32)))
		(memory (export "memory") 1) ` + put(tools, 0) + put(head, 1000) + put(tail, 1200) + `
		(func (export "` + list + `") (result i32) ` + write(0, len(tools)) + `i32.const 0)
		(func (export "` + call + `") (result i32) ` + write(1000, len(head)) + `
			i32.const 2000 i32.const 2000 i32.const 9000 call $read call $write ` +
		write(1200, len(tail)) + `i32.const 0))`)
}

// TestPluginAdaptMCP makes plugins of the tools of a module, for both interfaces of hyper-mcp.
func TestPluginAdaptMCP(t *testing.T) {
	pluginFolder(t)
	for list, c := range map[string]struct{ call, sent string }{
		"list_tools": {"call_tool", `{"request":{"name":"Now","arguments":{"city":"Oslo"}}`},
		"describe":   {"call", `{"params":{"name":"Now","arguments":{"city":"Oslo"}}}`},
	} {
		t.Chdir(t.TempDir())
		require.NoError(t, os.WriteFile("clock.wasm", mcpModule(list, c.call), 0o600))
		said := succeeds(t, "plugin", "adapt", "clock.wasm", "--mcp")
		require.Contains(t, said, "clock-now.wasm is a plugin now")
		require.Contains(t, said, "clock-other.wasm is a plugin now")
		out, err := engine.ParseJSONText(succeeds(t, "plugin", "run", "clock-now.wasm", "--arg", "city=Oslo"))
		require.NoError(t, err)
		require.Equal(t, "done", out.Get("text").Str())
		require.Contains(t, strings.ReplaceAll(out.Get("structured").JSON(), " ", ""), c.sent)
		require.Contains(t, fails(t, "plugin", "run", "clock-now.wasm"), "arguments.city: missing")

		succeeds(t, "plugin", "adapt", "clock.wasm", "--mcp", "--tool", "Now", "--name", "time", "--setting", "zone")
		succeeds(t, "plugin", "install", "time.wasm")
		require.Regexp(t, `zone +setting`, succeeds(t, "plugin", "settings", "time"))
		require.Contains(t, fails(t, "plugin", "adapt", "clock.wasm", "--mcp", "-o", "x.wasm"), "there are 2 tools")
		require.Contains(t, fails(t, "plugin", "adapt", "clock.wasm", "--mcp", "--tool", "now"),
			"the module has Now, other")
	}
	require.NoError(t, os.WriteFile("other.wasm", wattest.Must(foreignModule), 0o600))
	require.Contains(t, fails(t, "plugin", "adapt", "other.wasm", "--mcp"), "no exports list_tools and call_tool")
}
