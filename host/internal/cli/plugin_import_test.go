package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPluginImport(t *testing.T) {
	source := "class A(LLMToolPlugin):\n    def get_metadata(cls):\n        return {'name': 'adder', 'parameters': " +
		"{'a': {'type': 'number', 'required': True}}}\n"
	code, out, errs := easel(t, "plugin", "import", file(t, "a.py", source))
	require.Zero(t, code, errs)
	require.Contains(t, out, `"name": "adder"`)
	to := filepath.Join(t.TempDir(), "manifest.json")
	code, _, errs = easel(t, "plugin", "import", file(t, "x.json", `{"name": "web_search"}`), "-o", to)
	require.Zero(t, code, errs)
	require.FileExists(t, to)
	code, _, errs = easel(t, "plugin", "import", file(t, "x.json", `{"name": "web_search"}`), "-o", to)
	require.Equal(t, ExitUsage, code, "nothing is overwritten")
	require.Contains(t, errs, "exists")
	code, _, errs = easel(t, "plugin", "import", file(t, "x.py", "print(1)"))
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "x.py: `def get_metadata` not found")
}
