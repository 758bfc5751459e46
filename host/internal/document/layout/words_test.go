package layout

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// gridPage draws a table of 4 to 6 rows and columns in which rules are missing at random.
func gridPage(rng *rand.Rand) (p Page, words []string) {
	p = Page{Width: 595, Height: 842}
	rows, columns := 2+rng.IntN(4), 2+rng.IntN(4)
	const w, h, left, top = 80.0, 20.0, 60.0, 300.0
	for row := range rows + 1 {
		y := top + h*float64(row)
		for column := range columns + 1 {
			x := left + w*float64(column)
			if column < columns && (row == 0 || row == rows || rng.IntN(4) > 0) {
				p.Rules = append(p.Rules, Box{x, x + w, y, y})
			}
			if row < rows && (column == 0 || column == columns || rng.IntN(4) > 0) {
				p.Rules = append(p.Rules, Box{x, x, y, y + h})
			}
			if row < rows && column < columns && rng.IntN(4) > 0 {
				word := fmt.Sprintf("q%dx%dq", row, column)
				put(&p, 10, x+5, y+5, word)
				words = append(words, word)
			}
		}
	}
	return p, words
}

var tag = regexp.MustCompile("<[^>]*>")

// Whatever rules are missing in a table, its words are once in plain text and HTML.
func TestWordsOfTablesAreOnce(t *testing.T) {
	for seed := range uint64(2000) {
		p, words := gridPage(rand.New(rand.NewPCG(seed, 1)))
		list := blocksOf(t, p)
		plain, html := block.Plain(list), tag.ReplaceAllString(block.HTML(list), " ")
		for _, w := range words {
			require.Equal(t, 1, strings.Count(plain, w), "seed %d: %s in %q", seed, w, plain)
			require.Equal(t, 1, strings.Count(html, w), "seed %d: %s in %q", seed, w, html)
		}
	}
}

// The word that begins a line is a run-in title in bold only.
func TestRunInTitlesAreBold(t *testing.T) {
	var p Page
	p.Height = 842
	put(&p, 16, 50, 100, "First part")
	put(&p, 10, 50, 130, "Overview of all that is said in the following parts of it.")
	put(&p, 16, 50, 200, "Second part")
	put(&p, 10, 50, 230, "More of it.")
	d := Document{Outline: []Entry{{1, "First part", 1, 90}, {1, "Overview", 1, 125}, {1, "Second part", 1, 190}}}
	p.Number = 1
	d.Add(p)
	list, err := d.Blocks(t.Context())
	require.NoError(t, err)
	require.Contains(t, shown(list), "1 paragraph Overview of all that is said in the following parts of it.")
}
