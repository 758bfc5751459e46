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
