package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// TestGoldenManifestsBecomeComponents makes a component of each golden manifest.
func TestGoldenManifestsBecomeComponents(t *testing.T) {
	files, err := filepath.Glob("../contract/golden/manifest.*.json")
	require.NoError(t, err)
	made := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			g, err := engine.ParseJSON(raw)
			require.NoError(t, err)
			if !g.Get("valid").True() {
				return
			}
			m, err := contract.ReadManifest(g.Get("message"))
			require.NoError(t, err)
			spec := (&Shelf{}).spec("plugin:x@1", "x@1", m)
			require.Equal(t, m.Description, spec.Doc)
			require.Equal(t, m.Arguments == nil, spec.Tool == nil)
			require.NotEmpty(t, spec.Describe().JSON())
			made++
		})
	}
	require.Positive(t, made)
}
