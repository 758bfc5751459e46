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
	for seed := range uint64(1000) {
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

// The work for an outline is bounded by the length of the lines too.
func TestOutlinesOfLongLines(t *testing.T) {
	m := matcher{d: &Document{}, pages: map[int]int{1: 0}, lines: map[int]map[string][]place{}, used: map[place]bool{}}
	long := "abc" + strings.Repeat("x", 1<<20)
	m.d.pages = []page{{number: 1, elements: []element{{line: &segment{text: long, size: 10}}}}}
	for range 1000 {
		m.find(&Entry{Level: 1, Title: "abcd", Page: 1})
	}
	require.Less(t, m.compared, maxCompare+1<<20/compareSize+2)
	require.Greater(t, m.compared, maxCompare)
}

// A document of nothing but divided words does not copy a growing paragraph again and again.
func TestDividedWordsAreNotQuadratic(t *testing.T) {
	w := newWriter(10, 1, &Compounds{})
	longest := 0
	for range 10_000 {
		w.open = &paragraph{look: look{size: 10}, parts: [][]string{{"abc abcdefgh-"}}}
		w.flushParagraph()
	}
	for i := range w.out {
		longest = max(longest, len(w.out[i].Text))
	}
	require.Less(t, longest, longestJoined+64)
	require.Greater(t, len(w.out), 1)
}

// maker draws pages of parts whose words are all different.
type maker struct {
	rng   *rand.Rand
	page  Page
	parts [][]Word // in the order of drawing
	words []string
}

func (m *maker) word() string {
	w := fmt.Sprintf("q%dq", len(m.words))
	if m.rng.IntN(5) == 0 {
		w += strings.Repeat("n", m.rng.IntN(9))
	}
	m.words = append(m.words, w)
	return w
}

// line puts words from x on up to the right side; short means at most a few.
func (m *maker) line(p *Page, size, x, right, y float64, bold, short bool) {
	n := 100
	if short {
		n = 1 + m.rng.IntN(3)
	}
	for ; n > 0; n-- {
		w := m.word()
		width := size / 2 * float64(len(w))
		if x+width > right && n < 100 {
			m.words = m.words[:len(m.words)-1]
			return
		}
		p.Words = append(p.Words, Word{
			Box: Box{x, x + width, y, y + size}, Text: w, Bold: bold, Size: size,
			Base: y + 0.8*size, Mono: size == 9,
		})
		x += width + size/3 + size/2*float64(m.rng.IntN(2)*m.rng.IntN(2))
		if x > right-4*size {
			return
		}
	}
}

// part draws text, a list, a table, code or turned text in a box and returns where it ends.
func (m *maker) part(left, right, top float64) float64 {
	var p Page
	kind, rows := m.rng.IntN(7), 1+m.rng.IntN(9)
	size := []float64{8, 10, 10, 10, 14}[m.rng.IntN(5)]
	bold := m.rng.IntN(5) == 0
	columns := 2 + m.rng.IntN(3)
	for row := range rows {
		y := top + float64(row)*size*1.3
		switch kind {
		case 0, 1:
			m.line(&p, size, left, right, y, bold, row == rows-1)
		case 2:
			p.Words = append(p.Words, Word{
				Box: Box{left, left + 5, y, y + size}, Text: "•", Size: size, Base: y + 0.8*size,
			})
			m.line(&p, size, left+10, right, y, bold, m.rng.IntN(2) == 0)
		case 3, 4: // a table, with rules or none
			w := (right - left) / float64(columns)
			for c := range columns {
				x := left + w*float64(c)
				if m.rng.IntN(5) > 0 {
					m.line(&p, 7, x+2, x+w-2, y, row == 0, true)
				}
				if kind == 4 && m.rng.IntN(8) > 0 {
					m.page.Rules = append(m.page.Rules, Box{x, x + w, y - 2, y - 2}, Box{x, x, y - 2, y + size*1.3 - 2})
				}
			}
		case 5:
			m.line(&p, 9, left+10*float64(m.rng.IntN(3)), right, y, false, true)
		case 6:
			m.line(&p, size, left, right, y, bold, true)
			for i := range p.Words {
				if w := &p.Words[i]; w.Turn == 0 && m.rng.IntN(2) == 0 {
					w.Turn = 2
					w.Box = w.Turn.Box(w.Box)
					w.Base = w.Bottom - 0.2*size
				}
			}
		}
	}
	m.parts = append(m.parts, p.Words)
	return top + float64(rows)*size*1.3 + 3 + float64(m.rng.IntN(20))
}

func (m *maker) draw() Page {
	m.page = Page{Width: 595, Height: 2000} // nothing is at an edge
	m.parts = nil
	y := 300.0
	for y < 1000 {
		columns := 1 + m.rng.IntN(3)
		end := y + 60 + float64(m.rng.IntN(300))
		lowest := end
		w := 495 / float64(columns)
		for c := range columns {
			for at := y; at < end; {
				at = m.part(50+w*float64(c), 50+w*float64(c+1)-12, at)
				lowest = max(lowest, at)
			}
		}
		y = lowest + 5
	}
	if m.rng.IntN(3) == 0 {
		m.rng.Shuffle(len(m.parts), func(i, k int) { m.parts[i], m.parts[k] = m.parts[k], m.parts[i] })
	}
	for _, p := range m.parts {
		m.page.Words = append(m.page.Words, p...)
	}
	if m.rng.IntN(5) == 0 {
		w := m.page.Words
		m.rng.Shuffle(len(w), func(i, k int) { w[i], w[k] = w[k], w[i] })
	}
	return m.page
}

// Each word of any page is once in plain text and in HTML, and at least once in Markdown.
func TestWordsAreOnce(t *testing.T) {
	for seed := range uint64(200) {
		m := maker{rng: rand.New(rand.NewPCG(seed, 2))}
		pages := make([]Page, 1+m.rng.IntN(3))
		for i := range pages {
			pages[i] = m.draw()
		}
		d := Document{}
		for i := range pages {
			pages[i].Number = i + 1
			d.Add(pages[i])
		}
		if seed%3 == 0 { // bookmarks that are words of the pages: parts of lines are no headings
			for i := range pages {
				for k := range pages[i].Words {
					if w := &pages[i].Words[k]; w.Turn == 0 && m.rng.IntN(20) == 0 && w.Text != "•" {
						d.Outline = append(d.Outline, Entry{1 + m.rng.IntN(4), w.Text, i + 1, w.Top})
					}
				}
			}
		}
		list, err := d.Blocks(t.Context())
		require.NoError(t, err)
		most := 1
		if len(d.Outline) > 0 {
			most = 2
		}
		for form, text := range map[string]string{
			"plain": block.Plain(list), "html": tag.ReplaceAllString(block.HTML(list), " "),
			"markdown": block.Markdown(list),
		} {
			count := map[string]int{}
			for _, w := range numbered.FindAllString(text, -1) {
				count[w]++
			}
			for _, w := range m.words {
				n := count[numbered.FindString(w)]
				require.Positive(t, n, "seed %d, %s: %s", seed, form, w)
				if form != "markdown" {
					require.LessOrEqual(t, n, most, "seed %d, %s: %s", seed, form, w)
				}
			}
		}
	}
}

var numbered = regexp.MustCompile(`q\d+q`)
