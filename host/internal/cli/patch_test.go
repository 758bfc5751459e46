package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiffIsPatchBetweenCanvases(t *testing.T) {
	dir := t.TempDir()
	one, two, file := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "patch.json")
	require.NoError(t, os.WriteFile(one, []byte(`{"a": {"n": 12345678901234567890.50, "x": [1]}, "b": 1}`), 0o600))
	require.NoError(t, os.WriteFile(two, []byte(`{"a": {"n": 12345678901234567890.50, "x": [2], "y": 3}}`), 0o600))

	code, out, errs := easel(t, "diff", one, two)
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, `[{"path":["b"],"before":1,"at":1},
 {"path":["a","x"],"before":[1],"after":[2]},
 {"path":["a","y"],"after":3,"at":2}]
`, out)
	require.NoError(t, os.WriteFile(file, []byte(out), 0o600))

	code, out, errs = easel(t, "patch", one, file)
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, `{"a":{"n":12345678901234567890.50,"x":[2],"y":3}}`+"\n", out)

	code, _, errs = easel(t, "patch", one, file, "-o", one)
	require.Equal(t, ExitOK, code, errs)
	code, out, _ = easel(t, "diff", one, two)
	require.Equal(t, ExitOK, code)
	require.Equal(t, "[]\n", out)

	code, _, errs = easel(t, "patch", one, file)
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, errs, "the patch does not fit the document: change of b: is not there")

	code, out, errs = easel(t, "patch", one, file, "--invert")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, `{"a":{"n":12345678901234567890.50,"x":[1]},"b":1}`+"\n", out)
}

func TestPatchKeepsIndentation(t *testing.T) {
	before := examples + "shop.json"
	text, err := os.ReadFile(before)
	require.NoError(t, err)
	code, out, errs := easel(t, "patch", before, file(t, "patch.json", "[]"))
	require.Equal(t, ExitOK, code, errs)
	require.JSONEq(t, string(text), out)
	require.Contains(t, out, "\n  \"components\"")
}

func TestPatchNamesWhatIsMissing(t *testing.T) {
	for want, args := range map[string][]string{
		"expected a canvas and a patch": {"patch", "a.json"},
		"expected two canvases":         {"diff", "a.json"},
		"no such file":                  {"diff", "a.json", "b.json"},
	} {
		code, _, errs := easel(t, args...)
		require.Equal(t, ExitUsage, code)
		require.Contains(t, errs, want)
	}
}
