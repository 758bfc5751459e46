package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableAlignsColumnsAndShowsControlCharacters(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printTable(&out, []string{"NAME", "NEXT MAJOR", "NOTE"}, [][]string{
		{"first", "", "a\x1b[31mred\nline"},
		{"é", "2.0.0", ""},
	}))
	require.Equal(t, "NAME   NEXT MAJOR  NOTE\nfirst  -           a<U+001B>[31mred line\n"+
		"é      2.0.0       -\n", out.String())

	out.Reset()
	require.NoError(t, printTable(&out, nil, [][]string{{"a", "b"}}))
	require.Equal(t, "a  b\n", out.String())
}
