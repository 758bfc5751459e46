package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const pluginExamples = "../../../plugins/examples/"

// pluginFolder replaces the plugin folder of the machine by an empty one.
func pluginFolder(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("EASEL_PLUGINS", dir)
	return dir
}

// packed returns an example, packed from its folder without being built.
func packed(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name+".wasm")
	dir := pluginExamples + name
	code, _, errs := easel(t, "plugin", "pack", dir, filepath.Join(dir, name+".wasm"), "-o", out)
	require.Zero(t, code, errs)
	return out
}

// sample returns a packed module that answers with a text, after a request of the host whose answer
// it does not look at.
func sample(t *testing.T, text, request, manifest string) []byte {
	t.Helper()
	wasm, err := contract.WithSection(wattest.Must(`(module
		(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
		(memory (export "memory") 1)
		(data (i32.const 0) `+strconv.Quote(`"`+text+`"`)+`) (data (i32.const 512) `+strconv.Quote(request)+`)
		(func (export "easel_invoke") (result i32)
			i32.const 0 i32.const 512 i32.const `+strconv.Itoa(len(request))+` call $call drop
			i32.const 0 i32.const `+strconv.Itoa(len(text)+2)+` call $output_write i32.const 0))`), contract.ManifestSection, []byte(manifest))
	require.NoError(t, err)
	return wasm
}

const sampleManifest = `{"abi":1,"name":"sample","version":"1.0.0","description":"A sample."}`

func TestPluginLifeFromFileToCanvas(t *testing.T) {
	pluginFolder(t)
	tw := packed(t, "typewriter")
	canvas := file(t, "canvas.json", sketch.Canvas(
		"begin Begin -> P",
		`P plugin:typewriter@1 {"text": "Hello {sys.query}"} -> M`,
		`M Message {"content": ["{P@text}"]}`,
	))

	code, out, _ := easel(t, "validate", canvas)
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, out,
		"plugin:typewriter@1 does not run here: not installed; install it with `easel plugin install FILE`")

	code, out, errs := easel(t, "plugin", "install", tw)
	require.Zero(t, code, errs)
	require.Equal(t, "typewriter 1.0.0 is enabled: plugin:typewriter@1\n", out)

	code, out, errs = easel(t, "run", canvas, "-q", "Oslo")
	require.Zero(t, code, errs)
	require.Equal(t, "Hello Oslo\n", out)

	for _, c := range []struct{ verb, says string }{
		{"disable", "typewriter is off"},
		{"enable", "typewriter 1.0.0 is enabled"},
		{"remove", "typewriter is removed"},
	} {
		code, out, errs = easel(t, "plugin", c.verb, "typewriter")
		require.Zero(t, code, errs)
		require.Contains(t, out, c.says)
	}
	code, _, errs = easel(t, "plugin", "enable", "typewriter")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "`easel plugin list` shows what is")
	code, out, errs = easel(t, "plugin", "list")
	require.Zero(t, code, errs)
	require.NotContains(t, out, "typewriter")
}

func TestPluginWaitsForApproval(t *testing.T) {
	pluginFolder(t)
	manifest := func(version, more string) string {
		return `{"abi":1,"name":"sample","version":"` + version + `","description":"A sample."` + more + `}`
	}
	install := func(version, more string, flags ...string) string {
		path := file(t, "x.wasm", string(sample(t, version, "{}", manifest(version, more))))
		code, out, errs := easel(t, append([]string{"plugin", "install", path}, flags...)...)
		require.Zero(t, code, errs)
		return out
	}
	install("1.0.0", "")
	asks := `,"permissions":{"kv":{"bytes":100,"reason":"keeps"}}`
	out := install("1.1.0", asks)
	require.Regexp(t, "^sample 1\\.1\\.0 waits for approval\\.\nIt asks for:\n  kv of 100 bytes: keeps\n"+
		"Approve all with `easel plugin enable sample --file [0-9a-f]{12}`, or some with --allow\\.\n"+
		"Version 1\\.0\\.0 stays active\\.\n$", out)
	_, out, _ = easel(t, "plugin", "list")
	require.Regexp(t,
		"sample +1\\.0\\.0 +on +1\\.1\\.0 waits for `easel plugin enable sample`: it asks for kv of 100 bytes: keeps",
		out)
	_, out, _ = easel(t, "plugin", "enable", "sample", "--json")
	var e plugin.Entry
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.Equal(t, "1.1.0", e.Active.Version)
	_, out, _ = easel(t, "plugin", "rollback", "sample")
	require.Contains(t, out, "sample 1.0.0 is enabled")
	require.Contains(t, install("2.0.0", asks, "--yes"), "plugin:sample@2")
}

// The commands that install and list print work for the same folder.
func TestPrintedCommandsNameTheFolder(t *testing.T) {
	pluginFolder(t)
	dir := filepath.Join(t.TempDir(), "of a host")
	path := file(t, "x.wasm", string(sample(t, "1.0.0", "{}", strings.TrimSuffix(sampleManifest, "}")+
		`,"permissions":{"kv":{"bytes":100,"reason":"keeps"},"llm":{"max_calls":1,"reason":"asks"}}}`)))
	printed := func(out string) []string {
		t.Helper()
		_, command, found := strings.Cut(out, "`easel ")
		require.True(t, found, out)
		command, _, _ = strings.Cut(command, "`")
		command, folder, _ := strings.Cut(command, " --plugins ")
		require.Equal(t, quoted(dir), folder, out)
		return append(strings.Fields(command), "--plugins", dir)
	}
	install := succeeds(t, "plugin", "install", path, "--plugins", dir)
	require.Equal(t, []string{"plugin", "enable", "sample", "--plugins", dir},
		printed(succeeds(t, "plugin", "list", "--plugins", dir)))
	succeeds(t, append(printed(install), "--allow", "kv")...)
	rest := succeeds(t, "plugin", "enable", "sample", "--plugins", dir, "--allow", "kv")
	require.Contains(t, succeeds(t, printed(rest)...), "sample 1.0.0 is enabled: plugin:sample@1\n")
}

func TestPluginWithAPartOfItsPermissions(t *testing.T) {
	pluginFolder(t)
	manifest := func(version string, calls int) string {
		return fmt.Sprintf(`{"abi":1,"name":"sample","version":"%s","description":"A sample.","permissions":{
			"kv":{"bytes":100,"reason":"keeps"},"llm":{"max_calls":%d,"reason":"asks"},"http":{"hosts":["a.example","b.example"],"methods":["GET"],"reason":"reads"}}}`, version, calls)
	}
	install := func(version string, calls int, flags ...string) string {
		path := file(t, "x.wasm", string(sample(t, version, "{}", manifest(version, calls))))
		code, out, errs := easel(t, append([]string{"plugin", "install", path}, flags...)...)
		require.Zero(t, code, errs)
		return out
	}
	require.Contains(t, install("1.0.0", 2), "waits for approval")
	code, out, errs := easel(t, "plugin", "enable", "sample", "--allow", "kv,http:a.example")
	require.Zero(t, code, errs)
	require.Equal(t,
		"sample 1.0.0 is enabled: plugin:sample@1\nNot approved:\n  http to b.example: reads\n  2 calls of llm: "+
			"asks\nApprove the rest with `easel plugin enable sample --allow all`.\n", out)
	_, out, _ = easel(t, "plugin", "list")
	require.Regexp(t, `sample +1\.0\.0 +on +does without http to b\.example: reads; 2 calls of llm: asks`, out)
	require.Contains(t, install("1.1.0", 2), "1.1.0 is enabled",
		"the same part holds for a version that asks for the same")
	require.Contains(t, install("1.2.0", 3), "waits for approval")
	_, out, _ = easel(t, "plugin", "enable", "sample", "--allow", "all")
	require.Equal(t, "sample 1.2.0 is enabled: plugin:sample@1\n", out)
	_, out, _ = easel(t, "plugin", "enable", "sample", "--allow", "none")
	require.Contains(t, out, "Not approved")
	require.Contains(t, install("2.0.0", 9, "--allow", "llm"), "Not approved:\n  http to a.example")
	code, _, errs = easel(t, "plugin", "enable", "sample", "--allow", "sockets")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, `permission "sockets": want all, none, http`)
}

func TestPluginSignatures(t *testing.T) {
	pluginFolder(t)
	path := file(t, "x.wasm", string(sample(t, "hi", "{}", sampleManifest)))
	key := filepath.Join(t.TempDir(), "key.pem")
	code, _, errs := easel(t, "plugin", "verify", path)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "easel plugin sign")
	code, _, errs = easel(t, "plugin", "sign", path, "--key", key, "--publisher", "acme")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "--new-key")
	code, out, errs := easel(t, "plugin", "sign", path, "--key", key, "--publisher", "acme", "--new-key")
	require.Zero(t, code, errs)
	trust := strings.Fields(regexp.MustCompile(`easel (plugin trust .*)`).FindStringSubmatch(out)[1])
	code, _, errs = easel(t, "plugin", "install", path, "--remote")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "`easel "+strings.Join(trust, " ")+"`", "the error names the command that mends it")
	code, _, errs = easel(t, trust...)
	require.Zero(t, code, errs)
	code, out, _ = easel(t, "plugin", "verify", path, "--json")
	require.Zero(t, code)
	require.Contains(t, out, `"trusted": true`)
	code, _, errs = easel(t, "plugin", "install", path, "--remote")
	require.Zero(t, code, errs)
	code, out, _ = easel(t, append(trust, "--remove")...)
	require.Zero(t, code)
	require.Empty(t, out)
	code, _, errs = easel(t, "plugin", "trust", "acme", "nonsense")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "not an ed25519 public key")
}

// A file by another key than the version before waits, and install and list name that.
func TestPluginByAnotherKey(t *testing.T) {
	pluginFolder(t)
	signed := file(t, "signed.wasm", string(sample(t, "hi", "{}", sampleManifest)))
	key := filepath.Join(t.TempDir(), "key.pem")
	succeeds(t, "plugin", "sign", signed, "--key", key, "--publisher", "acme", "--new-key")
	succeeds(t, "plugin", "install", signed)
	require.NotContains(t, succeeds(t, "plugin", "list"), "another key")
	newer := strings.Replace(sampleManifest, `"version":"1.0.0"`, `"version":"1.1.0"`, 1)
	require.NotEqual(t, sampleManifest, newer)
	out := succeeds(t, "plugin", "install", file(t, "unsigned.wasm", string(sample(t, "ho", "{}", newer))))
	require.Contains(t, out, "It is by another key: this file is not signed, the version before is signed with key ")
	enable := regexp.MustCompile("`easel (plugin enable \\S+ --file [0-9a-f]{12})").FindStringSubmatch(out)
	require.NotNil(t, enable, out)
	list := succeeds(t, "plugin", "list")
	require.Contains(t, list, "1.1.0 by another key waits for `easel "+enable[1])
	require.Contains(t, fails(t, "plugin", "enable", "sample"), "by another key")
	succeeds(t, strings.Fields(enable[1])...)
	require.NotContains(t, succeeds(t, "plugin", "list"), "another key")
}

func TestPluginRun(t *testing.T) {
	pluginFolder(t)
	code, out, errs := easel(t, "plugin", "run", packed(t, "typewriter"), "--arg", "text=one two", "--arg",
		"pause_ms=1")
	require.Zero(t, code, errs)
	require.Equal(t, "one two\n", out)
	table := packed(t, "table")
	code, out, errs = easel(t, "plugin", "run", table, "--arg", "data=a,b\n1,2", "--arg", `columns=["b"]`)
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"text":"| b |\n| --- |\n| 2 |\n","rows":[{"b":2}],"count":1}`, out)
	code, _, errs = easel(t, "plugin", "run", table)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "arguments.data: missing")
	code, _, errs = easel(t, "plugin", "run", table, "--arg", "limit=none")
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, errs, "limit: want integer, got string")
}

func TestPluginTestAndReport(t *testing.T) {
	pluginFolder(t)
	report := filepath.Join(t.TempDir(), "report.json")
	code, out, errs := easel(t, "plugin", "test", packed(t, "table"), "--report", report, "-v")
	require.Zero(t, code, errs)
	require.Contains(t, out, "0 failed")
	require.FileExists(t, report)
	code, out, _ = easel(t, "plugin", "test", packed(t, "table"), "--report", report, "--json")
	require.Zero(t, code)
	require.Contains(t, out, `"plugin": "table"`)
	cases := file(t, "cases.json", `[{"name": "wrong", "arguments": {"data": "a\n1"}, "outputs": {"count": 2}}]`)
	code, out, _ = easel(t, "plugin", "test", packed(t, "table"), "--cases", cases)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "failed   case wrong: outputs.count: want 2, got 1")
}

func TestPluginInspect(t *testing.T) {
	pluginFolder(t)
	code, out, errs := easel(t, "plugin", "inspect", packed(t, "table"))
	require.Zero(t, code, errs)
	for _, line := range []string{
		"table 1.0.0: Reads CSV", "arguments: data string*", "asks for:  nothing",
		"cases:     4", "not signed",
	} {
		require.Contains(t, out, line)
	}
	code, out, _ = easel(t, "plugin", "inspect", packed(t, "table"), "--json")
	require.Zero(t, code)
	var seen struct{ Manifest contract.Manifest }
	require.NoError(t, json.Unmarshal([]byte(out), &seen))
	require.Equal(t, "table", seen.Manifest.Name)
	code, _, errs = easel(t, "plugin", "inspect", file(t, "x.wasm", "no module"))
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "x.wasm: ")
}

// TestPluginNew makes a plugin in each language and, where the machine has its compiler, builds and
// tests it without the network.
func TestPluginNew(t *testing.T) {
	pluginFolder(t)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	for name, c := range map[string]struct {
		lang, file string
		flags      []string
		ready      func(dir string) (missing string)
	}{
		"Go": {"go", "easel/sdk/sdk.go", nil, func(string) string { return "" }},
		"Go, SDK of checkout": {
			"go", "go.sum",
			[]string{"--sdk", "../../../plugins/sdk"},
			func(string) string { return "" },
		},
		"AssemblyScript": {"as", "easel/index.ts", nil, linkCompiler},
		"Rust":           {"rust", "easel.rs", nil, func(string) string { return lacksRust() }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "greeter")
			code, out, errs := easel(t, append([]string{"plugin", "new", "greeter", "--lang", c.lang, "--dir", dir},
				c.flags...)...)
			require.Zero(t, code, errs)
			require.Contains(t, out, " plugin test "+dir+"\n")
			require.FileExists(t, filepath.Join(dir, c.file))
			require.FileExists(t, filepath.Join(dir, ".github/workflows/test.yml"))
			if missing := c.ready(dir); missing != "" {
				t.Skip("made, not built: " + missing)
			}
			code, out, errs = easel(t, "plugin", "test", dir)
			require.Zero(t, code, out+errs)
			require.Contains(t, out, "greeter 0.1.0")
			code, out, errs = easel(t, "plugin", "run", dir, "--arg", "city=Oslo")
			require.Zero(t, code, errs)
			require.Contains(t, out, "Hello, Oslo")
			if c.lang == "go" {
				test := exec.Command("go", "test", "./...")
				test.Dir = dir
				said, err := test.CombinedOutput()
				require.NoError(t, err, string(said))
			}
		})
	}
	for _, args := range [][]string{{"Greeter"}, {"greeter", "--lang", "cobol"}, {}} {
		code, _, _ := easel(t, append([]string{"plugin", "new"}, args...)...)
		require.Equal(t, ExitUsage, code)
	}
}

// linkCompiler links into a folder the AssemblyScript compiler of the SDK.
func linkCompiler(dir string) (missing string) {
	modules, err := filepath.Abs("../../../plugins/sdk-as/node_modules")
	if err == nil {
		_, err = os.Stat(modules)
	}
	if err != nil {
		return "no compiler; run `npm ci` in plugins/sdk-as"
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "npm is missing"
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return err.Error()
	}
	return ""
}

// lacksRust returns the reason why Rust cannot be built here.
func lacksRust() (missing string) {
	rustc := or(os.Getenv("RUSTC"), "rustc")
	flags := append(strings.Fields(os.Getenv("RUSTFLAGS")), "--target", "wasm32-unknown-unknown", "--print",
		"target-libdir")
	libs, err := exec.Command(rustc, flags...).Output()
	if err == nil {
		_, err = os.Stat(strings.TrimSpace(string(libs)))
	}
	if err != nil {
		return "rustc has no target wasm32-unknown-unknown"
	}
	return ""
}

func TestPluginHelp(t *testing.T) {
	code, out, _ := easel(t, "plugin", "--help")
	require.Zero(t, code)
	for _, v := range pluginVerbs() {
		require.Contains(t, out, strings.TrimPrefix(v.name, "plugin "))
		code, page, _ := easel(t, append(strings.Fields(v.name), "--help")...)
		require.Zero(t, code, v.name)
		require.Contains(t, page, "Usage: easel "+v.name)
	}
	readme, err := os.ReadFile("../../../plugins/README.md")
	require.NoError(t, err)
	for _, v := range pluginVerbs() {
		require.Contains(t, string(readme), "`"+strings.TrimPrefix(v.name, "plugin "),
			"plugins/README.md names every command")
	}
	code, _, errs := easel(t, "plugin", "fly")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, `unknown verb "fly"`)
	code, _, _ = easel(t, "plugin")
	require.Equal(t, ExitUsage, code)
}

// TestPluginRunAccessesHostsSecretsAndModels builds the Go examples and runs them with a web
// service and a model on this machine.
func TestPluginRunAccessesHostsSecretsAndModels(t *testing.T) {
	pluginFolder(t)
	keys := make(chan string, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("X-Key") + " " + r.URL.Query().Get("q")
		_, err := io.WriteString(w, `{"celsius": -2.5, "sky": "clear"}`)
		if err != nil {
			t.Error(err)
		}
	}))
	defer service.Close()
	run := []string{
		"plugin", "run", pluginExamples + "weather", "--arg", "city=Oslo", "--arg",
		"service=" + service.URL, "--secret", "WEATHER_KEY=k-12345",
	}
	code, out, errs := easel(t, append(run, "--allow-http", "127.0.0.1", "--allow-private")...)
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"text": "Oslo: clear, -2.5 °C", "temp": -2.5}`, out)
	require.Equal(t, "k-12345 Oslo", <-keys)
	require.Contains(t, errs, "asking about Oslo")
	for flag, says := range map[string]string{
		"": "denied: weather service: denied: http.fetch is not granted",
		"--allow-http=127.0.0.1": "http to private addresses, secret WEATHER_KEY for api.weather.example; " +
			"see --allow-http, --allow-private",
	} {
		args := run
		if flag != "" {
			args = append(args, flag)
		}
		code, _, errs = easel(t, args...)
		require.Equal(t, ExitFailed, code)
		require.Contains(t, errs, says)
	}

	script := file(t, "script.json", `{"fallback": {"text": "A short text."}}`)
	code, out, errs = easel(t, "plugin", "run", pluginExamples+"digest", "--arg", "text=A long text.", "--model",
		"scripted:"+script)
	require.Zero(t, code, errs)
	require.Equal(t, "A short text.\n", out)
}
