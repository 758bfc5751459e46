package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoldenMessages reads the golden messages of the contract that reach this package. Manifests
// come here checked.
func TestGoldenMessages(t *testing.T) {
	files, err := filepath.Glob("../contract/golden/*.json")
	require.NoError(t, err)
	seen := map[string]int{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			g := parse(t, string(raw))
			valid, message := g.Get("valid").True(), g.Get("message")
			kind, _, _ := strings.Cut(filepath.Base(file), ".")
			seen[kind]++
			switch kind {
			case "manifest":
				if m, err := ReadManifest(message); valid {
					require.NoError(t, err)
					require.Equal(t, message.Get("name").Str(), m.Name)
					spec := (&Shelf{}).spec("plugin:x@1", "x@1", m)
					require.Equal(t, message.Get("description").Str(), spec.Doc)
					require.Equal(t, message.Get("arguments").IsNull(), spec.Tool == nil)
				}
			case "output":
				_, err := (&Manifest{}).ReadAnswer(message.JSON())
				require.Equal(t, valid, err == nil, "%v", err)
			}
		})
	}
	require.Positive(t, seen["manifest"])
	require.Positive(t, seen["output"])
}
