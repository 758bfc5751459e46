package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

func TestVariants(t *testing.T) {
	groups := [][]string{{"laptop", "notebook computer", "笔记本电脑"}, {"holiday", "annual leave"}, {"the", "of"}}
	for question, want := range map[string][]string{
		"Who repairs laptops?": {"Who repairs notebook computer?", "Who repairs 笔记本电脑?"},
		"a computer":           nil,
		"my notebook computer": {"my laptop", "my 笔记本电脑"},
		"computer notebook":    nil,
		"我的笔记本电脑坏了":            {"我的laptop坏了", "我的notebook computer坏了"},
		"Annual leave, laptop": {"Annual leave, notebook computer", "Annual leave, 笔记本电脑", "holiday, laptop"},
		"the":                  nil,
		"":                     nil,
	} {
		got, err := Variants(terms.Settings{}, question, groups)
		require.NoError(t, err)
		require.Equal(t, want, got, question)
	}
}

// Many synonyms and a question as long as a book: synonyms are looked for in its beginning.
func TestVariantsOfLongQuestions(t *testing.T) {
	question := strings.Repeat("some words here ", 10_000) + "apples"
	out, err := Variants(terms.Settings{}, question, [][]string{{"apples", "pears"}})
	require.NoError(t, err)
	require.Empty(t, out)
	out, err = Variants(terms.Settings{}, "apples "+question, [][]string{{"apples", "pears"}})
	require.NoError(t, err)
	require.Len(t, out, 1)
	require.True(t, strings.HasPrefix(out[0], "pears some words"))
}
