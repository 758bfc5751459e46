package layout

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// justify puts words between left and right, in lines of which all but the last are as wide as the
// column.
func justify(p *Page, size, left, right, y float64, words []string) {
	for len(words) > 0 {
		n, width := 0, 0.0
		for n < len(words) {
			w := size / 2 * float64(len(words[n]))
			if n > 0 && width+w+size/4*float64(n) > right-left {
				break
			}
			width += w
			n++
		}
		blank := size / 4
		if n < len(words) && n > 1 {
			blank = (right - left - width) / float64(n-1)
		}
		x := left
		for _, word := range words[:n] {
			w := size / 2 * float64(len(word))
			p.Words = append(p.Words, Word{Box: Box{x, x + w, y, y + size}, Text: word})
			x += w + blank
		}
		words = words[n:]
		y += size * 1.2
	}
}

// randomWords are words as long as those of a language. The first and the last are marks.
func randomWords(rng *rand.Rand, n int, mark string) []string {
	out := make([]string, n)
	for i := range out {
		length := 2 + rng.IntN(5) + rng.IntN(4)*rng.IntN(4)
		out[i] = strings.Repeat(string(rune('a'+rng.IntN(26))), length)
	}
	out[0], out[n-1] = mark+"0", mark+"1."
	return out
}

// Justified text in narrow columns has wide blanks, and is still read column by column. With three
// words in a line some blanks look like those of tables.
func TestJustifiedColumns(t *testing.T) {
	const pages = 100
	for _, c := range []struct {
		columns, gutter float64
		wrong           int // pages at most
	}{{1, 0, 0}, {2, 12, 0}, {2, 20, 0}, {3, 12, 8}, {3, 18, 8}, {4, 12, 25}} {
		wrong := 0
		for seed := range uint64(pages) {
			p, want := justifiedPage(rand.New(rand.NewPCG(seed, 1)), int(c.columns), c.gutter)
			var got []string
			for _, b := range blocksOf(t, p) {
				got = append(got, b.Text)
			}
			if want != strings.Join(got, " ") {
				wrong++
			}
		}
		require.LessOrEqual(t, wrong, c.wrong, "%v of %d pages", c, pages)
	}
}

// justifiedPage is a page of random columns, and its text.
func justifiedPage(rng *rand.Rand, columns int, gutter float64) (p Page, text string) {
	width := (500 - gutter*float64(columns-1)) / float64(columns)
	var texts []string
	for i := range columns {
		words := randomWords(rng, 60+rng.IntN(90), fmt.Sprint("Mark", i))
		left := 50 + float64(i)*(width+gutter)
		justify(&p, 10, left, left+width, 100, words)
		texts = append(texts, strings.Join(words, " "))
	}
	return p, strings.Join(texts, " ")
}
