package document

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
)

// known are the errors that a reader may return for a document.
var known = []error{ErrFormat, ErrEncrypted, ErrDamaged, ErrNoText, ErrLimit}

// check verifies the result of any read: text within the limit, or a known error.
func check(t *testing.T, maxBytes int, text string, err error) {
	t.Helper()
	if err != nil {
		for _, k := range known {
			if errors.Is(err, k) {
				return
			}
		}
		t.Fatalf("unexpected error: %v", err)
	}
	if len(text) > maxBytes || !utf8.ValidString(text) {
		t.Fatalf("%d bytes of text, valid UTF-8: %v", len(text), utf8.ValidString(text))
	}
}

// bounded calls f, which reads a document within fuzzLimits, and fails if f allocates more than the
// limits explain.
func bounded(t *testing.T, f func() (string, error)) (string, error) {
	before := allocated()
	text, err := f()
	if grown := allocated() - before; grown > 128<<20 {
		t.Fatalf("allocated %d MB: %v", grown>>20, err)
	}
	return text, err
}

var fuzzLimits = Limits{Text: 64 << 10, Unpacked: 1 << 20, Time: 10 * time.Second}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "text", "\xff\xfea\x00", "a\x00b\x00", "\xe9", "\xcd\xcb\xbb\xf5", "PK\x03\x04",
		`{\rtf`, "\xEF\xBB\xBF\xff",
	} {
		f.Add("a.txt", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if kindOf(name, "", data) == kindPDF {
			return // pdfium is fuzzed upstream
		}
		text, err := bounded(t, func() (string, error) {
			return (&Reader{Limits: fuzzLimits}).Text(t.Context(), name,
				"", data)
		})
		check(t, fuzzLimits.Text, text, err)
	})
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		"<p>a", "<!--", "<script", "&#x110000;", "<a b='", "</", "&amp",
		"<table><td><ul><li><pre>", torqueHTML, "<ol start=3 reversed type=a><li value=x><a href=b>", "<meta " +
			"charset=utf-16>", "<table><tr></table></td>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := bounded(t, func() (string, error) {
			return (&Reader{Limits: fuzzLimits}).Text(t.Context(), "a.html", "text/html", data)
		})
		check(t, fuzzLimits.Text, text, err)
	})
}

// FuzzParts mutates the parts of an Office document, which compression would hide from the fuzzer.
func FuzzParts(f *testing.F) {
	f.Add(byte(0), "<w:p><w:pPr><w:pStyle w:val='a'/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
		"<w:style w:styleId='a'><w:name w:val='heading 1'/><w:basedOn w:val='a'/></w:style>")
	f.Add(byte(0), "<w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc></w:tr></w:tbl>", "")
	f.Add(byte(0), "<w:tbl><w:trPr><w:gridBefore w:val='2'/><w:tblHeader/></w:trPr><w:tr>"+
		wordCell("<w:vMerge/><w:gridSpan w:val='3'/><w:hMerge/>", "a")+"</w:tr></w:tbl>"+wordItem("1", "1", "b"),
		`<w:abstractNum w:abstractNumId="0">`+wordLevel("1", "1", "decimal", "%1.%2", "<w:isLgl/>")+
			`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	f.Add(byte(1), "<row><c><v>1</v></c></row></sheetData><mergeCells><mergeCell ref='A1:B2'/></mergeCells><sheetData>",
		chartPart)
	f.Add(byte(1), "<row><c r='B1' t='s' s='0'><v>0</v></c><c s='0'><v>1.5</v><f>A1</f></c></row>",
		`<numFmt numFmtId="1" formatCode="[h]:mm"/><cellXfs><xf numFmtId="1"/></cellXfs>`)
	f.Add(byte(2), "<p:sp><p:ph type='title'/><a:p><a:pPr lvl='1'/><a:t>x</a:t></a:p></p:sp>", "")
	f.Fuzz(func(t *testing.T, kind byte, main, other string) {
		var data []byte
		switch kind % 3 {
		case 0:
			data = wordFile(t, main, other, other, other)
		case 1:
			data = xlsx(t, main, "xl/styles.xml", other, "xl/sharedStrings.xml", strings.ReplaceAll(other, "numFmt",
				"si"), "xl/worksheets/_rels/sheet1.xml.rels", `<R><Relationship Id="d" Type="/drawing" `+
				`Target="d.xml"/></R>`,
				"xl/worksheets/_rels/d.xml.rels", `<R><Relationship Id="c" Type="/chart" Target="c.xml"/></R>`,
				"xl/worksheets/c.xml", other)
		case 2:
			data = pptx(t, main)
		}
		text, err := bounded(t, func() (string, error) {
			return (&Reader{Limits: fuzzLimits}).Text(t.Context(), "",
				"", data)
		})
		check(t, fuzzLimits.Text, text, err)
	})
}

// FuzzNumber mutates number format codes.
func FuzzNumber(f *testing.F) {
	for _, code := range []string{"General", "yyyy-mm-dd", "[h]:mm", `"x`, "[", `\`, "0.00%", "_"} {
		f.Add(code, 45000.5)
	}
	f.Fuzz(func(t *testing.T, code string, n float64) {
		if s := formatOf(code).show(n, len(code)%2 == 0); s == "" || len(s) > 400 {
			t.Fatalf("%v formatted by %q is %q", n, code, s)
		}
	})
}

// checkBlocks verifies that blocks are read within the limits, or a known error.
func checkBlocks(t *testing.T, name string, data []byte) {
	t.Helper()
	limits := fuzzLimits
	limits.Work = 4 << 20
	text, err := bounded(t, func() (string, error) {
		list, err := (&Reader{Limits: limits}).Blocks(t.Context(), Bytes(name, "", data))
		return block.Markdown(list), err
	})
	check(t, 2*int(limits.Work), text, err)
}

// FuzzBlocks mutates texts in the formats of their names.
func FuzzBlocks(f *testing.F) {
	for name, text := range map[string]string{
		"a.md": "# A\n\n| a |\n|-|\n", "a.csv": "a,\"b\n", "a.json": `{"a": [1]}`, "a.jsonl": "1\n{}",
		"a.html": "<ul><li><img alt=x><pre>", "a.txt": "x",
	} {
		f.Add(name, []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if kindOf(name, "", data) == kindPDF {
			return // FuzzPages tests the layout of pages
		}
		checkBlocks(t, name, data)
	})
}

func FuzzEmail(f *testing.F) {
	f.Add([]byte(sampleMail))
	f.Add(mailWith("a.docx", string(docx(f, "<w:p><w:t>x</w:t></w:p>")), "b.eml", string(mailWith("c.csv", "a,b"))))
	f.Add([]byte("Content-Type: text/html; charset=utf-16\nContent-Transfer-Encoding: base64\n\nAA=="))
	f.Fuzz(func(t *testing.T, data []byte) { checkBlocks(t, "a.eml", data) })
}

func FuzzEPUB(f *testing.F) {
	f.Add(`<item id="a" href="a.xhtml" media-type="text/html"/>`, `<itemref idref="a"/>`, "<p>x")
	f.Fuzz(func(t *testing.T, items, spine, chapter string) {
		checkBlocks(t, "a.epub", epub(t, items, spine, "OEBPS/a.xhtml", chapter))
	})
}
