package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/fidelity"
)

func plainOf(t *testing.T, pages ...Page) string {
	t.Helper()
	return block.Plain(blocksOf(t, pages...))
}

// Lines are made by where letters stand: signs of mathematics reach into the lines above and below.
func TestLinesWithTallSigns(t *testing.T) {
	var p Page
	for i, line := range []string{"all lines of it have", "the length of a set", "are counted from one"} {
		put(&p, 10, 50, 100+12*float64(i), line)
	}
	last := p.Words[len(p.Words)-1]
	p.Words = append(p.Words, Word{
		Box:  Box{Left: last.Right + 3, Right: last.Right + 9, Top: 120, Bottom: 146},
		Text: "}", Base: 132,
	})
	require.Equal(t, "all lines of it have the length of a set are counted from one }", plainOf(t, p))
}

// An exponent belongs to the sign that it touches, without a blank; a mark of a footnote keeps it.
func TestIndexesAndExponents(t *testing.T) {
	var p Page
	put(&p, 10, 50, 100, "the value x and some words")
	add := func(behind int, text string, base float64) {
		w := p.Words[behind]
		p.Words = append(p.Words, Word{
			Box:  Box{Left: w.Right, Right: w.Right + 2, Top: base - 6, Bottom: base + 1},
			Text: text, Base: base,
		})
	}
	add(2, "2", 104) // letters stand at 108
	add(5, "1", 104)
	put(&p, 10, 50, 112, "that stand in the next line")
	require.Equal(t, "the value x2 and some words 1 that stand in the next line", plainOf(t, p))
}

// A paper: a wide title, authors in one row, two columns whose lines do not stand at the
// same heights, and a footnote.
func paper(rng *rand.Rand) (p Page, want string) {
	p.Width = 595
	put(&p, 20, 80, 40, "A wide title over both columns")
	texts := []string{"A wide title over both columns"}
	for i := range 3 {
		x := 60 + 180*float64(i)
		put(&p, 10, x, 80, fmt.Sprintf("Author %c", 'A'+rune(i)))
		put(&p, 10, x, 93, fmt.Sprintf("University %d", i))
		texts = append(texts, fmt.Sprintf("Author %c", 'A'+rune(i)), fmt.Sprintf("University %d", i))
	}
	for i, x := range []float64{50, 310} {
		words := randomWords(rng, 160, fmt.Sprint("Mark", i))
		justify(&p, 10, x, x+240, 130+7*float64(i), words)
		texts = append(texts, strings.Join(words, " "))
	}
	return p, strings.Join(texts, " ")
}

// The neighbours of words in papers and cards are neighbours in the text.
func TestOrderOfPapersAndCards(t *testing.T) {
	sum := 0.0
	const pages = 40
	for seed := range uint64(pages) {
		p, want := paper(rand.New(rand.NewPCG(seed, 7)))
		sum += fidelity.Pairs(fidelity.Words(plainOf(t, p)), fidelity.Words(want))
	}
	require.GreaterOrEqual(t, sum/pages, 0.99)
	card, want := referenceCard()
	got := plainOf(t, card)
	require.InDelta(t, 1, fidelity.Indel(fidelity.Words(got), fidelity.Words(want)), 0.001)
}

// referenceCard is a card of three columns of commands and their meaning.
func referenceCard() (p Page, text string) {
	p.Width, p.Height = 842, 595
	var b strings.Builder
	for column := range 3 {
		x := 30 + 270*float64(column)
		for section := range 4 {
			y := 30 + 130*float64(section)
			title := fmt.Sprintf("Section %d of column %d", section, column)
			put(&p, 12, x, y, title)
			b.WriteString(title + "\n")
			for row := range 7 {
				command, meaning := fmt.Sprintf("cmd%d%d%d", column, section, row), fmt.Sprintf("does the thing %d",
					row)
				put(&p, 8, x, y+22+11*float64(row), command)
				put(&p, 8, x+90, y+22+11*float64(row), meaning)
				b.WriteString(command + " " + meaning + "\n")
			}
		}
	}
	return p, b.String()
}

// No table runs across the columns of a card, and the contents of a book are no table.
func TestNoInventedTables(t *testing.T) {
	card, _ := referenceCard()
	for _, b := range blocksOf(t, card) {
		if b.Kind == block.Table {
			require.LessOrEqual(t, b.Positions[0].Right-b.Positions[0].Left, 270.0, "%v", b.Rows)
			require.Len(t, b.Rows[0], 2)
		}
	}
	var contents, equations, prose Page
	put(&contents, 14, 50, 50, "Contents")
	for i := range 8 {
		y := 90 + 14*float64(i)
		put(&contents, 10, 50, y, fmt.Sprint(i+1))
		put(&contents, 10, 80, y, fmt.Sprintf("Chapter about things %d", i))
		put(&contents, 10, 500, y, fmt.Sprint(3+4*i))
		put(&equations, 10, 60, y, "v(x)")
		put(&equations, 10, 120, y, "=")
		put(&equations, 10, 160, y, fmt.Sprintf("x(%d)", i))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	justify(&prose, 10, 50, 250, 100, randomWords(rng, 60, "Left"))
	for name, p := range map[string]Page{"contents": contents, "equations": equations, "prose": prose} {
		for _, b := range blocksOf(t, p) {
			require.NotEqual(t, block.Table, b.Kind, "%s: %v", name, b.Rows)
			require.False(t, name == "contents" && b.Kind == block.Heading && b.Text != "Contents", b.Text)
		}
	}
	list := blocksOf(t, contents)
	require.Equal(t, block.Contents, list[len(list)-1].Mark)
	require.Equal(t, 8, strings.Count(list[len(list)-1].Text, "\n")+1)
}

func TestRightToLeft(t *testing.T) {
	var p Page
	x := 300.0
	for _, word := range []string{"وضع", "في", "2024", "2026", "ملف"} {
		w := 6 * float64(len([]rune(word)))
		if word == "2026" {
			// two numbers stand from left to right
			n := &p.Words[len(p.Words)-1]
			n.Left, n.Right = n.Left-w-4, n.Right-w-4
			p.Words = append(p.Words, Word{Box: Box{n.Right + 4, n.Right + 4 + w, 100, 110}, Text: word})
			x = n.Left - 4
			continue
		}
		p.Words = append(p.Words, Word{Box: Box{x - w, x, 100, 110}, Text: word})
		x -= w + 4
	}
	require.Equal(t, "وضع في 2024 2026 ملف", plainOf(t, p))
}

// A word divided at the end of a page is joined over the table at the top of the next one.
func TestDividedWordsAcrossBlocks(t *testing.T) {
	var one, two Page
	put(&one, 10, 50, 700, long1)
	put(&one, 10, 50, 712, "and a word is divided here, at the end of the exam-")
	ruled(&two, 50, 80, [][]string{{"Kind", "Days"}, {"Books", "30"}})
	put(&two, 10, 50, 160, "ple that continues.")
	list := blocksOf(t, one, two)
	require.Contains(t, list[0].Text, "the end of the example that continues.")
	require.Len(t, list, 2)
	require.Len(t, list[0].Positions, 2)
}

// Code keeps its lines, indents and empty lines, and its lines are no headings.
func TestCode(t *testing.T) {
	var p Page
	put(&p, 10, 50, 60, "An example follows here and is code in letters of one width:")
	for i, line := range []string{"func main() {", "    run()", "", "    # Title", "}"} {
		text := strings.TrimLeft(line, " ")
		if x := 50 + 6*float64(len(line)-len(text)); text != "" {
			width := 6 * float64(len(text))
			p.Words = append(p.Words, Word{
				Box:  Box{x, x + width, 90 + 12*float64(i), 100 + 12*float64(i)},
				Text: text, Mono: true, Bold: true,
			})
		}
	}
	list := blocksOf(t, p)
	require.Equal(t, block.Code, list[1].Kind)
	require.Equal(t, "func main() {\n    run()\n\n    # Title\n}", list[1].Text)
}

// Without an outline, numbers that count up are levels, and a title page does not use up levels.
func TestNumberedHeadings(t *testing.T) {
	var p Page
	put(&p, 24, 50, 40, "The title")
	put(&p, 14, 50, 80, "A. Author and B. Author")
	put(&p, 13, 50, 105, "September 2026")
	put(&p, 12, 50, 130, "*Abstract")
	y := 150.0
	for _, h := range []string{
		"*1. *Introduction", "*2. *Methods", "*2.1. *Data", "*2.1.1. *Sources",
		"*2.2. *Models", "*3. *Results", "*References",
	} {
		put(&p, 12, 50, y, h)
		put(&p, 10, 50, y+20, "Text that is between two headings, and longer than they are. It ends.")
		y += 44
	}
	var got []string
	for _, b := range blocksOf(t, p) {
		if b.Kind == block.Heading {
			got = append(got, fmt.Sprint(b.Level, " ", b.Text))
		}
	}
	require.Equal(t, []string{
		"1 The title", "2 Abstract", "2 1. Introduction", "2 2. Methods", "3 2.1. Data", "4 2.1.1. Sources",
		"3 2.2. Models",
		"2 3. Results", "2 References",
	}, got)
}

func TestNumberOf(t *testing.T) {
	for text, want := range map[string][]int{
		"2.1 Data": {2, 1}, "A.1 More": {'A', 1}, "第三章 数据": {3}, "一、总则": {1}, "（二）数据": {0, 2}, "Data": nil, "2024": nil,
		"A word": nil, "1.x y": nil, "（二": nil, "": nil,
	} {
		require.Equal(t, want, numberOf(text), text)
	}
}

// A cell reaches over others where no rule is between them; a frame around text is no table.
func TestSpansOfRuledTables(t *testing.T) {
	var p Page
	ruled(&p, 50, 80, [][]string{{"Model", "Torque", ""}, {"", "min", "max"}, {"A", "1", "2"}, {"B", "3", "4"}})
	p.Rules = p.Rules[:0]
	for _, r := range [][4]float64{
		{50, 350, 80, 80},
		{150, 350, 100, 100},
		{50, 350, 120, 120},
		{50, 350, 140, 140},
		{50, 350, 160, 160},
		{150, 150, 80, 160},
		{250, 250, 100, 160},
	} {
		p.Rules = append(p.Rules, Box{r[0], r[1], r[2], r[3]})
	}
	list := blocksOf(t, p)
	require.Equal(t, [][]string{{"Model", "Torque", "Torque"}, {"Model", "min", "max"}, {"A", "1", "2"}, {
		"B", "3",
		"4",
	}}, list[0].Rows)
	require.Equal(t, []block.Span{{Row: 0, Column: 0, Rows: 2, Columns: 1}, {
		Row: 0, Column: 1, Rows: 1,
		Columns: 2,
	}}, list[0].Spans)
	require.Equal(t, 2, list[0].Header)
	var frame Page
	put(&frame, 10, 60, 100, "A text in a frame that has a rule at its side.")
	frame.Rules = []Box{{50, 500, 90, 90}, {50, 500, 120, 120}, {50, 50, 90, 120}, {55, 55, 90, 120}, {
		500, 500, 90,
		120,
	}}
	require.Equal(t, block.Paragraph, blocksOf(t, frame)[0].Kind)
}

// Titles of sections at the edge of a page are running heads, also on a single page.
func TestRunningTitlesAreDropped(t *testing.T) {
	var d Document
	d.Outline = []Entry{{1, "Basics", 1, 100}, {1, "More", 3, 60}}
	for i, title := range []string{"Basics", "", "More"} {
		p := Page{Number: i + 1, Width: 595, Height: 842}
		if i == 1 {
			put(&p, 10, 50, 30, "Basics 17")
		}
		if title != "" {
			put(&p, 14, 50, 100, title)
		}
		put(&p, 10, 50, 140, fmt.Sprintf("Text of page %d that is long enough.", i))
		d.Add(p)
	}
	list, err := d.Blocks(t.Context())
	require.NoError(t, err)
	require.NotContains(t, block.Plain(list), "17")
	require.Equal(t, 1, strings.Count(block.Plain(list), "Basics"))
}

// The time of hostile pages grows with their words: 8 times as many take less than 8*8 times as
// long.
func TestHostilePagesAreNotQuadratic(t *testing.T) {
	for name, page := range map[string]func(n int) Page{
		"one baseline": func(n int) (p Page) {
			for i := range n {
				p.Words = append(p.Words, Word{Box: Box{float64(i) * 9, float64(i)*9 + 5, 100, 110}, Text: "w"})
			}
			return p
		},
		"one place": func(n int) (p Page) {
			for range n {
				p.Words = append(p.Words, Word{Box: Box{50, 55, 100, 110}, Text: "w"})
			}
			return p
		},
		"upwards": func(n int) (p Page) {
			for i := range n {
				p.Words = append(p.Words, Word{Box: Box{50, 55, float64(n - i), float64(n-i) + 10}, Text: "w"})
			}
			return p
		},
		"scripts": func(n int) (p Page) {
			for i := range n {
				p.Words = append(p.Words, Word{Box: Box{
					float64(i % 300 * 2), float64(i%300*2) + 3,
					float64(i/300) * 3, float64(i/300)*3 + 10,
				}, Text: "w"})
			}
			return p
		},
		"ragged rows": func(n int) (p Page) {
			for i := range n / 2 {
				y, a := float64(i)*11, float64(i*7919%40)
				b := 200 + float64(i*104729%37)
				p.Words = append(p.Words, Word{Box: Box{a, a + 5 + a/4, y, y + 10}, Text: "w"},
					Word{Box: Box{b, b + 9 + a/3, y, y + 10}, Text: "v"})
			}
			return p
		},
		"turned lines": func(n int) (p Page) {
			for i := range n / 2 {
				y := float64(i) * 12
				p.Words = append(p.Words, Word{Box: Box{50, 55, y, y + 10}, Text: "w"},
					Word{Box: Box{100, 105, y, y + 10}, Text: "w", Turn: 2})
			}
			return p
		},
		"grids": func(n int) (p Page) {
			for i := range n {
				x, y := float64(i%100)*6, float64(i/100)*12
				p.Words = append(p.Words, Word{Box: Box{x, x + 4, y, y + 10}, Text: "w"})
			}
			for i := range n / 64 {
				y := float64(i) * 20
				for k := range 3 {
					p.Rules = append(p.Rules, Box{700 + 20*float64(k), 700 + 20*float64(k), y, y + 10})
				}
				p.Rules = append(p.Rules, Box{700, 740, y, y})
			}
			return p
		},
	} {
		spent := func(n int) time.Duration {
			p := page(n)
			p.Number, p.Width, p.Height = 1, 595, 842
			start := time.Now()
			var d Document
			d.Add(p)
			_, err := d.Blocks(t.Context())
			require.NoError(t, err)
			return time.Since(start)
		}
		// The least of several times has the least of what else the machine does.
		small, large := spent(4_000), spent(32_000)
		grows := func() bool { return large >= 40*max(small, 4*time.Millisecond) }
		for try := 0; try < 20 && grows(); try++ {
			small, large = min(small, spent(4_000)), min(large, spent(32_000))
		}
		require.False(t, grows(), "%s: %v, %v", name, small, large)
	}
}

// Places that are no numbers or far away are no reason to fail.
func TestStrangePlaces(t *testing.T) {
	var p Page
	put(&p, 10, 50, 100, "some words")
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0} {
		p.Words = append(p.Words, Word{Box: Box{v, v, v, v}, Text: "w", Base: v, Size: v}, Word{Box: Box{
			50, v, 100,
			v,
		}, Text: "w", Turn: 1})
		p.Rules = append(p.Rules, Box{v, v, 0, 100}, Box{0, 100, v, v})
		p.Pictures = append(p.Pictures, Picture{Box: Box{v, v, v, v}})
	}
	d := Document{Outline: []Entry{{1, "some", 1, math.NaN()}, {1 << 40, "words", 1, math.Inf(1)}, {-5, "", -7, 0}}}
	p.Number, p.Width, p.Height = 1, 595, 842
	d.Add(p)
	list, err := d.Blocks(t.Context())
	require.NoError(t, err)
	require.Contains(t, block.Plain(list), "some")
}

// Articles of contracts and laws begin paragraphs, and their titles are no part of the text below.
// A reference to one at the beginning of a line is neither.
func TestArticles(t *testing.T) {
	var p Page
	y := 150.0
	for _, text := range []string{
		"甲方将位于北京市海淀区中关村大街一号的房屋出租给乙方使用，建筑面积为一百平",
		"第一条 租赁物", "甲方将位于北京市海淀区中关村大街一号的房屋出租给乙方使用，建筑面积为一百平",
		"方米。乙方已经充分了解该房屋的状况并且愿意承租，双方的其他权利义务，应当按照",
		"第三条的规定办理。", "第二条 租金为每月五千元，乙方应当在每月五日之前支付给甲方，逾期支付的应当支付",
		"违约金。",
	} {
		x := 50.0
		for _, word := range strings.Split(text, " ") {
			width := 10 * float64(len([]rune(word)))
			p.Words = append(p.Words, Word{Box: Box{x, x + width, y, y + 10}, Text: word})
			x += width + 5
		}
		y += 14
	}
	var got []string
	for _, b := range blocksOf(t, p) {
		got = append(got, string([]rune(b.Text)[:6]))
	}
	require.Equal(t, []string{"甲方将位于北", "第一条 租赁", "甲方将位于北", "第二条 租金"}, got)
}

// Labels and values of a form are a table without a head.
func TestForms(t *testing.T) {
	var p Page
	for i, row := range [][2]string{{"Name:", "Ada"}, {"Born:", "1815"}, {"Place:", "London"}, {"Work:", "Notes"}} {
		put(&p, 10, 50, 100+20*float64(i), row[0])
		put(&p, 10, 180, 100+20*float64(i), row[1])
	}
	list := blocksOf(t, p)
	require.Equal(t, block.Table, list[0].Kind)
	require.Zero(t, list[0].Header)
	require.NotContains(t, block.HTML(list), "<th>")
	p = Page{}
	ruled(&p, 50, 80, [][]string{{"Name:", "Ada"}, {"Born:", "1815"}, {"Place:", "London"}})
	require.Zero(t, blocksOf(t, p)[0].Header)
}
