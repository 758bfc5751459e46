package index

import (
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
