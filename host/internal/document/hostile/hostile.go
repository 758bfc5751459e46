// Package hostile generates documents that try to exhaust the memory or the time of a reader, for
// tests: small files that unpack, decode or multiply to hundreds of megabytes.
package hostile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// File is a hostile document. Make returns its bytes, at most 64 MiB.
type File struct {
	Name string // file name with extension
	Make func() []byte
}

// Set returns all hostile documents.
func Set() []File {
	return slices.Concat(words(), sheets(), slides(), archives(), texts(), pages(), PDFs())
}

// Choose returns the files for a test: all if only is "all", those whose name begins with only if
// it is set, and else every fourth from index from.
func Choose(only string, from int) []File {
	var chosen []File
	for i, f := range Set() {
		if only == "all" || only == "" && i%4 == from || only != "" && strings.HasPrefix(f.Name, only) {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// Part is a file in an archive: Head, then Unit repeated Times times, then Tail. Unit is compressed
// once, whatever the size.
type Part struct {
	Name, Head, Unit string
	Times            int
	Tail             string
}

// Archive returns a zip archive of parts.
func Archive(parts ...Part) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		p.write(z)
	}
	must(z.Close())
	return b.Bytes()
}

// write adds a part. It repeats independent Deflate blocks, so generating 250 MB is fast.
func (p *Part) write(z *zip.Writer) {
	units := max(1, min(p.Times, 1<<20/max(1, len(p.Unit))))
	chunk := strings.Repeat(p.Unit, units)
	rest := strings.Repeat(p.Unit, p.Times%units)
	sum, size := crc32.NewIEEE(), 0
	var packed bytes.Buffer
	add := func(text string, times int) {
		block := deflated(text)
		for range times {
			packed.Write(block)
			_, _ = sum.Write([]byte(text)) // a hash does not fail
			size += len(text)
		}
	}
	add(p.Head, 1)
	add(chunk, p.Times/units)
	add(rest, 1)
	add(p.Tail, 1)
	packed.Write([]byte{1, 0, 0, 0xff, 0xff}) // the last block, empty
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: p.Name, Method: zip.Deflate, CRC32: sum.Sum32(),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(size),
	})
	must(err)
	_, err = w.Write(packed.Bytes())
	must(err)
}

// deflated returns text as Deflate blocks that end on a byte boundary.
func deflated(text string) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	must(err)
	_, err = w.Write([]byte(text))
	must(err)
	must(w.Flush())
	return b.Bytes()
}

// must panics on an error, which constant input cannot cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

const (
	mega = 1_000_000

	wordHead = `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>`
	wordTail = `</w:body></w:document>`
	relsHead = `<Relationships>`
	relsTail = `</Relationships>`
)

// word returns a docx whose body is head, repeated unit, tail.
func word(name, head, unit string, times int, tail string) File {
	return File{name + ".docx", func() []byte {
		return Archive(Part{"word/document.xml", wordHead + head, unit, times, tail + wordTail})
	}}
}

// besides returns a docx with additional parts.
func besides(name string, parts ...Part) File {
	return File{name + ".docx", func() []byte {
		return Archive(append(parts, Part{
			Name: "word/document.xml",
			Head: wordHead + "<w:p><w:t>x</w:t></w:p>" + wordTail,
		})...)
	}}
}

func words() []File {
	const rels = "word/_rels/document.xml.rels"
	styles := Part{Name: rels, Head: relsHead + `<Relationship Type="/styles" Target="styles.xml"/>` + relsTail}
	return []File{
		word("one-text", "<w:p><w:t>", "x", 250*mega, "</w:t></w:p>"),
		word("one-attribute", `<w:p a="`, "x", 250*mega, `"/>`),
		word("attributes", "<w:p", ` a="1"`, 5*mega, "/>"),
		word("nested", "", "<w:p>", mega, ""),
		word("comment", "<!--", "x", 250*mega, "-->"),
		word("instruction", "<?a ", "x", 250*mega, "?>"),
		word("cdata", "<w:p><w:t><![CDATA[", "x", 250*mega, "]]></w:t></w:p>"),
		word("name", "<", "x", 250*mega, "/>"),
		word("runs-of-a-paragraph", "<w:p>", "<w:t>"+strings.Repeat("x", 1000)+"</w:t>", 250_000, "</w:p>"),
		word("comments-in-a-text", "<w:p><w:t>", strings.Repeat("x", 1000)+"<!---->", 250_000, "</w:t></w:p>"),
		word("breaks", "<w:p>", "<w:br/>", 30*mega, "</w:p>"),
		word("cells", "<w:tbl><w:tr>", "<w:tc/>", 15*mega, "</w:tr></w:tbl>"),
		word("paragraphs-in-a-cell", "<w:tbl><w:tr><w:tc>", "<w:p><w:t>x</w:t></w:p>", 8*mega,
			"</w:tc></w:tr></w:tbl>"),
		word("notes-with-long-ids", "<w:p>", `<w:footnoteReference w:id="`+strings.Repeat("x", 1000)+`"/>`, 200_000,
			"</w:p>"),
		besides("relation-target", Part{
			rels, relsHead + `<Relationship Id="a" Type="b" Target="`, "x", 250 * mega,
			`"/>` + relsTail,
		}),
		besides("relations", Part{rels, relsHead, `<Relationship Id="a" Type="/b" Target="c.xml"/>`, mega, relsTail}),
		besides("document-type", Part{
			"_rels/.rels", "<!DOCTYPE a [", `<!ENTITY b "&c;&c;">`, 12 * mega,
			"]>" + relsHead + relsTail,
		}),
		besides("styles", styles, Part{"word/styles.xml", "<w:styles>", `<w:style/>`, 20 * mega, "</w:styles>"}),
		besides("styles-by-id", styles, Part{
			"word/styles.xml",
			"<w:styles>" + ids(`<w:style w:styleId="%d"></w:style>`, 2*mega), "", 0, "</w:styles>",
		}),
	}
}

// ids formats each number below n.
func ids(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// book returns an xlsx with one sheet of rows and additional parts.
func book(name string, rows Part, more ...Part) File {
	rows.Name, rows.Head, rows.Tail = "xl/worksheets/sheet1.xml", "<worksheet>"+rows.Head, rows.Tail+"</worksheet>"
	return File{name + ".xlsx", func() []byte {
		return Archive(slices.Concat([]Part{
			{
				Name: "xl/workbook.xml",
				Head: `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
			},
			{Name: "xl/_rels/workbook.xml.rels", Head: relsHead +
				`<Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/>` +
				`<Relationship Id="b" Type="x/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="c" ` +
				`Type="x/styles" Target="styles.xml"/>` + relsTail},
			rows,
		}, more)...)
	}}
}

func sheets() []File {
	const shared = "xl/sharedStrings.xml"
	return []File{
		book("columns", Part{Head: "<row>", Unit: "<c><v>1</v></c>", Times: mega, Tail: "</row>"}),
		book("empty-cells", Part{Head: "<row>", Unit: "<c/>", Times: 10 * mega, Tail: "</row>"}),
		book("empty-rows", Part{Unit: "<row/>", Times: 10 * mega}),
		book("far-cells", Part{Unit: `<row><c r="XFD1"><v>1</v></c></row>`, Times: mega}),
		book("one-value", Part{
			Head: "<row><c><v>", Unit: strings.Repeat("1", 1000) + "<!---->", Times: 250_000,
			Tail: "</v></c></row>",
		}),
		book("shared-texts", Part{Unit: `<row><c t="s"><v>0</v></c></row>`, Times: mega},
			Part{shared, "<sst>", "<si><t>x</t></si>", 8 * mega, "</sst>"}),
		book("a-large-shared-text", Part{Unit: `<row><c t="s"><v>0</v></c></row>`, Times: 100_000},
			Part{shared, "<sst><si><t>", "x", mega, "</t></si></sst>"}),
		book("parts-of-a-shared-text", Part{}, Part{
			shared, "<sst><si>", "<t>" + strings.Repeat("x", 1000) + "</t>",
			250_000, "</si></sst>",
		}),
		book("large-shared-texts", Part{}, Part{
			shared, "<sst>", "<si><t>" + strings.Repeat("x", 30_000) + "</t></si>",
			8000, "</sst>",
		}),
		book("formats", Part{}, Part{"xl/styles.xml", "<a><cellXfs>", "<xf/>", 40 * mega, "</cellXfs></a>"}),
		book("format-codes", Part{}, Part{
			"xl/styles.xml", "<a>" + ids(`<numFmt numFmtId="%d"/>`, 2*mega), "", 0,
			"</a>",
		}),
		book("a-lying-size", Part{Head: `<dimension ref="A1:XFD1048576"/>`, Unit: "<row/>", Times: 1}),
		{"sheets.xlsx", func() []byte {
			return Archive(Part{
				"xl/workbook.xml", `<workbook xmlns:r="r"><sheets>`, `<sheet name="S" r:id="a"/>`,
				100_000, "</sheets></workbook>",
			},
				Part{Name: "xl/_rels/workbook.xml.rels", Head: relsHead +
					`<Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/>` + relsTail},
				Part{Name: "xl/worksheets/sheet1.xml", Head: "<worksheet/>"})
		}},
	}
}

func slides() []File {
	list := func(slide string, more ...Part) func() []byte {
		return func() []byte {
			return Archive(append(more, Part{
				"ppt/presentation.xml", `<p xmlns:r="r">`, `<p:sldId r:id="a"/>`, 100_000,
				"</p>",
			},
				Part{
					Name: "ppt/_rels/presentation.xml.rels",
					Head: relsHead + `<Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/>` + relsTail,
				},
				Part{Name: "ppt/slides/slide1.xml", Head: slide})...)
		}
	}
	return []File{
		{"slides.pptx", list("<p/>")},
		{"notes.pptx", list("<p/>", Part{
			"ppt/slides/_rels/slide1.xml.rels", relsHead,
			`<Relationship Type="/notesSlide" Target="n.xml"/>`, 100_000, relsTail,
		},
			Part{Name: "ppt/slides/n.xml"})},
	}
}
