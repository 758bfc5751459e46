package fidelity

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPairs(t *testing.T) {
	words := Words("The quick, brown fox-\nes jump. -- Then")
	require.Equal(t, []string{"the", "quick", "brown", "foxes", "jump", "then"}, words)
	require.InDelta(t, 1, Pairs(words, words), 0)
	require.InDelta(t, 0.5, Pairs([]string{"a", "b", "d", "c", "x"}, []string{"a", "b"}, []string{"b", "d", "c"}), 0)
	require.InDelta(t, 0, Pairs(nil, words), 0)
}

func TestIndel(t *testing.T) {
	split := strings.Fields
	require.InDelta(t, 1, Indel(nil, nil), 0)
	require.InDelta(t, 0, Indel(split("a b"), nil), 0)
	require.InDelta(t, 0.75, Indel(split("a b c d"), split("a c d b")), 1e-9)
	require.InDelta(t, 0.8, Indel(split("a b"), split("a b c")), 1e-9)
}

func TestTables(t *testing.T) {
	want := [][]string{{"a", "bb"}, {"c", "d"}}
	require.InDelta(t, 1, Tables(want, want), 0)
	require.InDelta(t, 1-0.5/7, Tables([][]string{{"a", "bx"}, {"c", "d"}}, want), 1e-9)
	require.InDelta(t, 1-1.0/7, Tables([][]string{{"a"}, {"c", "d"}}, [][]string{{"a", "bb"}, {"c", "d"}}), 1e-9)
	require.InDelta(t, 1-3.0/7, Tables([][]string{{"a", "bb"}}, want), 1e-9)
}

func TestHeadings(t *testing.T) {
	want := []Heading{{1, "A"}, {2, "B"}, {2, "C"}, {1, "D"}}
	require.InDelta(t, 1, Headings([]Heading{{2, "a"}, {4, "b"}, {4, "c"}, {2, "d"}}, want), 0)
	require.InDelta(t, 0.8, Headings([]Heading{{1, "A"}, {2, "B"}, {1, "D"}}, want), 1e-9)
	require.InDelta(t, 0.2, Headings(nil, want), 1e-9)
}
