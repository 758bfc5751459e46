package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted are the counts of a chunk by term.
func counted(c *Counter, name string, chunk *Chunk) (length int, counts map[string]int) {
	length, list := c.Count(name, chunk)
	counts = map[string]int{}
	for _, t := range list {
		counts[c.Term(t.Index)] += t.Count
	}
	return length, counts
}

func TestCounter(t *testing.T) {
	c, err := NewCounter(Settings{})
	require.NoError(t, err)
	chunk := &Chunk{
		Content: "other", Text: "The shoes, shoe 退货", Keywords: []string{"shoe"}, Questions: []string{"why shoe"},
	}
	want := map[string]int{
		"the": 1, "shoe": 2 + KeywordWeight + QuestionWeight, "退": 1, "退货": 1, "货": 1, "why": QuestionWeight,
		"a": NameWeight, "md": NameWeight,
	}
	for range 2 { // counts begin at 0 again
		length, counts := counted(c, "a.md", chunk)
		require.Equal(t, 3, length, "two words and a pair")
		require.Equal(t, want, counts)
	}
}

// A counter that forgets its terms counts as before.
func TestTrim(t *testing.T) {
	c, err := NewCounter(Settings{})
	require.NoError(t, err)
	require.False(t, c.Trim())
	var b strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	length, counts := counted(c, "", &Chunk{Content: b.String()})
	require.Equal(t, 70_000, length)
	require.Len(t, counts, 70_000)
	require.True(t, c.Trim())
	length, counts = counted(c, "", &Chunk{Content: "w69999 w1 w1"})
	require.Equal(t, 3, length)
	require.Equal(t, map[string]int{"w69999": 1, "w1": 2}, counts)
	_, list := c.Count("", &Chunk{Content: "w5"})
	require.Less(t, list[0].Index, 10, "numbers begin at 0 again")
}
