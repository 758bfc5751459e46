package document

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// blocksOf reads a document as blocks; positions, which the tests of PDF look at, are left out.
func blocksOf(t *testing.T, name string, data []byte) []block.Block {
	t.Helper()
	list, err := newReader(t, Limits{Time: patient}).Blocks(t.Context(), Bytes(name, "", data))
	require.NoError(t, err)
	for i := range list {
		if len(list[i].Path) == 0 {
			list[i].Path = nil
		}
	}
	return list
}

// The text of a document is its blocks as Markdown: both come from the same reader.
func TestBlocksAreTheText(t *testing.T) {
	files := map[string][]byte{
		"list.html": []byte(
			"<h1>A</h1>text<ul><li>x<ul><li>y</ul><li>z</ul><ol><li>1</ol><table><tr><th>k<td>v<tr><td>1</table>" +
				"<table><tr><td>second</table><p>end <img src='a.png' alt='A'> of it"),
		"nested.docx": docx(t,
			`<w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p><w:tbl><w:tr><w:tc><w:p><w:t>b | `+
				`c</w:t></w:p></w:tc></w:tr></w:tbl>`+
				`</w:tc></w:tr></w:tbl><w:p><w:t>after</w:t></w:p>`),
		"rows.xlsx": xlsx(t,
			"<row><c t='inlineStr'><is><t>k</t></is></c></row><row><c><v>1</v></c><c><v>2</v></c></row>"),
	}
	for _, name := range []string{"orders.xlsx", "returns.docx", "returns.pptx"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		files[name] = data
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), name, "", data)
			require.NoError(t, err)
			var list []block.Block
			for _, b := range blocksOf(t, name, data) {
				if b.Kind != block.Image { // the text omits images
					list = append(list, b)
				}
			}
			require.Equal(t, text, block.Markdown(list))
		})
	}
}

func TestBlocksOfSlides(t *testing.T) {
	data := pptx(t,
		`<p:sp><p:ph type="title"/><a:p><a:t>Returns</a:t></a:p></p:sp><p:pic><a:p><a:blip xmlns:r="r" `+
			`r:embed="x"/></a:p></p:pic>`)
	on := []block.Position{{Page: 1}}
	require.Equal(t, []block.Block{
		{Kind: block.Heading, Level: 1, Text: "Slide 1", Positions: on},
		{Kind: block.Heading, Level: 2, Text: "Returns", Path: []string{"Slide 1"}, Positions: on},
		{Kind: block.Image, Source: "x", Path: []string{"Slide 1", "Returns"}, Positions: on},
	}, blocksOf(t, "a.pptx", data))
}

func TestBlocksOfTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []block.Block
	}{
		{"a.md", "# A\ntext", []block.Block{{Kind: block.Heading, Level: 1, Text: "A"}, {
			Kind: block.Paragraph,
			Text: "text", Path: []string{"A"},
		}}},
		{"a.txt", "# A\ntext\n\nmore", []block.Block{
			{Kind: block.Paragraph, Text: "# A\ntext"},
			{Kind: block.Paragraph, Text: "more"},
		}},
		{"a.csv", "a;b\n1;\"2\n3\"\n;;\n", []block.Block{{Kind: block.Table, Rows: [][]string{{"a", "b"}, {
			"1",
			"2\n3",
		}}, Header: 1}}},
		{"a.tsv", "a\tb", []block.Block{{Kind: block.Table, Rows: [][]string{{"a", "b"}}, Header: 1}}},
		{"a.go", "package a\n", []block.Block{{Kind: block.Code, Language: "go", Text: "package a"}}},
		{"a.json", `{"k": [1], "l": 2}`, []block.Block{
			{Kind: block.Heading, Level: 1, Text: "k"},
			{
				Kind: block.Code, Language: "json", Text: "[1]",
				Path: []string{"k"},
			},
			{Kind: block.Heading, Level: 1, Text: "l"},
			{
				Kind: block.Code, Language: "json", Text: "2",
				Path: []string{"l"},
			},
		}},
		{"b.json", `[{"a": 1}, 2]`, []block.Block{
			{Kind: block.Code, Language: "json", Text: `{"a": 1}`},
			{Kind: block.Code, Language: "json", Text: "2"},
		}},
		{"a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", []block.Block{
			{Kind: block.Code, Language: "json", Text: `{"a": 1}`},
			{Kind: block.Code, Language: "json", Text: `{"a": 2}`},
		}},
		{"a.html", "<pre>x\n y</pre><img alt='A  box' src='b.png'>", []block.Block{
			{Kind: block.Code, Text: "x\n y"}, {Kind: block.Image, Text: "A box", Source: "b.png"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, blocksOf(t, c.name, []byte(c.text))) })
	}
	_, err := newReader(t, Limits{Time: patient}).Blocks(t.Context(), Bytes("a.json", "", []byte(`[1, {`)))
	require.ErrorIs(t, err, ErrDamaged)
}

// A document with more blocks than fit into memory ends at the limit.
func TestBlocksAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"columns.csv": strings.Repeat(",", 1_000_000) + "\n" + strings.Repeat("1,", 1_000_000),
		"line.md":     strings.Repeat("x", 9<<20),
		"rows.md":     strings.Repeat("|\n", 500_000), "quote.csv": `"` + strings.Repeat("x\n", 5<<20),
		"headings.md": strings.Repeat("# x\n", 200_000),
	} {
		_, err := (&Reader{Limits: Limits{Work: 8 << 20, Time: patient}}).Blocks(t.Context(), Bytes(name, "",
			[]byte(text)))
		require.ErrorIs(t, err, ErrLimit, name)
	}
}

const sampleMail = "From: =?iso-8859-1?q?J=F6rg?= <j@example.org>\r\nTo: a@example.org\r\nSubject: " +
	"=?utf-8?B?UmV0dXJucw==?=\r\n" +
	"Date: Mon, 2 Mar 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n" +
	"--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n" +
	"--i\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: " +
	"quoted-printable\r\n\r\nF=FCnf days.\r\n\r\nBye\r\n" +
	"--i\r\nContent-Type: text/html\r\n\r\n<p>not this</p>\r\n--i--\r\n" +
	"--o\r\nContent-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nold text\r\n" +
	"--o\r\nContent-Type: application/zip; name=a.zip\r\nContent-Disposition: " +
	"attachment\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--o--\r\n"

func TestEmail(t *testing.T) {
	const want = "# Returns\n\nFrom: Jörg <j@example.org>\nTo: a@example.org\nDate: Mon, 2 Mar 2026 10:00:00 " +
		"+0000\n\nFünf days.\n\nBye\n\n" +
		"### Inner\n\nold text\n\nAttachment: a.zip (application/zip)"
	r := newReader(t, Limits{Time: patient})
	text, err := r.Text(t.Context(), "a.eml", "", []byte(sampleMail))
	require.NoError(t, err)
	require.Equal(t, want, text)
	require.Equal(t, want, block.Markdown(blocksOf(t, "a.eml", []byte(sampleMail))))

	deep := strings.Repeat("Content-Type: message/rfc822\r\n\r\n", 100)
	_, err = r.Text(t.Context(), "a.eml", "", []byte(deep))
	require.ErrorIs(t, err, ErrLimit)
	_, err = r.Text(t.Context(), "a.eml", "", []byte("X: "+strings.Repeat("a", 5<<20)))
	require.ErrorIs(t, err, ErrLimit)
	_, err = r.Text(t.Context(), "a.eml", "", []byte("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nno "+
		"header"))
	require.ErrorIs(t, err, ErrDamaged)
}

func epub(t testing.TB, items, spine string, chapters ...string) []byte {
	return archive(t, append([]string{
		"mimetype", "application/epub+zip",
		"META-INF/container.xml",
		`<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf", `<package><manifest>` + items + `</manifest><spine>` + spine + `</spine></package>`,
	}, chapters...)...)
}

func TestEPUB(t *testing.T) {
	data := epub(t,
		`<item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a.xhtml" `+
			`media-type="application/xhtml+xml"/>`,
		`<itemref idref="a"/><itemref idref="b"/>`,
		"OEBPS/a.xhtml", "<html><body><h1>One</h1><p>first</p></body></html>", "OEBPS/b c.xhtml",
		"<h1>Two</h1><ul><li>x</li></ul>")
	for _, name := range []string{"a.epub", "wrong.docx"} {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), name, "", data)
		require.NoError(t, err)
		require.Equal(t, "# One\n\nfirst\n\n# Two\n\n- x", text)
	}
	require.Len(t, blocksOf(t, "a.epub", data), 4)
	missing := epub(t, `<item id="a" href="a.xhtml" media-type="text/html"/>`, `<itemref idref="a"/>`)
	_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.epub", "", missing)
	require.ErrorIs(t, err, ErrDamaged)
	again := epub(t, `<item id="a" href="a.xhtml" media-type="text/html"/>`, strings.Repeat(`<itemref idref="a"/>`,
		30_000), "OEBPS/a.xhtml", "x")
	_, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "a.epub", "", again)
	require.ErrorIs(t, err, ErrLimit)
}
