package document

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// cacheDir is shared by the readers of all tests, so that pdfium is compiled once.
var cacheDir string

func TestMain(m *testing.M) {
	if list := os.Getenv(measureVariable); list != "" {
		paths := strings.Split(list, "\n")
		if err := measure(paths[0], paths[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "easel-document-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cacheDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func newReader(t testing.TB, limits Limits) *Reader {
	r := &Reader{CacheDir: cacheDir, Limits: limits}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// The files were written by other programs, see testdata/README.md.
func TestFilesOfOtherPrograms(t *testing.T) {
	r := newReader(t, Limits{})
	for _, c := range []struct{ file, want string }{
		{"returns.docx", `# Returns

You can return shoes[^f1] within thirty days. 三十天内可以退货。
[^f1]: A pair is two shoes.

## How

- Pack them
  - in their box
1. Send them

left	right
next line

added

| Item | Days |
| --- | --- |
| Shoes | 30 |
| Gift \| card | never expires |

[the shop](https://example.com)`},
		{"returns.pptx", `# Slide 1

## Returns 退货

- Shoes: thirty days
  - Cards: never

Notes: Say that returns are free.

# Slide 2

| Item | Days |
| --- | --- |
| Shoes | 30 |`},
		{"orders.xlsx", `## Orders

| Item | Price | Share | Day | At | Paid | Sum |
| --- | --- | --- | --- | --- | --- | --- |
| Shoes 鞋 | 0.3 | 25.6% | 2026-02-28 | 2026-02-28 13:05:09 | TRUE | 0.6 |
| Gift card |  | =A1 |  |  |  | a b \| c |

## Empty

## Far

|  |  | 7 |
| --- | --- | --- |`},
		{"returns.pdf", `Returns
You can return shoes within
thirty days, whatever the
circumstancesand understanding of extraordinary circumstances. Größe, naïve,
Ωμέγα, Привет.
Item Days
Shoes 30
Cards never
Left column text here that is long enough
to fill it up. Right column text that comes
after.

Second page.`},
	} {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", c.file))
			require.NoError(t, err)
			for _, name := range []string{c.file, "no extension", "lie.txt"} {
				text, err := r.Text(t.Context(), name, "", data)
				require.NoError(t, err)
				require.Equal(t, c.want, text)
			}
		})
	}
}

func TestExcelizeWorkbook(t *testing.T) {
	f := excelize.NewFile()
	set := func(cell string, v any) { require.NoError(t, f.SetCellValue("Sheet1", cell, v)) }
	style := func(cell, code string) {
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		require.NoError(t, err)
		require.NoError(t, f.SetCellStyle("Sheet1", cell, cell, id))
	}
	set("A1", "name")
	set("B1", -12345678.5)
	set("C1", 60)
	style("C1", `"d: "yyyy"年"m"月"d"日"`)
	set("D1", 1.5)
	style("D1", `[h]:mm:ss`)
	set("E1", 0.75)
	style("E1", `hh:mm AM/PM`)
	set("F1", 3)
	style("F1", `0.00 "days"`)
	set("G1", 61)
	style("G1", `[$-409]mmm\-yy;@`)
	require.NoError(t, f.SetCellRichText("Sheet1", "A2",
		[]excelize.RichTextRun{{Text: "ri"}, {Text: "ch", Font: &excelize.Font{Bold: true}}}))
	b, err := f.WriteToBuffer()
	require.NoError(t, err)

	text, err := newReader(t, Limits{}).Text(t.Context(), "", "", b.Bytes())
	require.NoError(t, err)
	require.Equal(t, "## Sheet1\n\n| name | -12345678.5 | 1900-02-28 | 36:00:00 | 18:00:00 | 3 | 1900-03-01 |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n| rich |", text)
}

func encoded(t *testing.T, enc interface{ Bytes([]byte) ([]byte, error) }, text string) string {
	t.Helper()
	b, err := enc.Bytes([]byte(text))
	require.NoError(t, err)
	return string(b)
}

func TestTexts(t *testing.T) {
	chinese := "退货政策：您可以在三十天内退还鞋子。"
	gbk := encoded(t, simplifiedchinese.GBK.NewEncoder(), chinese)
	for _, c := range []struct{ name, file, content, want string }{
		{"line endings of every platform", "a.txt", "one\r\ntwo\rthree\n", "one\ntwo\nthree\n"},
		{"the UTF-8 byte order mark is dropped", "a.md", "\uFEFF# hé", "# hé"},
		{"UTF-16 with a byte order mark", "a.txt", "\xff\xfeh\x00i\x00", "hi"},
		{"big-endian UTF-16 with a byte order mark", "a.txt", "\xfe\xff\x00h\x00i", "hi"},
		{"UTF-16 without a byte order mark", "a.csv", "a\x00,\x00b\x00\n\x00", "a,b\n"},
		{"big-endian UTF-16 without a byte order mark", "a.csv", "\x00a\x00,\x00b", "a,b"},
		{"GBK", "a.txt", gbk, chinese},
		{
			"GBK in a table", "a.csv", "sku,name\n1," + encoded(t, simplifiedchinese.GBK.NewEncoder(), "鞋子") + "\n",
			"sku,name\n1,鞋子\n",
		},
		{
			"GB18030 with four bytes", "a.txt", encoded(t, simplifiedchinese.GB18030.NewEncoder(), chinese+"😀"),
			chinese + "😀",
		},
		{"Latin-1", "a.txt", "caf\xe9 fran\xe7ais, f\xfcr Gr\xf6\xdfe", "café français, für Größe"},
		{"Windows-1252 quotes", "a.txt", "\x93so\x94 \x80 5", "“so” € 5"},
		{"truncated UTF-8", "a.txt", (chinese + "鞋")[:len(chinese)+1], chinese + "\uFFFD"},
		{"an empty file", "a.txt", "", ""},
		{"JSON is not changed", "a.json", `{"a": [1.0]}`, `{"a": [1.0]}`},
		{"text named .docx", "a.docx", "plain", "plain"},
		{"UTF-32 with a byte order mark", "a.txt", "\xff\xfe\x00\x00h\x00\x00\x00\xde\x97\x00\x00", "h韞"},
		{"big-endian UTF-32 with a byte order mark", "a.txt", "\x00\x00\xfe\xff\x00\x00\x00h\x00\x01\xf6\x00", "h😀"},
		{"UTF-32 without a byte order mark", "a.csv", "a\x00\x00\x00,\x00\x00\x00b\x00\x00\x00", "a,b"},
		{"big-endian UTF-32 without a byte order mark", "a.csv", "\x00\x00\x00a\x00\x00\x00,", "a,"},
		{"one control character", "a.txt", "shoes\x01 30", "shoes 30"},
		{"the end-of-file mark of DOS", "a.txt", "a\r\nb\x1a", "a\nb"},
		{"few control characters", "a.json", `{"a": "` + strings.Repeat("x", 300) + "\x00\x02\"}", `{"a": "` +
			strings.Repeat("x", 300) + `"}`},
		{
			"control characters of a page", "a.html", "<p>on\x01e" + strings.Repeat("<p>two", 200) + "\x02",
			"one" + strings.Repeat("\n\ntwo", 200),
		},
		{"a control character in UTF-16", "a.txt", "\xff\xfeh\x00\x01\x00i\x00", "hi"},
		{"terminal escapes", "a.log", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
		{"an HTML page", "a.html", "<p>one<p>two", "one\n\ntwo"},
		{"an HTML page detected from its content", "page", "\n<!DOCTYPE html><title>T</title><p>one", "T\n\none"},
		{"an HTML page that declares its encoding", "a.html", "<meta charset=gb2312><p>" + gbk, chinese},
		{
			"an HTML page in Shift-JIS", "a.html",
			`<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>` +
				encoded(t, japanese.ShiftJIS.NewEncoder(), "返品は無料です"), "返品は無料です",
		},
		{"an HTML page that declares a wrong encoding", "a.html", "<meta charset=gbk><p>für 鞋", "für 鞋"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := newReader(t, Limits{}).Text(t.Context(), c.file, "", []byte(c.content))
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{
			"headings and paragraphs", "<h1>Big</h1><p>Body  of\n it</p><h3>Small <b>one</b></h3>",
			"# Big\n\nBody of it\n\n### Small one",
		},
		{
			"scripts and styles are skipped",
			"<style>x{}</style><SCRIPT>if (a < b) {}</Script >a<noscript>n</noscript>",
			"a",
		},
		{"an unclosed head", "<head><title>T</title><style>s</style><body>text", "T\n\ntext"},
		{"entities are decoded once", "&lt;b&gt; &amp;lt; &#65; &eacute; &nope; &", "<b> &lt; A é &nope; &"},
		{"lists", "<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></ul><p>after", "- a\n- b\n  1. c\n  2. d\n\nafter"},
		{"an item with a paragraph", "<ul><li><p>a</p></li><li></li></ul><p>b", "- a\n\nb"},
		{
			"tables with and without end tags", "<table><caption>C</caption><tr><th>A<th>B<tr><td>1|2<td></table><p>x",
			"C\n\n| A | B |\n| --- | --- |\n| 1\\|2 |  |\n\nx",
		},
		{
			"a nested table",
			"<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr></table>",
			"| a b c | d |\n| --- | --- |",
		},
		{"breaks and preformatted text", "a<br>b<pre>\n x\n  y</pre>", "a\nb\n\n x\n  y"},
		{"end tags without start tags", "</table></ul></pre></td>a</p></tr>b", "a\n\nb"},
		{"a < that starts no tag is text", "1 < 2 <3", "1 < 2 <3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := newReader(t, Limits{}).Text(t.Context(), "x.html", "", []byte(c.page))
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

func TestWord(t *testing.T) {
	p := func(inside string) string { return "<w:p>" + inside + "</w:p>" }
	r := func(text string) string { return "<w:r><w:t>" + text + "</w:t></w:r>" }
	for _, c := range []struct{ name, body, want string }{
		{"runs are joined", p(r("a ") + r("b")), "a b"},
		{"an outline level is a heading", p("<w:pPr><w:outlineLvl w:val='1'/></w:pPr>" + r("H")), "## H"},
		{"list number 0 is not a list", p("<w:pPr><w:numPr><w:ilvl w:val='2'/><w:numId w:val='0'/></w:numPr></w:pPr>" +
			r("a")), "a"},
		{"field codes are skipped", p("<w:r><w:instrText>PAGE</w:instrText></w:r>" + r("7")), "7"},
		{"one of two alternatives", p("<mc:AlternateContent><mc:Choice>" + r("new") + "</mc:Choice><mc:Fallback>" +
			r("old") + "</mc:Fallback></mc:AlternateContent>"), "new"},
		{
			"a text box", p(r("out ") + "<w:r><w:txbxContent>" + p(r("in")) + "</w:txbxContent></w:r>" + r("side")),
			"in\n\nout side",
		},
		{"moved text is at its new position", p("<w:moveFrom>" + r("a") + "</w:moveFrom><w:moveTo>" + r("a") +
			"</w:moveTo>"), "a"},
		{"a deleted paragraph mark", p("<w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr>" + r("a")), "a"},
		{
			"hidden text is skipped",
			p("<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r><w:r><w:rPr><w:vanish " +
				"w:val='0'/></w:rPr><w:t>yes</w:t></w:r>"), "yes",
		},
		{"a tab stop is not a tab character", p("<w:pPr><w:tabs><w:tab w:val='left' w:pos='9'/></w:tabs></w:pPr>" +
			r("a") + "<w:r><w:tab/></w:r>" + r("b")), "a\tb"},
		{"a table in a cell", "<w:tbl><w:tr><w:tc>" + p(r("a")) + "<w:tbl><w:tr><w:tc>" + p(r("b")) +
			"</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>", "| a b |\n| --- |"},
		{"an empty paragraph", p(""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := newReader(t, Limits{}).Text(t.Context(), "x.docx", "", docx(t, c.body))
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

func TestWordStyles(t *testing.T) {
	data := archive(t,
		"word/document.xml",
		`<w:document><w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>H</w:t></w:r></w:p>`+
			`<w:p><w:pPr><w:pStyle w:val="Mine"/></w:pPr><w:r><w:t>M</w:t></w:r></w:p><w:p><w:pPr><w:pStyle `+
			`w:val="Loop"/></w:pPr><w:r><w:t>L</w:t></w:r></w:p></w:document>`,
		"word/_rels/document.xml.rels",
		`<Relationships><Relationship Id="s" Type="x/styles" Target="styles.xml"/></Relationships>`,
		"word/styles.xml", `<w:styles><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>`+
			`<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>`+
			`<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style></w:styles>`)
	text, err := newReader(t, Limits{}).Text(t.Context(), "", "", data)
	require.NoError(t, err)
	require.Equal(t, "## H\n\n## M\n\nL", text)
}

func TestPartInUTF16(t *testing.T) {
	var part bytes.Buffer
	part.WriteString("\xff\xfe")
	for _, r := range `<?xml version="1.0" encoding="UTF-16"?><w:document><w:p><w:t>鞋</w:t></w:p></w:document>` {
		part.Write([]byte{byte(r), byte(r >> 8)})
	}
	text, err := newReader(t, Limits{}).Text(t.Context(), "", "", archive(t, "word/document.xml", part.String()))
	require.NoError(t, err)
	require.Equal(t, "鞋", text)
}

func TestSheets(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{
			"cells without references are consecutive", "<row><c><v>1</v></c><c><v>2</v></c></row>",
			"| 1 | 2 |\n| --- | --- |",
		},
		{"empty rows are omitted", "<row/><row><c r='B2'><v>1</v></c></row>", "|  | 1 |\n| --- | --- |"},
		{
			"errors and formulas without a result", "<row><c t='e'><v>#N/A</v></c><c><f>A1+1</f></c></row>",
			"| #N/A | =A1+1 |\n| --- | --- |",
		},
		{
			"an inline string without its phonetic guide",
			"<row><c t='inlineStr'><is><t>鞋</t><rPh><t>xie</t></rPh></is></c></row>", "| 鞋 |\n| --- |",
		},
		{
			"large and small numbers",
			"<row><c><v>12345678901234567890</v></c><c><v>1E-20</v></c><c><v>1e300</v></c><c><v>what</v></c></row>",
			"| 12345678901234600000 | 1e-20 | 1e+300 | what |\n| --- | --- | --- | --- |",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := newReader(t, Limits{}).Text(t.Context(), "x.xlsx", "", xlsx(t, c.rows))
			require.NoError(t, err)
			require.Equal(t, "## S\n\n"+c.want, text)
		})
	}
}

func TestNumberFormats(t *testing.T) {
	for _, c := range []struct {
		code string
		n    float64
		want string
	}{
		{"General", 0.1 + 0.2, "0.3"},
		{"#,##0.00", 1234.5, "1234.5"},
		{"0%", 0.5, "50%"},
		{"0.00%", 0.12345, "12.35%"},
		{"yyyy/m/d", 45000, "2023-03-15"},
		{"m/d/yy h:mm", 45000.25, "2023-03-15 06:00:00"},
		{"mmmm", 45000, "2023-03-15"},
		{"mm:ss", 0.0007, "00:01:00"},
		{"[mm]:ss", 1, "24:00:00"},
		{"h:mm:ss", 0.99999999, "00:00:00"},
		{`"Day" 0`, 7, "7"},
		{`0\d`, 7, "7"},
		{"[Red]0", 7, "7"},
		{"0;yyyy", 7, "7"},
		{"yyyy-mm-dd", 1, "1900-01-01"},
		{"yyyy-mm-dd", -1, "-1"},
		{"yyyy-mm-dd", 1e15, "1000000000000000"},
		{`"never closed`, 7, "7"},
		{"[never closed", 7, "7"},
	} {
		require.Equal(t, c.want, formatOf(c.code).show(c.n, false), c.code)
	}
	require.Equal(t, "1904-01-02", numberFormat{date: true}.show(1, true))
}

func TestPDF(t *testing.T) {
	chinese := onePage("BT /F2 12 Tf 50 700 Td <4E09534159295185> Tj ET", "",
		"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [7 0 R] >>",
		"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) "+
			"/Ordering (GB1) /Supplement 4 >> /FontDescriptor 8 0 R >>",
		"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 "+
			"/Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>")
	chinese.Objects[2] = strings.Replace(chinese.Objects[2], "/F1 5 0 R", "/F2 6 0 R", 1)
	before := append([]byte("mail header\r\n"), onePage("BT /F1 12 Tf 50 700 Td (Hi) Tj ET", "").Bytes()...)
	r := newReader(t, Limits{})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"Latin", onePage(`BT /F1 12 Tf 50 700 Td (Hello w\366rld) Tj ET`, "").Bytes(), "Hello wörld"},
		{"Chinese without an embedded font", chinese.Bytes(), "三十天内"},
		{
			"a hyphenated word", onePage("BT /F1 12 Tf 14 TL 50 700 Td (some exam-) Tj T* (ple of it) Tj ET",
				"").Bytes(),
			"some example of it",
		},
		{
			"a common part of two words",
			onePage("BT /F1 12 Tf 14 TL 50 700 Td (two-) Tj T* (and three-line forms) Tj ET", "").Bytes(),
			"two- and three-line forms",
		},
		{"lines", onePage("BT /F1 12 Tf 14 TL 50 700 Td (one) Tj T* (two) Tj ET", "").Bytes(), "one\ntwo"},
		{"leading garbage", before, "Hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := r.Text(t.Context(), "x.pdf", "application/pdf", c.data)
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}
