package nearest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	known := []string{"validate", "version", "serve", "run", "temperature", "top_p", "top_n", "kb_ids"}
	for word, want := range map[string]string{
		"validte":     "validate", // omitted
		"runn":        "run",      // added
		"sevre":       "serve",    // swapped
		"temparature": "temperature",
		"temperture ": "temperature",
		"VERSION":     "version",
		"kb_id":       "kb_ids",
		"top_x":       "top_p", // the first of equals
		"top_n":       "top_n",
		"deploy":      "",
		"x":           "",
		"":            "",
		"bun":         "run",
		"but":         "",
		"valid":       "",
	} {
		got, ok := Match(word, known)
		require.Equal(t, want, got, "%q", word)
		require.Equal(t, want != "", ok, "%q", word)
	}
}

func TestMatchOfNothing(t *testing.T) {
	_, ok := Match("run", nil)
	require.False(t, ok)
	_, ok = Match("a", []string{"b", ""})
	require.False(t, ok, "a word without a common letter is not a typing error")
}

func TestMatchCountsLettersNotBytes(t *testing.T) {
	got, ok := Match("übersezten", []string{"übersetzen"})
	require.True(t, ok)
	require.Equal(t, "übersetzen", got)
}

func TestMatchSkipsLongWords(t *testing.T) {
	long := strings.Repeat("a", maxLength+1)
	_, ok := Match(long, []string{long + "b"})
	require.False(t, ok)
}
