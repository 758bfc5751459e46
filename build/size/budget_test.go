package main

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const budget = "# form limit last\nraw 100 90\n\ngzip 0 50\n"

func TestCompareReportsTheChange(t *testing.T) {
	rows, err := parse(budget)
	require.NoError(t, err)
	var lines []string
	over := compare(rows, map[string]int{"raw": 101, "gzip": 40}, func(l string) { lines = append(lines, l) })
	require.Equal(t, []string{"raw 101 of 100"}, over)
	require.Contains(t, lines[0], "+11 since last")
	require.Contains(t, lines[1], "-10 since last")
	require.NotContains(t, lines[1], "left of", "a form without a limit has none")
}

func TestFormatKeepsLimitsAndComments(t *testing.T) {
	text := format(budget, map[string]int{"raw": 7, "gzip": 8})
	rows, err := parse(text)
	require.NoError(t, err)
	require.Equal(t, []row{{"raw", 100, 7}, {"gzip", 0, 8}}, rows)
	require.Contains(t, text, "# form limit last\n")
}

func TestParseRefusesOtherLines(t *testing.T) {
	for _, text := range []string{"raw 1", "raw x 1", "raw 1 2 3"} {
		_, err := parse(text)
		require.ErrorIs(t, err, errRow, text)
	}
}

var statedSize = regexp.MustCompile(`WebAssembly module of ([\d.]+) MB \(brotli\)`)

func TestREADMEStatesTheSize(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	stated := statedSize.FindSubmatch(readme)
	require.NotNil(t, stated)
	text, err := os.ReadFile("budget.txt")
	require.NoError(t, err)
	rows, err := parse(string(text))
	require.NoError(t, err)
	for _, r := range rows {
		if r.form == "brotli" {
			require.Equal(t, fmt.Sprintf("%.1f", float64(r.limit)/1e6), string(stated[1]), "the limit of brotli in MB")
			return
		}
	}
	t.Fatal("budget.txt has no row brotli")
}
