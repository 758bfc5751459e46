package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// put adds a line of words to a page; each letter is half as wide as it is high.
func put(p *Page, size, x, y float64, line string) {
	for _, word := range strings.Split(line, " ") {
		width := size / 2 * float64(len([]rune(word)))
		text, bold := strings.CutPrefix(word, "*")
		p.Words = append(p.Words, Word{Box: Box{x, x + width, y, y + size}, Text: text, Bold: bold})
		x += width + size/3
	}
}

// shown returns blocks as lines: "page kind level text".
func shown(list []block.Block) (out []string) {
	for i := range list {
		b := &list[i]
		level := ""
		if b.Level > 0 {
			level = fmt.Sprint(b.Level)
		}
		text := b.Text
		if b.Kind == block.Table {
			text = fmt.Sprint(b.Rows)
		}
		out = append(out, fmt.Sprintf("%d %s%s %s", b.Page(), b.Kind, level, text))
	}
	return out
}

func blocksOf(t *testing.T, pages ...Page) []block.Block {
	t.Helper()
	var d Document
	for i := range pages {
		pages[i].Number = i + 1
		if pages[i].Height == 0 {
			pages[i].Height = 842
		}
		d.Add(pages[i])
	}
	list, err := d.Blocks(t.Context())
	require.NoError(t, err)
	return list
}

const (
	long1 = "The first line of this paragraph is as long as all others"
	long2 = "and the second one ends a sentence somewhere. It then goes"
	long3 = "on to its end."
)

func TestParagraphsAndHeadings(t *testing.T) {
	var p Page
	put(&p, 20, 50, 50, "Report")
	put(&p, 14, 50, 90, "1 Introduction")
	put(&p, 10, 50, 120, long1)
	put(&p, 10, 50, 132, long2)
	put(&p, 10, 50, 144, long3)
	put(&p, 10, 50, 166, "Another para-")
	put(&p, 10, 50, 178, "graph")
	put(&p, 10, 50, 200, "*Bold *words")
	put(&p, 10, 50, 222, "• one")
	put(&p, 10, 50, 234, "• two that is")
	put(&p, 10, 58, 246, "continued")
	put(&p, 10, 50, 258, "1. three")
	put(&p, 10, 50, 290, "这是")
	put(&p, 10, 50, 302, "中文")
	list := blocksOf(t, p)
	require.Equal(t, []string{
		"1 heading1 Report", "1 heading2 1 Introduction", "1 paragraph " + long1 + " " + long2 + " " + long3,
		"1 paragraph Another paragraph",
		"1 heading3 Bold words", "1 list - one\n- two that is continued\n1. three", "1 paragraph 这是中文",
	}, shown(list))
	require.Equal(t, []string{"Report", "1 Introduction", "Bold words"}, list[5].Path)
	require.Equal(t, []block.Position{{Page: 1, Left: 50, Right: list[2].Positions[0].Right, Top: 120, Bottom: 154}},
		list[2].Positions)
}

// Columns are read one after the other, between the elements that span both.
func TestColumns(t *testing.T) {
	var p Page
	put(&p, 20, 50, 50, "A title that reaches over both columns")
	for i := range 12 {
		y := 100 + 12*float64(i)
		put(&p, 10, 50, y, fmt.Sprintf("left line %d is running text xx", i))
		put(&p, 10, 310, y, fmt.Sprintf("right line %d is running text x", i))
	}
	put(&p, 10, 50, 260, "a line below that reaches over both of the columns of it, too. x x x x x x x x x x x x")
	got := strings.Join(shown(blocksOf(t, p)), "\n")
	var left, right []string
	for i := range 12 {
		left = append(left, fmt.Sprintf("left line %d is running text xx", i))
		right = append(right, fmt.Sprintf("right line %d is running text x", i))
	}
	require.Contains(t, got, strings.Join(left, " ")+" "+strings.Join(right, " "))
	require.True(t, strings.HasPrefix(got, "1 heading1 A title that"))
}

func TestRepeatedLinesAtEdgesAreDropped(t *testing.T) {
	var pages []Page
	for i := range 4 {
		var p Page
		put(&p, 10, 50, 30, "Annual report 2026")
		put(&p, 10, 500, 30, fmt.Sprint(i+1))
		put(&p, 10, 50, 100, fmt.Sprintf("The text of page number %d.", i+1))
		put(&p, 10, 50, 114, "the same on all pages")
		put(&p, 10, 250, 810, fmt.Sprintf("Page %d of 4", i+1))
		pages = append(pages, p)
	}
	got := strings.Join(shown(blocksOf(t, pages...)), "\n")
	require.NotContains(t, got, "Annual")
	require.NotContains(t, got, "of 4")
	require.Equal(t, 4, strings.Count(got, "the same on all pages"))
	require.Equal(t, 4, strings.Count(got, "The text of page number"))
}

// A paragraph that does not end with its page continues on the next one.
func TestParagraphsAcrossPages(t *testing.T) {
	var one, two Page
	put(&one, 10, 50, 700, long1)
	put(&one, 10, 50, 712, "and it continues on the next page, where we")
	put(&two, 10, 50, 100, "find the end of it.")
	put(&two, 10, 50, 130, "Next.")
	list := blocksOf(t, one, two)
	require.Equal(t, []string{
		"1 paragraph " + long1 + " and it continues on the next page, where we find the end of it.",
		"2 paragraph Next.",
	}, shown(list))
	require.Len(t, list[0].Positions, 2)
	require.Equal(t, 2, list[0].Positions[1].Page)
}

// ruled draws a grid and its texts.
func ruled(p *Page, x, y float64, rows [][]string) {
	const width, height = 100, 20
	columns := len(rows[0])
	for i := range len(rows) + 1 {
		at := y + height*float64(i)
		p.Rules = append(p.Rules, Box{x, x + width*float64(columns), at, at})
	}
	for i := range columns + 1 {
		at := x + width*float64(i)
		p.Rules = append(p.Rules, Box{at, at, y, y + height*float64(len(rows))})
	}
	for r, row := range rows {
		for c, text := range row {
			if text != "" {
				put(p, 10, x+4+width*float64(c), y+5+height*float64(r), text)
			}
		}
	}
}

func TestRuledTables(t *testing.T) {
	var one, two Page
	put(&one, 10, 50, 600, "Before.")
	ruled(&one, 50, 640, [][]string{{"Kind", "Days", "Note"}, {"Books", "30", ""}})
	ruled(&two, 50, 80, [][]string{{"Kind", "Days", "Note"}, {"Maps", "14", "new ones"}})
	put(&two, 10, 50, 160, "After.")
	list := blocksOf(t, one, two)
	require.Equal(t, []string{
		"1 paragraph Before.", "1 table [[Kind Days Note] [Books 30 ] [Maps 14 new ones]]", "2 paragraph After.",
	}, shown(list))
	require.Equal(t, 1, list[1].Header)
	require.Len(t, list[1].Positions, 2)
}

func TestAlignedTables(t *testing.T) {
	var p Page
	put(&p, 10, 50, 80, "Deadlines by kind of goods, in days and with what you must know of it")
	for i, row := range [][]string{{"Kind", "Days", "Note"}, {"Books", "30", "in their box"}, {
		"Maps", "14",
		"unfolded",
	}, {"Food", "0", "never"}} {
		for c, text := range row {
			put(&p, 10, 50+150*float64(c), 110+14*float64(i), text)
		}
	}
	put(&p, 10, 350, 165, "ever")
	put(&p, 10, 50, 200, "After the table there is some more text.")
	require.Equal(t, []string{
		"1 paragraph Deadlines by kind of goods, in days and with what you must know of it",
		"1 table [[Kind Days Note] [Books 30 in their box] [Maps 14 unfolded] [Food 0 never ever]]",
		"1 paragraph After the table there is some more text.",
	}, shown(blocksOf(t, p)))
}

func TestPicturesHaveTheirPlace(t *testing.T) {
	p := Page{Pictures: []Picture{{Box{50, 200, 130, 300}, "page 1 image 1"}}}
	put(&p, 10, 50, 100, "Above.")
	put(&p, 10, 50, 320, "Below.")
	list := blocksOf(t, p)
	require.Equal(t, []string{"1 paragraph Above.", "1 image ", "1 paragraph Below."}, shown(list))
	require.Equal(t, "page 1 image 1", list[1].Source)
}

// The caption below an image is its text; a paragraph that names a figure is not.
func TestCaptionsOfImages(t *testing.T) {
	p := Page{Pictures: []Picture{{Box{50, 200, 130, 300}, "page 1 image 1"}}}
	put(&p, 10, 50, 100, "Figure 3 is explained here, above it.")
	put(&p, 10, 50, 320, "Figure 3: A wheel")
	put(&p, 10, 50, 360, "Below.")
	list := blocksOf(t, p)
	require.Equal(t, []string{
		"1 paragraph Figure 3 is explained here, above it.", "1 image Figure 3: A wheel", "1 paragraph Below.",
	}, shown(list))
}

// FuzzPages lays out words and rules at any place, in any direction and with any outline: no word
// is lost or repeated.
func FuzzPages(f *testing.F) {
	f.Add([]byte("\x00\x10\x10\x20\x05\x01\x10\x10\x10\x20"), uint8(1))
	f.Add([]byte("\x02\x10\x10\x20\x05\x07\x10\x10\x10\x20\x0c\x20\x10\x20\x05"), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, pages uint8) {
		n := int(pages%3) + 1
		list := make([]Page, n)
		var d Document
		for i := 0; i+4 < len(data); i += 5 {
			p := &list[i/5%n]
			x, y := float64(data[i+1])*2, float64(data[i+2])*3
			if data[i]%5 == 0 {
				p.Rules = append(p.Rules, Box{x, x + float64(data[i+3]), y, y + float64(data[i+4]%2)*100})
				continue
			}
			size := float64(data[i+3]%30) + 1
			w := Word{
				Box: Box{x, x + float64(data[i+4]), y, y + size}, Text: fmt.Sprintf("w%dw", i), Bold: data[i]%2 == 0,
				Mono: data[i]&8 == 8, Math: data[i]&16 == 16, Turn: Turn(data[i] >> 5 & 2),
			}
			if data[i]%7 == 0 {
				d.Outline = append(d.Outline, Entry{
					Level: int(data[i+3] % 8), Title: w.Text,
					Page: int(data[i+2] % 5), Top: y,
				})
			}
			p.Words = append(p.Words, w)
		}
		for i := range list {
			list[i].Number, list[i].Width, list[i].Height = i+1, 600, 2000 // nothing is at the lower edge
			for k := range list[i].Words {
				w := &list[i].Words[k]
				w.Top += 300
				w.Bottom += 300
				w.Box = w.Turn.Box(w.Box)
			}
			d.Add(list[i])
		}
		blocks, err := d.Blocks(t.Context())
		require.NoError(t, err)
		text := block.Plain(blocks)
		for i := 0; i+4 < len(data); i += 5 {
			if data[i]%5 != 0 {
				require.Positive(t, strings.Count(text, fmt.Sprintf("w%dw", i)), "%q", text)
			}
		}
		if len(d.Outline) == 0 {
			for i := 0; i+4 < len(data); i += 5 {
				if data[i]%5 != 0 {
					require.Equal(t, 1, strings.Count(text, fmt.Sprintf("w%dw", i)), "%q", text)
				}
			}
		}
	})
}
