package chunk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPairs(t *testing.T) {
	pairs, rest := Pairs("a title\nWhat?\tThis.\r\nand more\n\nWhy, when?\tSo.\n")
	require.Equal(t, []string{"a title"}, rest)
	require.Equal(t, []Pair{{"What?", "This.\nand more"}, {"Why, when?", "So."}}, pairs)
	require.Equal(t, "Question: What?\tAnswer: This.\nand more", pairs[0].Text())
	pairs, rest = Pairs("a,b\nc,d\n")
	require.Empty(t, rest)
	require.Equal(t, []Pair{{"a", "b"}, {"c", "d"}}, pairs)
}

func TestRows(t *testing.T) {
	rows := [][]string{{"name", "name", ""}, {"x", " y ", "z", "w"}, {"", "", ""}, {"v"}}
	require.Equal(t, []Chunk{
		{Text: "- name: x\n- name (2): y\n- column 3: z\n- column 4: w", Type: Text},
		{Text: "- name: v", Type: Text},
	}, Rows(rows))
	require.Empty(t, Rows(nil))
	require.Empty(t, Rows(rows[:1]))
}

func TestMethods(t *testing.T) {
	const law = "Chapter 1\nSection 1\none two\nSection 2\nthree\nChapter 2\nfour"
	chunks := func(method string) (out []string) {
		m, err := ByMethod(method, words, 100)
		require.NoError(t, err)
		list, err := m.Text(law, true)
		require.NoError(t, err)
		for _, c := range list {
			out = append(out, c.Text)
		}
		return out
	}
	require.Equal(t, []string{
		"Chapter 1\nSection 1\none two\n", "Chapter 1\nSection 2\nthree\n", "Chapter 2\nfour\n",
	}, chunks("laws"))
	require.Equal(t, []string{law + "\n"}, chunks("manual"))
	require.Equal(t, []string{law + "\n"}, chunks("book"))
	_, err := ByMethod("tag", words, 100)
	require.ErrorContains(t, err, `unknown method "tag" (one of book, laws, manual)`)
}

func TestNaive(t *testing.T) {
	texts := func(list []Chunk) (out []string) {
		for _, c := range list {
			out = append(out, c.Text)
		}
		return out
	}
	require.Equal(t, []string{"a b\nc", "d"}, texts(Naive(words, 2, "\n;").Text("a b;c\nd")))
	require.Equal(t, []string{"a b", "c\nd"}, texts(Naive(words, 2, "\n`;`").Text("a b;c\nd")))
}
