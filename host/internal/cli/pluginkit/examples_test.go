package pluginkit_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

const examples = "../../../../plugins/examples"

// TestExamples runs the checks for authors on every example.
func TestExamples(t *testing.T) {
	cache := t.TempDir()
	h, err := plugin.New(context.Background(), plugin.Config{CacheDir: cache})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close(context.Background())) })
	for _, c := range []struct {
		name string
		read func(string) ([]byte, error) // AssemblyScript and Rust are checked in as they were built
	}{
		{"weather", func(dir string) ([]byte, error) { return pluginkit.Build(t.Context(), dir) }},
		{"digest", func(dir string) ([]byte, error) { return pluginkit.Build(t.Context(), dir) }},
		{"typewriter", pluginkit.Prebuilt},
		{"table", pluginkit.Prebuilt},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(examples, c.name)
			wasm, err := c.read(dir)
			require.NoError(t, err)
			wasm, err = pluginkit.Pack(t.Context(), h, wasm, dir)
			require.NoError(t, err)
			cases, err := pluginkit.CasesOf(wasm)
			require.NoError(t, err)
			require.NotEmpty(t, cases)
			program, _ := exec.LookPath("node") // without it the kit reports it
			r, err := pluginkit.Run(t.Context(), wasm, cases, pluginkit.Options{CacheDir: cache, Node: program})
			require.NoError(t, err)
			for _, x := range r.Checks {
				t.Logf("%-8s %-32s %s", x.Outcome, x.Name, x.Detail)
				require.NotEqual(t, pluginkit.Failed, x.Outcome, "%s: %s", x.Name, x.Detail)
			}
		})
	}
}
