// Package contract_test checks that the golden messages and the schemas agree.
// The contract itself is text and JSON; see contract.md.
package contract_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// golden is one file of golden/, named kind.story.json.
type golden struct {
	About   string
	Valid   bool
	Message any
}

func TestGoldenMessages(t *testing.T) {
	files, err := filepath.Glob("golden/*.json")
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var g golden
			read(t, file, &g)
			require.NotEmpty(t, g.About)
			kind, _, _ := strings.Cut(filepath.Base(file), ".")
			kinds[kind] = true
			err := schema(t, kind).Validate(g.Message)
			if g.Valid {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
			}
		})
	}
	for _, kind := range []string{
		"manifest", "input", "output", "error", "progress", "partial", "call", "answer", "flood",
	} {
		require.True(t, kinds[kind], "no golden message of kind %s", kind)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into), file)
}

// schema resolves the schema of one kind of message.
func schema(t *testing.T, kind string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if kind == "manifest" {
		read(t, "manifest.schema.json", &s)
	} else {
		read(t, "messages.schema.json", &s)
		require.Contains(t, s.Defs, kind)
		s.Ref = "#/$defs/" + kind
	}
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	return resolved
}
