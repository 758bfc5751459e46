package chunking

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines that are counted once each have the tokens of the text together, whatever it is cut into.
func TestLinesHaveTheTokensOfTheText(t *testing.T) {
	l := newLineCounter()
	defer l.close()
	for range 2 { // the second time they are known
		for _, text := range counted {
			require.Equal(t, libraryCount(text), l.count(text), "%q", text)
		}
	}
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	require.Equal(t, libraryCount(string(readme)), l.count(string(readme)))

	pieces := []string{
		"\n", "\n\n", "\r\n", "\r", "\n \n", " ", "\t", "\u2003", ".\n",
		"'s", "'ll", "Wort", "12", "退货", "é", "\x80", "🙂",
		"a line of more than so many bytes", "another one, of them.", "|", "- ",
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		require.Equal(t, libraryCount(b.String()), l.count(b.String()), "%q", b.String())
	}
}

func TestLineEnd(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "a\n": 2, "a\nb": 2, "a\n\nb": 3, "a\n b\nc": 5, "\n": 1, "\nb": 1, "a\r\nb": 3, "a\n\u00a0b": 5,
		"a\n\x80": 2,
	} {
		require.Equal(t, want, lineEnd(text), "%q", text)
	}
}
