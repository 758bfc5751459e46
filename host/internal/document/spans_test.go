package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// torque is a table with cells over two rows and two columns, as each format stores it.
var (
	torqueRows  = [][]string{{"Model", "Torque", "Torque"}, {"Model", "min", "max"}, {"A", "1", "2"}}
	torqueSpans = []block.Span{{Rows: 2, Columns: 1}, {Column: 1, Rows: 1, Columns: 2}}
)

const torqueHTML = "<table><tr><th rowspan=2>Model<th colspan=2>Torque<tr><th>min<th>max<tr><td>A<td>1<td>2</table>"

func wordCell(properties, text string) string {
	return "<w:tc><w:tcPr>" + properties + "</w:tcPr><w:p><w:r><w:t>" + text + "</w:t></w:r></w:p></w:tc>"
}

func slideCell(attributes, text string) string {
	return "<a:tc " + attributes + "><a:txBody><a:p><a:r><a:t>" + text + "</a:t></a:r></a:p></a:txBody></a:tc>"
}

// A cell that reaches over others stands in each of their columns and rows, in every format.
func TestMergedCells(t *testing.T) {
	word := "<w:tbl><w:tr>" + wordCell(`<w:vMerge w:val="restart"/>`, "Model") +
		wordCell(`<w:gridSpan w:val="2"/>`, "Torque") + "</w:tr><w:tr>" + wordCell("<w:vMerge/>", "") +
		wordCell("", "min") + wordCell("", "max") + "</w:tr><w:tr>" + wordCell("", "A") + wordCell("", "1") +
		wordCell("", "2") + "</w:tr></w:tbl>"
	slide := "<a:tbl><a:tr>" + slideCell(`rowSpan="2"`, "Model") + slideCell(`gridSpan="2"`, "Torque") +
		slideCell(`hMerge="1"`, "") + "</a:tr><a:tr>" + slideCell(`vMerge="1"`, "") + slideCell("", "min") +
		slideCell("", "max") + "</a:tr><a:tr>" + slideCell("", "A") + slideCell("", "1") + slideCell("", "2") +
		"</a:tr></a:tbl>"
	text := func(s string) string { return "<c t='inlineStr'><is><t>" + s + "</t></is></c>" }
	sheet := "<row>" + text("Model") + text("Torque") + "<c/></row><row><c/>" + text("min") + text("max") +
		"</row><row>" + text("A") + "<c><v>1</v></c><c><v>2</v></c></row></sheetData><mergeCells count='2'>" +
		"<mergeCell ref='A1:A2'/><mergeCell ref=\"B1:C1\"/></mergeCells><sheetData>"
	mail := "Content-Type: text/html\r\n\r\n" + torqueHTML
	for name, data := range map[string][]byte{
		"a.html": []byte(torqueHTML), "a.docx": docx(t, word), "a.pptx": pptx(t, slide), "a.xlsx": xlsx(t, sheet),
		"a.eml": []byte(mail),
		"a.epub": epub(t, `<item id="a" href="a.xhtml" media-type="text/html"/>`, `<itemref idref="a"/>`,
			"OEBPS/a.xhtml", torqueHTML),
	} {
		t.Run(name, func(t *testing.T) {
			list := blocksOf(t, name, data)
			table := list[len(list)-1]
			require.Equal(t, torqueRows, table.Rows)
			require.Equal(t, torqueSpans, table.Spans)
			require.Equal(t, 2, table.Header)
			text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), name, "", data)
			require.NoError(t, err)
			require.Equal(t, block.Markdown(list), text)
			require.True(t, strings.HasSuffix(text, "| Model | Torque | Torque |\n| Model | min | max |\n"+
				"| --- | --- | --- |\n| A | 1 | 2 |"), text)
		})
	}
}

// Tables of pages, with the rows that they have.
func TestSpansOfPages(t *testing.T) {
	for _, c := range []struct {
		name, page string
		rows       [][]string
		header     int
	}{
		{
			"a cell down to the end of its group",
			"<table><tbody><tr><td rowspan=0>a<td>1<tr><td>2<tbody><tr><td>b<td>3</table>",
			[][]string{{"a", "1"}, {"a", "2"}, {"b", "3"}},
			1,
		},
		{
			"a cell at the end of a short row", "<table><tr><td>a<td>b<td rowspan=2>c<tr><td>d</table>",
			[][]string{{"a", "b", "c"}, {"d", "", "c"}},
			1,
		},
		{
			"cells that overlap", "<table><tr><td>a<td rowspan=2>b<tr><td colspan=3>c<td>d</table>",
			[][]string{{"a", "b"}, {"c", "b", "d"}},
			1,
		},
		{
			"a lone cell wider than its table", "<table><tr><td colspan=100%>T<tr><td>a<td>b</table>",
			[][]string{{"T", "T"}, {"a", "b"}},
			1,
		},
		{
			"rows with end tags",
			"<table><tr><td rowspan=2>a</td><td>1</td></tr>\n<tr>\n<td>2</td></tr><tr><td>b</td><td>3</td></tr>" +
				"</table>",
			[][]string{{"a", "1"}, {"a", "2"}, {"b", "3"}},
			1,
		},
		{"a lone cell", "<table><tr><td colspan=7>T</table>", [][]string{{"T"}}, 1},
		{
			"rows of a head", "<table><thead><tr><td>a<tr><td>b</thead><tr><td>c</table>",
			[][]string{{"a"}, {"b"}, {"c"}},
			2,
		},
		{
			"leading rows of head cells", "<table><tr><th>a<th>b<tr><th>c<th>d<tr><th>e<td>f</table>",
			[][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}},
			2,
		},
		{
			"a row whose cells are all covered", "<table><tr><td rowspan=3>a<td rowspan=2>b<tr></tr><tr><td>c</table>",
			[][]string{{"a", "b"}, {"a", "c"}},
			1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := blocksOf(t, "a.html", []byte(c.page))
			require.Len(t, list, 1)
			require.Equal(t, c.rows, list[0].Rows)
			require.Equal(t, c.header, list[0].Header)
			require.NotEmpty(t, list[0].HTML())
		})
	}
}

// Cells that claim to reach over many others stop at the limits.
func TestHostileSpans(t *testing.T) {
	limits := Limits{Text: 1 << 20, Work: 8 << 20, Time: patient}
	wide := "<tr>" + strings.Repeat("<td colspan=99999 rowspan=99999>x", 200)
	cells := "<row><c r='A1'><v>1</v></c></row>" + strings.Repeat("<row><c r='B1'><v>1</v></c></row>", 10_000)
	for name, data := range map[string][]byte{
		"a.html": []byte("<table>" + strings.Repeat(wide, 1000)),
		"a.docx": docx(t, "<w:tbl>"+strings.Repeat("<w:tr><w:gridBefore w:val='9999999'/>"+
			wordCell(`<w:gridSpan w:val="999999999"/><w:vMerge/>`, "x")+"</w:tr>", 5000)+"</w:tbl>"),
		"a.xlsx": xlsx(t, cells+"</sheetData>"+strings.Repeat("<mergeCell ref='A1:XFD1048576'/>", 2000)+"<sheetData>"),
	} {
		_, err := bounded(t, func() (string, error) { return newReader(t, limits).Text(t.Context(), name, "", data) })
		require.ErrorIs(t, err, ErrLimit, name)
		_, err = (&Reader{Limits: limits}).Blocks(t.Context(), Bytes(name, "", data))
		require.ErrorIs(t, err, ErrLimit, name)
	}
}

func TestNumberedListsOfPages(t *testing.T) {
	for page, want := range map[string]string{
		"<ol start=3><li>a<li>b<li value=7>c<li>d</ol>":      "3. a\n4. b\n7. c\n8. d",
		"<ol type=a><li>a<li>b</ol>":                         "- a. a\n- b. b",
		"<ol type=I start=4><li>a<ol type=i><li>b</ol></ol>": "- IV. a\n  - i. b",
		"<ol reversed start=3><li>a<li>b</ol>":               "3. a\n2. b",
		"<ol reversed><li>a<li>b</ol>":                       "- a\n- b",
		"<ol start=-1><li>a<li>b</ol>":                       "- -1. a\n0. b",
		"<ol start=x><li>a</ol>":                             "1. a",
	} {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.html", "", []byte(page))
		require.NoError(t, err)
		require.Equal(t, want, text, page)
	}
}

func TestLinksOfPages(t *testing.T) {
	for page, want := range map[string]string{
		`see <a href="https://a.b/c">the <b>shop</b></a>, now`: "see [the " +
			"shop](https://a.b/c), now",
		`<a href="x.html"> x </a>y`: "[x](x.html) y",
		`<a href="#top">top</a> <a href="javascript:f()">go</a> <a name=x>here</a>`: "top go here",
		`<a href="https://a.b/">https://a.b</a> <a href="mailto:a@b.c">a@b.c</a>`:   "https://a.b a@b.c",
		`<a href="https://a.b"><h2>T</h2><p>more</p></a>after`: "## " +
			"[T](https://a.b)\n\n[more](https://a.b)\n\nafter",
		`<a href="a.html">never closed <a href="b.html">b</a>`: "[never closed](a.html) " +
			"[b](b.html)",
	} {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.html", "", []byte(page))
		require.NoError(t, err)
		require.Equal(t, want, text, page)
	}
	list := blocksOf(t, "a.html", []byte(`<pre><code class="x language-go">a</code></pre><pre>b</pre>`))
	require.Equal(t, []block.Block{
		{Kind: block.Code, Language: "go", Text: "a"}, {Kind: block.Code, Text: "b"},
	}, list)
}
