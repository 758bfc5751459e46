package markdown

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func TestCellsStayInTheirCell(t *testing.T) {
	text := Table([]string{"a|b", "c"}, [][]string{{"x\ny", "|"}, {"z", ""}})
	require.Equal(t, "| a\\|b | c |\n| --- | --- |\n| x<br>y | \\| |\n| z |  |", text)
	var html htmlText
	require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(text), &html))
	require.Contains(t, string(html), "<th>a|b</th>\n<th>c</th>")
	require.Contains(t, string(html), "<td>|</td>")
}

type htmlText []byte

func (h *htmlText) Write(p []byte) (int, error) { *h = append(*h, p...); return len(p), nil }
