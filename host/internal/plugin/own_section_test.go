package plugin

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// A plugin reads data sections of the file it is in; its icon, cases and signature are for others.
func TestPluginReadsItsOwnSections(t *testing.T) {
	wasm := pack(t, wattest.Must(relay), nil)
	for name, text := range map[string]string{contract.HTTPSection: `{"steps":[]}`, contract.IconSection: "<svg/>", "other": "x"} {
		var err error
		wasm, err = contract.WithSection(wasm, name, []byte(text))
		require.NoError(t, err)
	}
	m, err := newHost(t, Config{}).Load(t.Context(), wasm, LoadOptions{})
	require.NoError(t, err)
	for name, want := range map[string]string{
		contract.HTTPSection: `{"ok":{"found":true,"text":"{\"steps\":[]}"}}`,
		contract.IconSection: `{"ok":{"found":false,"text":""}}`,
		"other":              `{"ok":{"found":false,"text":""}}`,
		"":                   `{"ok":{"found":false,"text":""}}`,
	} {
		request := `{"op":"self.section","args":{"name":"` + name + `"}}`
		res, err := m.Call(t.Context(), CallRequest{Input: []byte(request)})
		require.NoError(t, err)
		require.JSONEq(t, want, string(res.Output), name)
	}
}

// Plugins that differ only in their data are compiled once.
func TestPluginsOfTheSameCodeShareWhatIsCompiled(t *testing.T) {
	cache := t.TempDir()
	h := newHost(t, Config{CacheDir: cache})
	for _, name := range []string{"one", "two", "three"} {
		_, err := h.Load(t.Context(), pack(t, wattest.Must(relay), map[string]any{"name": name}), LoadOptions{})
		require.NoError(t, err)
	}
	entries, err := filepath.Glob(filepath.Join(cache, "*", "*.sha256"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
