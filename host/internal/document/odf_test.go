package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// odfParts returns the content of an OpenDocument file with styles and a body.
func odfParts(root, styles, body string) string {
	return `<?xml version="1.0"?><office:` + root + ` xmlns:office="urn:oa` +
		`sis:names:tc:opendocument:xmlns:office:1.0">` +
		`<office:automatic-styles>` + styles + `</office:automatic-styles><office:body>` + body + `</office:body>` +
		`</office:` +
		root + `>`
}

func odf(t testing.TB, styles, body string) []byte {
	return archive(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml",
		odfParts("document-content", styles, body))
}

const odfStylesOfTests = `<style:style style:name="P1" style:family="paragraph" ` +
	`style:parent-style-name="Preformatted_20_Text"/>` +
	`<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>` +
	`<style:style style:name="H" style:display-name="Heading 2" style:family="paragraph"/>` +
	`<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>` +
	`<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1"/>` +
	`<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>` +
	`<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" ` +
	`style:num-suffix="."/>` +
	`<text:list-level-style-number text:level="2" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>` +
	`<text:list-level-style-number text:level="3" style:num-format="1" style:num-list-format="%1%.%3%"/>` +
	`</text:list-style>` +
	`<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>`

func TestOpenDocumentTexts(t *testing.T) {
	item := func(inside string) string { return "<text:list-item>" + inside + "</text:list-item>" }
	p := func(inside string) string { return "<text:p>" + inside + "</text:p>" }
	list := func(attributes, inside string) string {
		return "<text:list " + attributes + ">" + inside + "</text:list>"
	}
	for _, c := range []struct{ name, body, want string }{
		{"blanks", p("a  b\n<text:s text:c='2'/>c<text:tab/>d<text:line-break/>e"), "a b   c\td\ne"},
		{
			"headings with numbers", `<text:h text:outline-level="1">A</text:h><text:h text:outline-level="2">` +
				`B</text:h>` +
				`<text:p text:style-name="H">C</text:p><text:h>D</text:h>`,
			"# 1 A\n\n## 1.1 B\n\n## 1.2 C\n\n# 2 D",
		},
		{
			"lists", list(`text:style-name`+
				`="L"`, item(p("a")+list("", item(p("b"))+item(p("c")+list("", item(p("d"))))))+
				item(p("e"))) + p("x") + list(`text:style-name="L" text:co`+
				`ntinue-numbering="true"`, item(p("f"))) + p("y") +
				list(`text:style-name="L"`, `<text:list-item text:start-value="7">`+p("g")+"</text:list-item>") +
				list(`text:style-name="B"`, item(p("h"))),
			"1. a\n  - (a) b\n  - (b) c\n    - 1.1 d\n2. e\n\nx\n\n3. f\n\ny\n\n7. g\n- h",
		},
		{"a link", p(`see <text:a xlink:href="https://a.b">the <text:span>shop</text:span></text:a>`), "see [the " +
			"shop](https://a.b)"},
		{
			"a note", p(`shoes<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>`+
				`<text:note-body>`+
				p("a pair")+`</text:note-body></text:note>.`) + p("next"),
			"shoes[^f1].\n[^f1]: a pair\n\nnext",
		},
		{
			"code", `<text:p text:style-name="P1">if x:</text:p><text:p text:style-name="P1"><text:s text:c="2"/>` +
				`y</text:p>` + p("z"),
			"```\nif x:\n  y\n```\n\nz",
		},
		{
			"what is not shown", `<text:tracked-changes>` + p("old") + `</text:tracked-changes>` +
				p(`a<office:annotation>`+
					p("comment")+`</office:annotation><text:span text:style-name="T1">hidden<text:span>`+
					`more</text:span></text:span>b`), "ab",
		},
		{
			"merged cells", `<table:table><table:table-header-rows><table:table-row><table:table-cell ` +
				`table:number-rows-spanned="2">` + p("Model") + `</table:table-cell><table:table-cell ` +
				`table:number-columns-spanned="2">` + p("Torque") + `</table:table-cell>` +
				`<table:covered-table-cell/></table:table-row>` +
				`</table:table-header-rows><table:table-row><table:covered-table-cell/><table:table-cell>` + p("min") +
				`</table:table-cell><table:table-cell>` + p("max") + `</table:table-cell></table:table-row>` +
				`<table:table-row>` +
				`<table:table-cell>` + p("A") + `</table:table-cell><table:table-cell ` +
				`table:number-columns-repeated="2">` + p("1") +
				`</table:table-cell></table:table-row></table:table>`,
			"| Model | Torque | Torque |\n| --- | --- | --- |\n| Model | min | max |\n| A | 1 | 1 |",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "<office:text>" + c.body + "</office:text>"
			for name, data := range map[string][]byte{
				"a.odt":  odf(t, odfStylesOfTests, body),
				"a.fodt": []byte(odfParts("document", odfStylesOfTests, body)),
			} {
				require.Equal(t, c.want, block.Markdown(blocksOf(t, name, data)), name)
				text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a", "", data)
				require.NoError(t, err)
				unfenced := strings.NewReplacer("```\n", "", "\n```", "").Replace(c.want)
				require.Equal(t, unfenced, text)
			}
		})
	}
}

func TestOpenDocumentSheets(t *testing.T) {
	cell := func(attributes, text string) string {
		return "<table:table-cell " + attributes + "><text:p>" + text + "</text:p></table:table-cell>"
	}
	row := func(attributes, cells string) string {
		return "<table:table-row " + attributes + ">" +
			cells + "</table:table-row>"
	}
	const empty = `<table:table-cell table:number-columns-repeated="16380"/>`
	body := `<office:spreadsheet><table:table table:name="S">` +
		row("", cell(`table:number-rows-spanned="2"`, "Model")+cell(`table:number-columns-spanned="2"`, "Torque")+
			"<table:covered-table-cell/>"+empty) +
		row("", "<table:covered-table-cell/>"+cell("", "min")+cell("", "max")+empty) +
		row("", cell("", "A")+cell(`office:value-type="float" office:value="1.5"`, "1,50 €")+
			cell(`office:value-type="date" office:date-value="2026-02-28T00:00:00"`, "28.2.26")+empty) +
		row(`table:number-rows-repeated="2"`, cell(`table:number-columns-repeated="2"`, "x")+
			cell(`office:value-type="boolean" office:boolean-value="true"`, "WAHR")) +
		row(`table:number-rows-repeated="1048571"`, empty) + `</table:table></office:spreadsheet>`
	data := odf(t, "", body)
	list := blocksOf(t, "a.ods", data)
	require.Equal(t, [][]string{
		{"Model", "Torque", "Torque"},
		{"Model", "min", "max"},
		{"A", "1.5", "2026-02-28"},
		{"x", "x", "TRUE"},
		{"x", "x", "TRUE"},
	}, list[1].Rows)
	require.Equal(t, torqueSpans, list[1].Spans)
	sheets, err := newReader(t, Limits{Time: patient}).Sheets(t.Context(), Bytes("a.ods", "", data))
	require.NoError(t, err)
	require.Equal(t, "S", sheets[0].Name)
	require.Equal(t, []Cell{{"A", false}, {"1.5", true}, {"2026-02-28", false}}, sheets[0].Rows[2])
	_, err = newReader(t, Limits{Time: patient}).Sheets(t.Context(), Bytes("a.odt", "", odf(t, "", "<office:text/>")))
	require.ErrorIs(t, err, errNoWorkbook)
}

func TestOpenDocumentSlides(t *testing.T) {
	body := `<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>` +
		`Returns</text:p>` +
		`</draw:text-box></draw:frame><draw:frame><svg:desc>A box</svg:desc><draw:image xlink:href="./a.png"/>` +
		`</draw:frame>` +
		`<draw:frame presentation:class="footer"><text:p>foot</text:p></draw:frame><presentation:notes><draw:frame ` +
		`presentation:class="notes"><text:p>free</text:p></draw:frame></presentation:notes></draw:page>` +
		`</office:presentation>`
	list := blocksOf(t, "a.odp", odf(t, "", body))
	require.Equal(t, "# Slide 1\n\n## Returns\n\nA box\n\nNotes: free", block.Markdown(list))
	require.Equal(t, 1, list[1].Page())
}

func TestHostileOpenDocument(t *testing.T) {
	limits := Limits{Text: 1 << 20, Block: 1 << 20, Work: 8 << 20, Cells: 100_000, Time: patient}
	const full = `<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>`
	for name, body := range map[string]string{
		"repeated rows": `<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="1048576">` +
			full +
			`</table:table-row></table:table></office:spreadsheet>`,
		"repeated cells": `<office:text><table:table>` + strings.Repeat("<table:table-row>"+strings.Repeat(full, 100)+
			"</table:table-row>", 100) + `</table:table></office:text>`,
		"blanks": "<office:text><text:p>" + strings.Repeat(`<text:s text:c="99999999"/>`, 5000) + "</text:p>" +
			"</office:text>",
		"lists": "<office:text>" + strings.Repeat("<text:list><text:list-item>", 10_000) + "</office:text>",
	} {
		for file, data := range map[string][]byte{
			"a.odt": odf(t, "", body), "a.fodt": []byte(odfParts("document", "", body)),
		} {
			read := func() (string, error) { return newReader(t, limits).Text(t.Context(), file, "", data) }
			_, err := bounded(t, read)
			require.ErrorIs(t, err, ErrLimit, name)
		}
	}
	secret := archive(t, "mimetype", "x", "META-INF/manifest.xml", `<m:manifest><m:file-entry><m:encryption-data `+
		`m:x="y"/>`+
		`</m:file-entry></m:manifest>`, "content.xml", "\x01\x02")
	_, err := newReader(t, limits).Text(t.Context(), "a.odt", "", secret)
	require.ErrorIs(t, err, ErrEncrypted)
	_, err = newReader(t, limits).Text(t.Context(), "a.odt", "", archive(t, "encrypted-package", "x"))
	require.ErrorIs(t, err, ErrEncrypted)
	_, err = newReader(t, limits).Text(t.Context(), "a.fodt", "", []byte(odfParts("document", "", "<x>")))
	require.ErrorIs(t, err, ErrDamaged)
}

func FuzzOpenDocument(f *testing.F) {
	f.Add(odfStylesOfTests, `<office:text><text:list text:style-name="L"><text:list-item><text:p>x</text:p>`+
		`</text:list-item>`+
		`</text:list><text:h>a</text:h><text:p><text:note><text:p>y</text:p></text:note></text:p></office:text>`)
	f.Add("", `<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="3"><table:table-cell `+
		`table:number-columns-spanned="2"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`+
		`</office:spreadsheet>`)
	f.Add("", `<draw:page><draw:frame presentation:class="title"><svg:desc>d</svg:desc><draw:image `+
		`xlink:href="a"/></draw:frame>`+
		`<presentation:notes><text:p>n</text:p></presentation:notes></draw:page>`)
	f.Fuzz(func(t *testing.T, styles, body string) {
		checkBlocks(t, "a.odt", odf(t, styles, body))
		checkBlocks(t, "a.fodt", []byte(odfParts("document", styles, body)))
	})
}
