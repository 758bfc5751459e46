package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPluginNewComponents makes a file with several components in each language and, where the
// machine has its compiler, builds and tests it without the network.
func TestPluginNewComponents(t *testing.T) {
	pluginFolder(t)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	for lang, ready := range map[string]func(dir string) (missing string){
		"--lang=go": nil, "--lang=as": linkCompiler, "--js": nil,
		"--lang=rust": func(string) string { return lacksRust() },
	} {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bell")
			succeeds(t, "plugin", "new", "bell", "--components", "bell,next-days,type", "--dir", dir, lang)
			if ready != nil {
				if missing := ready(dir); missing != "" {
					t.Skip("made, not built: " + missing)
				}
			}
			require.Contains(t, succeeds(t, "plugin", "test", dir, "--node", "", "-v"), "next-days without a city")
			out := filepath.Join(t.TempDir(), "bell.wasm")
			succeeds(t, "plugin", "pack", dir, "-o", out)
			said := succeeds(t, "plugin", "run", out, "--component", "type", "--arg", "city=Oslo")
			require.JSONEq(t, `{"text":"type: Oslo"}`, said)
			require.Contains(t, succeeds(t, "plugin", "install", out),
				"plugin:bell@0, plugin:bell.next-days@0, plugin:bell.type@0")
			if lang == "--lang=go" {
				test := exec.Command("go", "test", "./...")
				test.Dir = dir
				printed, err := test.CombinedOutput()
				require.NoError(t, err, string(printed))
			}
		})
	}
	for _, args := range [][]string{
		{"--components", "a,a"},
		{"--components", "a-b,a_b"},
		{"--components", "A"},
		{"--components", "a,"},
		{"--components", strings.Repeat("a", 61)},
		{"--components", "a", "--http"},
		{"--components", "a", "--trigger", "poll"},
	} {
		code, _, errs := easel(t, append([]string{"plugin", "new", "bell", "--dir", filepath.Join(t.TempDir(), "bell")},
			args...)...)
		require.Equal(t, ExitUsage, code)
		require.Contains(t, errs, "--components")
	}
}

// TestPluginNewTrigger makes plugins that begin runs in each language and, where the machine has
// its compiler, builds and tests them without the network.
func TestPluginNewTrigger(t *testing.T) {
	pluginFolder(t)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	for _, c := range []struct {
		flags []string
		ready func(dir string) (missing string)
	}{
		{[]string{"--lang", "go"}, func(string) string { return "" }},
		{[]string{"--lang", "as"}, linkCompiler},
		{[]string{"--lang", "rust"}, func(string) string { return lacksRust() }},
		{[]string{"--js"}, func(string) string { return "" }},
	} {
		for _, kind := range []string{"poll", "webhook"} {
			t.Run(kind+" "+c.flags[len(c.flags)-1], func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "bell")
				args := append([]string{"plugin", "new", "bell", "--trigger", kind, "--dir", dir}, c.flags...)
				code, _, errs := easel(t, args...)
				require.Zero(t, code, errs)
				if missing := c.ready(dir); missing != "" {
					t.Skip("made, not built: " + missing)
				}
				code, out, errs := easel(t, "plugin", "test", dir, "--node", "")
				require.Zero(t, code, out+errs)
				require.Contains(t, out, "bell 0.1.0")
				if c.flags[len(c.flags)-1] != "go" {
					return
				}
				test := exec.Command("go", "test", "./...")
				test.Dir = dir
				said, err := test.CombinedOutput()
				require.NoError(t, err, string(said))
			})
		}
	}
	for _, args := range [][]string{{"--trigger", "never"}, {"--http", "--trigger", "poll"}} {
		code, _, errs := easel(t, append([]string{"plugin", "new", "bell", "--dir", filepath.Join(t.TempDir(), "bell")},
			args...)...)
		require.Equal(t, ExitUsage, code)
		require.Contains(t, errs, "--trigger")
	}
}

// A machine may have a rustc of rustup without the target before one of the system that has it.
func TestPluginNewNamesBothWaysToTheTarget(t *testing.T) {
	out := succeeds(t, "plugin", "new", "greeter", "--lang", "rust", "--dir", filepath.Join(t.TempDir(), "greeter"))
	require.Contains(t, out, "rustup target add wasm32-unknown-unknown")
	require.Contains(t, out, "RUSTC=/usr/bin/rustc")
}

// TestPluginPackChecksClock packs a plugin that requests a precise clock, and refuses one that
// requests nothing of it or has no reason.
func TestPluginPackChecksClock(t *testing.T) {
	pluginFolder(t)
	for clock, want := range map[string]string{
		`{precise: true, reason: "Measures."}`: "", `{precise: false, reason: "Measures."}`: "permissions.clock",
		`{precise: true}`: "permissions.clock", `{precise: "yes", reason: "Measures."}`: "permissions.clock",
	} {
		dir := t.TempDir()
		source := `export const manifest = {abi: 1, name: "timer", version: "1.0.0", description: "Measures.",
			permissions: {clock: ` + clock + `}};
export default () => ({text: "x"});`
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin.js"), []byte(source), 0o600))
		file := filepath.Join(dir, "timer.wasm")
		if want != "" {
			require.Contains(t, fails(t, "plugin", "pack", dir, "-o", file), want, clock)
			continue
		}
		succeeds(t, "plugin", "pack", dir, "-o", file)
		require.Contains(t, succeeds(t, "plugin", "inspect", file), "a precise clock: Measures.")
	}
}
