package contract

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// empty is a module without sections.
var empty = []byte("\x00asm\x01\x00\x00\x00")

func TestSectionsAreBounded(t *testing.T) {
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	_, err := CustomSections(append(wasm, bytes.Repeat([]byte{0, 2, 1, 'a'}, maxSections)...))
	require.NoError(t, err)
	_, err = CustomSections(append(wasm, bytes.Repeat([]byte{0, 2, 1, 'a'}, maxSections+1)...))
	require.ErrorContains(t, err, "more than 1000 sections")
	require.Equal(t, OverLimit, AsError(err, Internal).Code)
}

func TestSections(t *testing.T) {
	plain := empty
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

// FuzzSections reads untrusted bytes; a written section can be read back, and
// nothing else of the file changes.
func FuzzSections(f *testing.F) {
	f.Add(empty, "easel.manifest", []byte("{}"))
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
		if m, err := ParseManifest(payload); err == nil {
			require.NotEmpty(t, m.Name)
		}
	})
}
