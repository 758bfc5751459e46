package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// wordFile returns a Word document with styles, numbering and notes.
func wordFile(t testing.TB, body, styles, numbering, notes string) []byte {
	return archive(t,
		"word/document.xml", `<w:document xmlns:r="r"><w:body>`+body+`</w:body></w:document>`,
		"word/_rels/document.xml.rels", `<R><Relationship Id="s" Type="x/styles" Target="styles.xml"/>`+
			`<Relationship Id="n" Type="x/numbering" Target="numbering.xml"/>`+
			`<Relationship Id="f" Type="x/footnotes" Target="footnotes.xml"/>`+
			`<Relationship Id="c" Type="x/chart" Target="charts/chart1.xml"/>`+
			`<Relationship Id="l" Type="x/hyperlink" TargetMode="External" Target="https://a.b/c"/></R>`,
		"word/styles.xml", `<w:styles>`+styles+`</w:styles>`,
		"word/numbering.xml", `<w:numbering>`+numbering+`</w:numbering>`,
		"word/footnotes.xml", `<w:footnotes>`+notes+`</w:footnotes>`,
		"word/charts/chart1.xml", chartPart)
}

const chartPart = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich>` +
	`</c:tx>` +
	`</c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>S!B1</c:f><c:strCache><c:pt idx="0"><c:v>` +
	`North</c:v>` +
	`</c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>Q1</c:v></c:pt>` +
	`<c:pt idx="1"><c:v>Q2</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>` +
	`<c:pt idx="1"><c:v>7.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser><c:ser><c:tx><c:v>South</c:v></c:tx>` +
	`<c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>3</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>` +
	`</c:barChart><c:catAx><c:title><c:tx><a:t>Quarter</a:t></c:tx></c:title></c:catAx></c:plotArea></c:chart>` +
	`</c:chartSpace>`

func wordLevel(at, start, format, text, more string) string {
	return `<w:lvl w:ilvl="` + at + `"><w:start w:val="` + start + `"/><w:numFmt w:val="` + format + `"/>` +
		`<w:lvlText w:val="` +
		text + `"/>` + more + `</w:lvl>`
}

func wordItem(num, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + num + `"/></w:numPr></w:pPr>` +
		`<w:r><w:t>` +
		text + `</w:t></w:r></w:p>`
}

func TestWordNumbering(t *testing.T) {
	clauses := `<w:abstractNum w:abstractNumId="0">` + wordLevel("0", "1", "decimal", "%1.", "") +
		wordLevel("1", "1", "decimal", "%1.%2", "") + wordLevel("2", "1", "lowerLetter", "(%3)", "") +
		`</w:abstractNum><w:abstractNum w:abstractNumId="1">` + wordLevel("0", "1", "upperRoman", "Article %1", "") +
		wordLevel("1", "1", "decimal", "§ %1.%2", `<w:isLgl/><w:lvlRestart w:val="0"/>`) +
		`</w:abstractNum><w:abstractNum w:abstractNumId="2">` + wordLevel("0", "1", "bullet", "\uF0B7", "") +
		wordLevel("1", "1", "chineseCounting", "第%2章", "") + `</w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>` +
		`<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>` +
		`</w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>` +
		`<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>`
	for _, c := range []struct{ name, body, want string }{
		{
			"levels and restarts",
			wordItem("1", "0", "a") + wordItem("1", "1", "b") + wordItem("1", "1", "c") + wordItem("1", "2", "d") +
				wordItem("1", "0", "e") + wordItem("1", "1", "f"),
			"1. a\n  - 1.1 b\n  - 1.2 c\n    - (a) d\n2. e\n  - 2.1 f",
		},
		{
			"a list that sets its own s" +
				"tart", wordItem("1", "0", "a") + wordItem("2", "0", "b") + wordItem("2", "0", "c"),
			"1. a\n5. b\n6. c",
		},
		{
			"a list that continues after text", wordItem("1", "0", "a") + "<w:p><w:t>x</w:t></w:p>" +
				wordItem("1", "0", "b"),
			"1. a\n\nx\n\n2. b",
		},
		{
			"decimal numbers below Roman ones, which do not restart",
			wordItem("3", "0", "a") + wordItem("3", "1", "b") + wordItem("3", "0", "c") + wordItem("3", "1", "d"),
			"- Article I a\n  - § 1.1 b\n- Article II c\n  - § 2.2 d",
		},
		{"bullets and Chinese numbers", wordItem("4", "0", "a") + wordItem("4", "1", "b"), "- a\n  - 第一章 b"},
		{"a level above without an item", wordItem("1", "1", "a"), "  - 1.1 a"},
		{"an unknown list", wordItem("9", "0", "a"), "- a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := wordFile(t, c.body, "", clauses, "")
			text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", data)
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

// Headings have the numbers that their styles give them.
func TestWordHeadingNumbers(t *testing.T) {
	styles := `<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr>` +
		`</w:pPr>` +
		`</w:style><w:style w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/><w:pPr><w:numPr>` +
		`<w:ilvl w:val="1"/></w:numPr></w:pPr></w:style><w:style w:styleId="H3"><w:name w:val="heading 3"/>` +
		`<w:basedOn w:val="H1"/></w:style>`
	numbering := `<w:abstractNum w:abstractNumId="0">` + wordLevel("0", "1", "decimal", "%1", "") +
		wordLevel("1", "1", "decimal", "%1.%2", "") + wordLevel("2", "1", "decimal", "%1.%2.%3", `<w:pStyle `+
		`w:val="H3"/>`) +
		`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`
	heading := func(style, text, more string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/>` + more + `</w:pPr><w:r><w:t>` + text + `</w:t>` +
			`</w:r></w:p>`
	}
	body := heading("H1", "One", "") + heading("H2", "Two", "") + heading("H3", "Three", "") +
		heading("H1", "Preface", `<w:numPr><w:numId w:val="0"/></w:numPr>`) + heading("H1", "Four", "")
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", wordFile(t, body, styles, numbering, ""))
	require.NoError(t, err)
	require.Equal(t, "# 1 One\n\n## 1.1 Two\n\n### 1.1.1 Three\n\n# Preface\n\n# 2 Four", text)
}

func TestWordTexts(t *testing.T) {
	notes := `<w:footnote w:id="0" w:type="separator"><w:p><w:t>-</w:t></w:p></w:footnote>` +
		`<w:footnote w:id="1"><w:p><w:t>a pair</w:t></w:p><w:p><w:t>is two</w:t></w:p></w:footnote>`
	note := `<w:r><w:footnoteReference w:id="1"/></w:r>`
	code := `<w:style w:styleId="C"><w:name w:val="Source Code"/></w:style>`
	run := func(s string) string { return `<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>` }
	field := func(instruction, result string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>` + instruction + `</w:instrText>` +
			`</w:r>` +
			`<w:r><w:fldChar w:fldCharType="separate"/></w:r>` + run(result) + `<w:r><w:fldChar ` +
			`w:fldCharType="end"/></w:r>`
	}
	for _, c := range []struct{ name, body, want string }{
		{
			"a note follows its paragraph", "<w:p>" + run("shoes") + note + "</w:p><w:p>" + run("next") + "</w:p>",
			"shoes[^f1]\n[^f1]: a pair is two\n\nnext",
		},
		{
			"a note in a cell", "<w:tbl><w:tr><w:tc><w:p>" + run("shoes") + note + "</w:p></w:tc></w:tr></w:tbl>",
			"| shoes[^f1] [^f1]: a pair is two |\n| --- |",
		},
		{
			"a note of a heading", `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr>` + run("H") + note + "</w:p>",
			"# H[^f1]\n\n[^f1]: a pair is two",
		},
		{
			"a link", `<w:p>` + run("see ") + `<w:hyperlink r:id="l">` + run("the ") + run("shop") + `</w` +
				`:hyperlink></w:p>`,
			"see [the shop](https://a.b/c)",
		},
		{"a link to a bookmark", `<w:p><w:hyperlink w:anchor="x">` + run("there") + `</w:hyperlink></w:p>`, "there"},
		{"a field with a link", `<w:p>` + field(`HYPERLINK "https://x.y" \o `+
			`"tip"`, "here") + `</w:p>`, "[here](https://x.y)"},
		{"another field", `<w:p>` + field(`PAGE`, "7") + `</w:p>`, "7"},
		{
			"lines of code",
			`<w:p><w:pPr><w:pStyle w:val="C"/></w:pPr>` + run("if x:") + `</w:p><w:p><w:pPr><w:pStyle w:val="C"/>` +
				`</w:pPr>` +
				run("  y") + `</w:p><w:p>` + run("after") + `</w:p>`,
			"```\nif x:\n  y\n```\n\nafter",
		},
		{
			"the data of a chart", `<w:p><w:r><w:drawing><c:chart r:id="c"/></w:drawing></w:r></w:p>`,
			"Chart: Sales\n\n|  | North | South |\n| --- | --- | --- |\n| Q1 |  | 3 |\n| Q2 | 7.5 |  |",
		},
		{
			"a list property before a change", `<w:p><w:pPr><w:pPrChange><w:pPr><w:numPr><w:numId w:val="1"/>` +
				`</w:numPr>` +
				`</w:pPr></w:pPrChange></w:pPr>` + run("plain") + `</w:p>`, "plain",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := blocksOf(t, "a.docx", wordFile(t, c.body, code, "", notes))
			require.Equal(t, c.want, block.Markdown(list))
		})
	}
}

func TestSlideTexts(t *testing.T) {
	item := func(level, auto, text string) string {
		return `<a:p><a:pPr lvl="` + level + `">` + auto + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r></a:p>`
	}
	const number, letter = `<a:buAutoNum type="arabicPeriod" startAt="3"/>`, `<a:buAutoNum type="alphaLcParenR"/>`
	data := pptx(t, `<p:sp><p:txBody>`+item("0", number, "a")+item("1", letter, "b")+item("1", letter, "c")+
		item("0", number, "d")+item("1", letter, "e")+`</p:txBody></p:sp>`)
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", data)
	require.NoError(t, err)
	require.Equal(t, "# Slide 1\n\n3. a\n  - a) b\n  - b) c\n4. d\n  - a) e", text)

	data = archive(t,
		"ppt/presentation.xml", `<p xmlns:r="r"><p:sldId id="256" r:id="a"/></p>`,
		"ppt/_rels/presentation.xml.rels", `<R><Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/></R>`,
		"ppt/slides/slide1.xml", `<p:sld xmlns:r="r"><p:graphicFrame><c:chart r:id="c"/></p:graphicFrame><p:sp>`+
			`<a:p><a:r>`+
			`<a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>shop</a:t></a:r><a:r><a:t> x</a:t></a:r></a:p></p:sp></p:sld>`,
		"ppt/slides/_rels/slide1.xml.rels", `<R><Relationship Id="c" Type="x/chart" Target="../charts/chart1.xml"/>`+
			`<Relationship Id="l" Type="x/hyperlink" TargetMode="External" Target="https://a.b/c"/></R>`,
		"ppt/charts/chart1.xml", chartPart)
	text, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", data)
	require.NoError(t, err)
	require.Equal(t, "# Slide 1\n\nChart: Sales\n\n|  | North | South |\n| --- | --- | --- |\n| Q1 |  | 3 |\n"+
		"| Q2 | 7.5 |  |\n\n[shop](https://a.b/c) x", text)
}

func TestChartOfSheet(t *testing.T) {
	data := xlsx(t, "<row><c><v>1</v></c></row>",
		"xl/worksheets/_rels/sheet1.xml.rels", `<R><Relationship Id="d" Type="x/drawing" `+
			`Target="../drawings/d.xml"/></R>`,
		"xl/drawings/_rels/d.xml.rels", `<R><Relationship Id="c" Type="x/chart" Target="../charts/c.xml"/></R>`,
		"xl/charts/c.xml", chartPart)
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", data)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, "## S\n\n| 1 |\n| --- |\n\nChart: Sales\n\n|  | North | South |"), text)
	hostile := xlsx(t, "", "xl/worksheets/_rels/sheet1.xml.rels",
		`<R><Relationship Id="d" Type="x/drawing" Target="../drawings/d.xml"/></R>`, "xl/drawings/_rels/d.xml.rels",
		`<R><Relationship Id="c" Type="x/chart" Target="../charts/c.xml"/></R>`, "xl/charts/c.xml", "<c:chart>"+
			strings.Repeat("<c:ser>", 300)+strings.Repeat("</c:ser>", 300)+"</c:chart>")
	_, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", hostile)
	require.ErrorIs(t, err, ErrLimit)
}

func TestNumberNames(t *testing.T) {
	for format, want := range map[string][]string{
		"decimal": {"0", "4", "27"}, "lowerLetter": {"0", "d", "aa"}, "upperRoman": {"0", "IV", "XXVII"},
		"decimalZero": {"00", "04", "27"}, "ordinal": {"0th", "4th", "27th"}, "bullet": {"", "", ""},
		"chineseCounting": {"0", "四", "二十七"}, "decimalEnclosedCircle": {"0", "④", "27"},
		"ideographTraditional": {"0", "丁", "27"}, "unknown": {"0", "4", "27"},
	} {
		for i, n := range []int{0, 4, 27} {
			require.Equal(t, want[i], numbered(format, n), format)
		}
	}
}
