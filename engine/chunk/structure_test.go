package chunk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// words returns a counter that counts words.
func words(text string) int { return len(strings.Fields(text)) }

func structure(size int, text string) (out []string) {
	s := &Structure{Count: words, Size: size}
	for _, c := range s.Text(text) {
		out = append(out, c.Embedded())
	}
	return out
}

// The time of patterns with look-ahead may grow with the square of a text: a document ends with an
// error, not after minutes.
func TestTitlesOfSlowPatterns(t *testing.T) {
	titles := &Titles{Levels: [][]string{{"(?:(?!.*x).)*y"}}, Depth: 1, Count: words}
	_, err := titles.Items([]Item{{Text: strings.Repeat("a", 100_000)}})
	require.ErrorContains(t, err, "takes too long for this document")
	_, err = titles.Items([]Item{{Text: strings.Repeat("a", 100)}})
	require.NoError(t, err)
}

func TestStructure(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		text string
		want []string
	}{
		"small sections are merged below one heading": {
			100, "# A\nx\n## B\ny\n## C\nz\n# D\nw",
			[]string{"# A\nx\n## B\ny\n## C\nz", "# D\nw"},
		},
		"a heading stays with its text": {
			4, "# A\n\none two\n\n## B\n\nthree four",
			[]string{"# A\n\none two", "A\n## B\n\nthree four"},
		},
		"headings are put before what follows": {
			3, "# A\none. two. three.\n\nfour five six",
			[]string{"# A\none.", "A\ntwo. three.", "A\nfour five six"},
		},
		"rows repeat the head of their table": {
			6, "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
			[]string{"| a | b |\n|---|---|", "| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 3 | 4 |"},
		},
		"code is no heading": {
			100, "```\n# no\n```\n# A\nx", []string{"```\n# no\n```", "# A\nx"},
		},
		"long words are cut":  {1, "one two", []string{"one", "two"}},
		"nothing but blanks":  {5, " \n\n", nil},
		"an empty heading":    {5, "# A\n## B\ntext", []string{"# A\n## B\ntext"}},
		"paragraphs are kept": {4, "one two\n\nthree four\n\nfive", []string{"one two\n\nthree four", "five"}},
	} {
		require.Equal(t, c.want, structure(c.size, c.text), name)
	}
}

// As a heading, the first chunk goes before all others, whatever they are.
func TestRootGoesBeforeEveryChunk(t *testing.T) {
	titles := &Titles{Levels: [][]string{{"^# "}}, Depth: 1, RootAsHeading: true, Count: words}
	require.NoError(t, titles.Check())
	chunks, err := titles.Items([]Item{{Text: "Manual"}, {Text: "# A"}, {Text: "<table>", Type: Table}, {Text: "# B"}})
	require.NoError(t, err)
	var out []string
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	require.Equal(t, []string{"Manual\n\n# A\n", "Manual\n\n<table>", "Manual\n\n# B\n"}, out)
}

// Chunks repeat the beginning of a long heading, and no head of a table that is larger than they.
func TestRepetitionIsBounded(t *testing.T) {
	long := strings.Repeat("é", longestRepeated)
	got := structure(2, "# "+long+"\n\none two\n\nthree")
	require.Equal(t, []string{"# " + long, shortened(long) + "\none two", shortened(long) + "\nthree"}, got)
	require.Len(t, shortened("x"+long), longestRepeated-1, "it ends with a whole character")

	head := "| a b c | d |\n|---|---|"
	got = structure(5, head+"\n| 1 | 2 |\n| 3 | 4 |\n")
	require.Len(t, got, 4)
	require.Equal(t, "| 3 | 4 |", got[3])
}

// randomDocument returns Markdown of random blocks.
func randomDocument(rng *rand.Rand) string {
	var b strings.Builder
	text := func(n int) string {
		var w []string
		for range n {
			w = append(w, []string{"alpha", "beta.", "退货政策。", "gamma;", "x!", "Ünïcode", "#", "|"}[rng.IntN(8)])
		}
		return strings.Join(w, " ")
	}
	for range rng.IntN(12) {
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "%s %s\n", strings.Repeat("#", 1+rng.IntN(3)), text(1+rng.IntN(3)))
		case 1:
			b.WriteString("| a | b |\n|---|---|\n")
			for range rng.IntN(8) {
				fmt.Fprintf(&b, "| %d | y |\n", rng.IntN(100))
			}
		case 2:
			fmt.Fprintf(&b, "```go\n%s\n# %s\n```\n", text(rng.IntN(9)), text(2))
		case 3:
			b.WriteString("\n\r\n \n")
		default:
			b.WriteString(text(rng.IntN(40)) + "\n\n")
		}
	}
	return b.String()
}

func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// No chunker loses or repeats text, but for its overlap and the delimiters that it drops.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		text, size := randomDocument(rng), 1+rng.IntN(20)
		var b strings.Builder
		for _, c := range (&Structure{Count: words, Size: size}).Text(text) {
			require.LessOrEqual(t, words(c.Text), size)
			b.WriteString(c.Text)
		}
		require.Equal(t, withoutBlanks(text), withoutBlanks(b.String()), "structure, seed %d", seed)

		b.Reset()
		for _, c := range (&Tokens{Count: words, Size: size, Delimiters: []string{"\n"}}).Text(text) {
			b.WriteString(c.Text)
		}
		require.Equal(t, withoutBlanks(text), withoutBlanks(b.String()), "tokens, seed %d", seed)

		b.Reset()
		chunks, err := (&Titles{
			Count: words, Group: true, Levels: [][]string{{"# ", "## "}},
			Limit: size,
		}).Text(text, false)
		require.NoError(t, err)
		for _, c := range chunks {
			b.WriteString(c.Text)
		}
		require.Equal(t, withoutBlanks(text), withoutBlanks(b.String()), "titles, seed %d", seed)
	}
}

// The overlap is the end of the chunk before, and nothing else is repeated.
func TestOverlap(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		text := randomDocument(rng)
		tokens := &Tokens{Count: words, Size: 1 + rng.IntN(20), Delimiters: []string{"\n"}, Overlap: rng.IntN(50)}
		m := merger{limit: tokens.limit(), overlap: tokens.Overlap}
		var b strings.Builder
		before := ""
		for unit := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "\n"), "\n") {
			if unit != "" {
				m.add("\n"+unit, words(unit))
			}
		}
		for _, c := range m.out {
			repeated := tail(before, tokens.Overlap)
			require.True(t, strings.HasPrefix(c, repeated))
			b.WriteString(strings.TrimPrefix(c, repeated))
			before = c
		}
		require.Equal(t, withoutBlanks(text), withoutBlanks(b.String()))
	}
}

func FuzzChunkers(f *testing.F) {
	f.Add("# A\n| a |\n|---|\n| b |\n```\nx", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = 1 + max(size, -size)%50
		count := func(s string) int { return len(s) }
		var b strings.Builder
		for _, c := range (&Structure{Count: count, Size: size + 4}).Text(text) {
			b.WriteString(c.Text)
		}
		require.Equal(t, withoutBlanks(text), withoutBlanks(b.String()))
	})
}
