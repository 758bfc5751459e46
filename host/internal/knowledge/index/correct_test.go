package index

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDamerau(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abcd", 1},
		{"abc", "bc", 1},
		{"abc", "axc", 1},
		{"filter", "fliter", 1},
		{"kitten", "sitting", 3},
		{"überdruck", "uberdurck", 2},
		{"ca", "abc", 3},
	} {
		require.Equal(t, row.want, damerau([]rune(row.a), []rune(row.b), 9), row)
		require.Equal(t, row.want, damerau([]rune(row.b), []rune(row.a), 9), row)
		require.Greater(t, damerau([]rune("abcdef"), []rune("uvwxyz"), 2), 2)
	}
}

func TestNearest(t *testing.T) {
	best := func(term string, vocabulary ...string) string {
		n := NewNearest(term)
		for i, word := range vocabulary {
			n.Add(word, len(vocabulary)-i)
		}
		return n.Best()
	}
	require.Equal(t, "filter", best("fliter", "flyer", "filter", "falter"))
	require.Equal(t, "pump", best("punp", "pump", "jump"))
	require.Equal(t, "bank", best("bamk", "tank", "bank"), "the first letter counts before the number of chunks")
	require.Equal(t, "valve", best("vavle", "valve", "vavla"), "more chunks")
	require.Empty(t, best("vav", "val"), "short words have no correction")
	require.Empty(t, best("valve", "overpressure"))
	require.Empty(t, best("pumping", "pompong"), "two changes from 8 letters on")
	require.Equal(t, "overpressur", best("ovrepresur", "overpressur"))
}
