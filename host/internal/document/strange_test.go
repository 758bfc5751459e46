package document

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A definition of a row whose size is a lie is no row: it stopped the program.
func TestOldWordRowWithoutCells(t *testing.T) {
	for _, list := range []string{"\x08\xD6\x00", "\x08\xD6\x00\x00\x00", "\x08\xD6\x01\x00\x00"} {
		var p oldParagraph
		(&oldWord{}).apply(&p, []byte(list))
		require.Empty(t, p.edges)
	}
}

// Cells without text that reach over thousands of others stop at the limit of cells.
func TestEmptyWideCells(t *testing.T) {
	page := "<table>" + strings.Repeat("<tr><td colspan=1000 rowspan=1000><td colspan=1000><td>", 300)
	_, err := newReader(t, Limits{Cells: 100_000, Time: patient}).Text(t.Context(), "a.html", "", []byte(page))
	require.True(t, isLimit(err, LimitCells), "%v", err)
}

// Points of one place, and parts of a name, do not grow without bound.
func TestChartWithOnePlace(t *testing.T) {
	for _, of := range []string{"cat", "tx"} {
		c := &chart{
			office: &office{work: 1 << 30}, page: newPage(&Limits{}), series: make([]series, 1), path: []string{of},
		}
		for range 1000 {
			c.value.Reset()
			c.value.WriteString(strings.Repeat("x", 1000))
			require.NoError(t, c.endPoint())
		}
		s := c.series[0]
		for _, text := range append(s.categories, s.name) {
			require.LessOrEqual(t, len(text), maxTitle, of)
		}
	}
}

// The definition that a style uses is the first, however often a document declares it.
func TestNumberingOfStyle(t *testing.T) {
	const uses = 50
	var part strings.Builder
	for i := range uses {
		fmt.Fprintf(&part, `<w:abstractNum w:abstractNumId="%d"><w:styleLink w:val="s"/>%s</w:abstractNum>`,
			i, wordLevel("0", "1", "decimal", fmt.Sprintf("%d-%%1", i), ""))
	}
	body := `<w:numbering>` + part.String() + `<w:abstractNum w:abstractNumId="99"><w:numStyleLink w:val="s"/>` +
		`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="99"/></w:num></w:numbering>`
	data := archive(t, "word/document.xml",
		`<?xml version="1.0"?><w:document xmlns:w="w"><w:body>`+wordItem("1", "0", "x")+`</w:body></w:document>`,
		"word/numbering.xml", body, "word/_rels/document.xml.rels",
		`<Relationships><Relationship Id="a" Type="x/numbering" Target="numbering.xml"/></Relationships>`)
	for range 5 {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.docx", "", data)
		require.NoError(t, err)
		require.Equal(t, "- 0-1 x", text)
	}
}

// Documents that need more memory one after the other read the message again a few times, not once
// for each.
func TestMailIsReadAgainSeldom(t *testing.T) {
	var files []string
	for i := range 60 {
		files = append(files, "a.docx", string(docx(t, strings.Repeat("<w:p><w:t>x</w:t></w:p>", 500+50*i))))
	}
	source, opened := Bytes("a.eml", "", mailWith(files...)), 0
	open := source.Open
	source.Open = func(ctx context.Context) (io.ReadCloser, error) { opened++; return open(ctx) }
	text, err := newReader(t, Limits{Time: patient}).Read(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, 60, strings.Count(text, "Attachment: a.docx"))
	require.LessOrEqual(t, opened, 12)
}

// A merged cell without text is nothing to repeat in the rows below.
func TestMergedCellsWithoutText(t *testing.T) {
	m := mergedCells{list: []mergedRange{
		{top: 1, left: 0, bottom: 1000, right: 1}, {top: 1, left: 2, bottom: 9, right: 3},
	}}
	cells, merges := m.fill(1, []string{"", "", "x"})
	require.Equal(t, []string{"", "", "x", "x"}, cells)
	require.Len(t, merges, 1)
	require.Len(t, m.open, 1)
}
