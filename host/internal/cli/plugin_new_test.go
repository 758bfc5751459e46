package cli

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

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
