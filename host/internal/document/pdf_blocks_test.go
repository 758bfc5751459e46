package document

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// patient is more time than a busy machine needs for a document.
const patient = 10 * time.Minute

// report returns a page of a report with a header, two columns and a table.
func report(n int) string {
	var b strings.Builder
	b.WriteString(pdftest.Text("F1", 9, 50, 30, "Annual report") + pdftest.Text("F1", 9, 280, 820, fmt.Sprint(n)))
	b.WriteString(pdftest.Text("F2", 16, 50, 80, fmt.Sprintf("Chapter %c of the report", 'A'+rune(n%26))))
	for i := range 20 {
		y := 110 + 13*float64(i)
		b.WriteString(pdftest.Text("F1", 10, 50, y, fmt.Sprintf("left %d %d runs over the whole width of it", n, i)))
		b.WriteString(pdftest.Text("F1", 10, 310, y, fmt.Sprintf("right %d %d runs over the width of it", n, i)))
	}
	for i := range 4 {
		b.WriteString(pdftest.Line(50, 400+20*float64(i), 350, 400+20*float64(i)))
		b.WriteString(pdftest.Line(50+100*float64(i), 400, 50+100*float64(i), 460))
	}
	for r := range 3 {
		for c := range 3 {
			b.WriteString(pdftest.Text("F1", 10, 55+100*float64(c), 414+20*float64(r), fmt.Sprintf("cell %d.%d.%d", n,
				r, c)))
		}
	}
	return b.String()
}

func TestBlocksOfPDF(t *testing.T) {
	list := blocksOf(t, "a.pdf", pdftest.Pages(report(1), report(2), report(3)))
	var shown []string
	for _, b := range list {
		shown = append(shown, fmt.Sprint(b.Page(), " ", b.Kind, b.Level))
	}
	require.Equal(t, []string{
		"1 heading1", "1 paragraph0", "1 table0", "2 heading1", "2 paragraph0", "2 table0", "3 heading1",
		"3 paragraph0", "3 table0",
	}, shown)
	require.Equal(t, "Chapter C of the report", list[3].Text)
	require.Equal(t, [][]string{
		{"cell 1.0.0", "cell 1.0.1", "cell 1.0.2"}, {"cell 1.1.0", "cell 1.1.1", "cell 1.1.2"}, {
			"cell 1.2.0",
			"cell 1.2.1", "cell 1.2.2",
		},
	}, list[2].Rows)
	text := list[1].Text
	require.Less(t, strings.Index(text, "left 1 19"), strings.Index(text, "right 1 0"))
	box := list[2].Positions[0]
	require.InDelta(t, 50, box.Left, 1)
	require.InDelta(t, 350, box.Right, 1)
	require.InDelta(t, 400, box.Top, 1)
	require.InDelta(t, 460, box.Bottom, 1)
	require.NotContains(t, block.Plain(list), "Annual")
}

func TestBlocksOfTheSamplePDF(t *testing.T) {
	data, err := os.ReadFile("testdata/returns.pdf")
	require.NoError(t, err)
	list := blocksOf(t, "returns.pdf", data)
	require.NotEmpty(t, list)
	text, err := newReader(t, Limits{}).Text(t.Context(), "returns.pdf", "", data)
	require.NoError(t, err)
	letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
	require.Equal(t, len(letters(text)), len(letters(block.Plain(list))), "%s\n---\n%s", text, block.Markdown(list))
}

// A page of a million characters, of rules or of nested forms ends at a limit or is read.
func TestBlocksOfHostilePDF(t *testing.T) {
	for name, content := range map[string]string{
		"characters": strings.Repeat("BT /F1 1 Tf 50 700 Td ("+strings.Repeat("x", 10_000)+") Tj ET\n", 15),
		"rules":      strings.Repeat(pdftest.Line(0, 0, 100, 0)+pdftest.Line(0, 0, 0, 100), 20_000),
		"scattered":  scattered(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newReader(t, Limits{Time: patient}).Blocks(t.Context(), Bytes("a.pdf", "",
				pdftest.Pages(content)))
			if err != nil {
				require.True(t, isLimit(err, LimitBlock) || isLimit(err, LimitMemory) || isLimit(err, LimitBlocks) ||
					err == ErrNoText, "%v", err)
			}
		})
	}
}

// No blank is lost at the end of a line, and a hyphen that is part of a word stays.
func TestLineEndsOfPDF(t *testing.T) {
	const hyphen = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica " +
		"/Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [35 /hyphentwo] >> " +
		"/ToUnicode 7 0 R >>"
	const unicodes = "/CIDInit /ProcSet findresource begin begincmap " +
		"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <23> <2010> endbfchar endcmap end"
	for want, lines := range map[string][2]string{
		"the tables of two- and three-line forms in it": {"the tables of two-", "and three-line forms in it"},
		"some example of it that is long enough":        {"some exam#", "ple of it that is long enough"},
		"what was in the years 2020-2024 is enough":     {"what was in the years 2020-", "2024 is enough"},
		"a state-of-the-art machine that is long":       {"a state-of-", "the-art machine that is long"},
		"the machines of type X-12 that are long":       {"the machines of type X-", "12 that are long"},
		"an ordinary line and another one behind it":    {"an ordinary line", "and another one behind it"},
		"a well-known method that is long enough":       {"a well-", "known method that is long enough"},
		"a long-term goal and its long-term end here":   {"a long-term goal and its long-", "term end here"},
	} {
		content := fmt.Sprintf("BT /F2 12 Tf 14 TL 50 700 Td (%s) Tj T* (%s) Tj ET", lines[0], lines[1])
		file := pdftest.OnePage(pdftest.Stream("", content), "", hyphen, pdftest.Stream("", unicodes))
		file.Objects[2] = strings.Replace(file.Objects[2], "/F1 5 0 R", "/F1 5 0 R /F2 6 0 R", 1)
		list := blocksOf(t, "a.pdf", file.Bytes())
		require.Len(t, list, 1, want)
		require.Equal(t, want, list[0].Text)
	}
}

// scattered returns a page of words at many places.
func scattered() string {
	var b strings.Builder
	for i := range 5_000 {
		b.WriteString(pdftest.Text("F1", 4, float64(i*7919%590), float64(i*104729%840), "w"))
	}
	return b.String()
}

// BenchmarkBlocksOfPDF reads 500 pages.
func BenchmarkBlocksOfPDF(b *testing.B) {
	var pages []string
	for n := range 500 {
		pages = append(pages, report(n)+report(n))
	}
	data := pdftest.Pages(pages...)
	r := newReader(b, Limits{Time: 10 * time.Minute})
	used := servertest.ProcessorTime()
	for b.Loop() {
		if _, err := r.Blocks(b.Context(), Bytes("a.pdf", "", data)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((servertest.ProcessorTime()-used).Seconds()/float64(b.N), "cpu-s/op")
}
