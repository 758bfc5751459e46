package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPluginJavaScript follows an author without a toolchain, with the commands of
// plugins/js/README.md.
func TestPluginJavaScript(t *testing.T) {
	pluginFolder(t)
	dir := filepath.Join(t.TempDir(), "greeter")
	file := filepath.Join(dir, "plugin.js")
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := easel(t, append([]string{"plugin"}, args...)...)
		require.Equal(t, ExitOK, code, out+errs)
		return out + errs
	}
	run("new", "greeter", "--js", "--dir", dir)
	require.FileExists(t, filepath.Join(dir, ".github/workflows/test.yml"))

	source, err := os.ReadFile(file)
	require.NoError(t, err)
	logging := strings.Replace(string(source), "  return {", "  console.warn('greets', city + '\\n');\n  return {", 1)
	require.NoError(t, os.WriteFile(file, []byte(logging), 0o600))
	out := run("test", dir, "-v")
	require.Contains(t, out, `log      warn "greets Ålesund\n"`)
	require.Contains(t, out, "0 failed")

	for _, from := range []string{dir, file} {
		out = run("run", from, "--arg", "city=Oslo")
		require.Contains(t, out, "Hello, Oslo")
		require.Contains(t, out, `level=warn msg="plugin log" plugin=greeter text="greets Oslo\n" node=Plugin:0 call=`)
	}
	packed := filepath.Join(t.TempDir(), "greeter.wasm")
	run("pack", dir, "-o", packed)
	require.Contains(t, run("inspect", packed), "greeter 0.1.0: Greets a city.")
	require.Contains(t, run("install", packed), "plugin:greeter@0")

	require.NoError(t, os.WriteFile(file, []byte(logging+"\nexport const = 1"), 0o600))
	code, _, errs := easel(t, "plugin", "run", file)
	require.NotEqual(t, ExitOK, code)
	require.Contains(t, errs, "SyntaxError")
	require.Contains(t, errs, "plugin.js:")

	for _, args := range [][]string{{"--js", "--http"}, {"--js", "--lang", "go"}, {"--lang", "js"}} {
		code, _, _ := easel(t, append([]string{"plugin", "new", "x"}, args...)...)
		require.Equal(t, ExitUsage, code, args)
	}
}

// TestPluginFiles reads a file of the command line and stores another one, in text and in bytes.
func TestPluginFiles(t *testing.T) {
	pluginFolder(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("plugin.js", []byte(`export const manifest = {
		abi: 1, name: "copier", version: "1.0.0", description: "Copies a file.",
		permissions: { files: { read: true, write_bytes: 1000, reason: "copies" } },
		arguments: { type: "object", properties: { id: { type: "string" }, name: { type: "string" } } },
	};
	export default function (call) {
		const { id, name } = call.arguments, file = call.readFile(id);
		call.putFile(name, file.mime, file.text ?? file.bytes);
		return { name: file.name, size: file.size, text: file.text ?? "", bytes: [...file.bytes ?? []] };
	}`), 0o600))
	require.NoError(t, os.WriteFile("a.csv", []byte("Ålesund,3\n"), 0o600))
	require.NoError(t, os.WriteFile("b.bin", []byte{0xff, 0, 7}, 0o600))
	run := []string{"plugin", "run", "plugin.js", "--file", "a.csv", "--file", "b.bin", "--save", "made"}
	for id, want := range map[string]string{
		"a.csv": `"size":11,"text":"Ålesund,3\n","bytes":[]`,
		"b.bin": `"size":3,"text":"","bytes":[255,0,7]`,
	} {
		out := succeeds(t, append(run, "--arg", "id="+id, "--arg", "name=copy-"+id, "--allow-all")...)
		require.Contains(t, out, `"name":"`+id+`",`+want)
		require.Contains(t, out, `"attachment"`)
		original, err := os.ReadFile(id)
		require.NoError(t, err)
		copied, err := filepath.Glob("made/*copy-" + id)
		require.NoError(t, err)
		require.Len(t, copied, 1)
		data, err := os.ReadFile(copied[0])
		require.NoError(t, err)
		require.Equal(t, original, data)
	}
	require.Contains(t, fails(t, append(run, "--arg", "id=other", "--arg", "name=x", "--allow-all")...), "other")
	require.Contains(t, fails(t, "plugin", "run", "plugin.js", "--file", "gone.csv"), "gone.csv")
	require.Contains(t, fails(t, "plugin", "run", "plugin.js", "--file", "a.csv", "--arg", "id=a.csv", "--arg", "name=x",
		"--allow-all"), "file.put")
}

// TestPluginTriggerIsTried runs a plugin that starts runs as its author does.
func TestPluginTriggerIsTried(t *testing.T) {
	pluginFolder(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("plugin.js", []byte(`export const manifest = {
		abi: 1, name: "feed", version: "1.0.0", description: "Begins runs.", trigger: "poll",
		permissions: { kv: { bytes: 100, reason: "cursor" } },
	};
	export default (call) => {
		const n = Number(call.load("n") ?? 0) + 1;
		call.store("n", String(n));
		return { items: [{ id: "e" + n, query: "event " + n }] };
	};`), 0o600))
	require.Contains(t, succeeds(t, "plugin", "run", "plugin.js", "--allow-all"), `"query":"event 1"`)
	succeeds(t, "plugin", "pack", ".", "-o", "feed.wasm")
	require.Contains(t, succeeds(t, "plugin", "inspect", "feed.wasm"), "begins runs (poll)")
}
