package plugin

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/wattest"
)

func TestSections(t *testing.T) {
	plain := wattest.Must(echo)
	one, err := WithSection(plain, "easel.icon", []byte("<svg/>"))
	require.NoError(t, err)
	two, err := WithSection(one, "easel.icon", []byte("<svg>2</svg>"))
	require.NoError(t, err)
	got, ok, err := Section(two, "easel.icon")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "<svg>2</svg>", string(got), "a section is replaced")
	bare, err := WithSection(two, "easel.icon", nil)
	require.NoError(t, err)
	require.Equal(t, plain, bare)
	_, ok, err = Section(plain, "easel.icon")
	require.NoError(t, err)
	require.False(t, ok)
	_, err = WithSection([]byte("text"), "x", nil)
	require.ErrorIs(t, err, Malformed)
}

// FuzzSections reads strangers' bytes; what is written can be read back, and
// nothing else of the file changes.
func FuzzSections(f *testing.F) {
	f.Add(wattest.Must(echo), "easel.manifest", []byte("{}"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x02\x01a"), "a", []byte{})
	f.Fuzz(func(t *testing.T, wasm []byte, name string, payload []byte) {
		out, err := WithSection(wasm, name, append([]byte{}, payload...))
		if err != nil {
			return
		}
		got, ok, err := Section(out, name)
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, bytes.Equal(payload, got))
		if _, err := Verify(out, nil); err == nil {
			t.Fatal("an unsigned file was verified")
		}
		if m, err := ParseManifest(payload); err == nil {
			require.NotEmpty(t, m.Name)
		}
	})
}

// A plugin reads the data of its own file; its icon, cases and signature are for others.
func TestPluginReadsItsOwnSections(t *testing.T) {
	wasm := pack(t, wattest.Must(relay), nil)
	for name, text := range map[string]string{HTTPSection: `{"steps":[]}`, IconSection: "<svg/>", "other": "x"} {
		var err error
		wasm, err = WithSection(wasm, name, []byte(text))
		require.NoError(t, err)
	}
	m, err := newHost(t, Config{}).Load(t.Context(), wasm, LoadOptions{})
	require.NoError(t, err)
	for name, want := range map[string]string{
		HTTPSection: `{"ok":{"found":true,"text":"{\"steps\":[]}"}}`,
		IconSection: `{"ok":{"found":false,"text":""}}`,
		"other":     `{"ok":{"found":false,"text":""}}`,
		"":          `{"ok":{"found":false,"text":""}}`,
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
