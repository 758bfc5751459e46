package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const projects = "# about\nproject a https://a 12ab 2026-01-02\nproject b https://b 34cd 2026-01-02 in part\n"

func TestTableHasTheFiguresOfTheAnchors(t *testing.T) {
	a, err := readAnchors(projects + "lines = 10 2.5\nlongest = - 7\n")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, a.printTable(&out, []figure{{name: "lines", n: 3.04}, {name: "longest", n: 12.25}}))
	var cells [][]string
	for line := range strings.Lines(out.String()) {
		cells = append(cells, strings.Fields(line))
	}
	require.Equal(t, [][]string{{"easel", "a", "b"}, {"lines", "3", "10", "2.5"}, {"longest", "12.2", "-", "7"}}, cells)

	require.ErrorContains(t, a.printTable(&out, []figure{{name: "lines"}}), `nothing measures "longest"`)
	require.ErrorContains(t, a.printTable(&out, []figure{{name: "types"}}), `no line for "types"`)
}

func TestAnchorsHaveANumberForEachProject(t *testing.T) {
	for text, want := range map[string]string{
		"lines = 1\n":     "line 4: 1 numbers of 2 projects",
		"lines = 1 2 3\n": "line 4: 3 numbers of 2 projects",
		"lines = 1 few\n": `line 4: "few" is neither a number nor -`,
		"lines 1 2\n":     "line 4: 0 numbers",
		"project c\n":     "line 4: a project needs name, address, commit and date",
	} {
		_, err := readAnchors(projects + text)
		require.ErrorContains(t, err, want)
	}
}
