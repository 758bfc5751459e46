package document

import (
	"os"
	"strings"
	"testing"
)

// BenchmarkRead reads ordinary documents.
func BenchmarkRead(b *testing.B) {
	r := newReader(b, Limits{})
	files := map[string][]byte{
		"large.docx": docx(b,
			strings.Repeat(
				`<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">You can `+
					`return shoes within thirty days.</w:t></w:r></w:p>`, 20_000)),
		"large.xlsx": xlsx(b,
			strings.Repeat(
				`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>12.5</v></c><c r="C1"><v>7</v></c></row>`,
				20_000), "xl/sharedStrings.xml", "<sst><si><t>shoes</t></si></sst>"),
		"large.csv":  []byte(strings.Repeat("shoes,12.5,7\n", 200_000)),
		"large.html": []byte(strings.Repeat("<p>You can <b>return</b> shoes within thirty days.</p>\n", 20_000)),
	}
	for _, name := range []string{"returns.docx", "orders.xlsx", "returns.pptx", "returns.pdf"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = data
	}
	for _, name := range []string{
		"returns.docx", "orders.xlsx", "returns.pptx", "returns.pdf", "large.docx",
		"large.xlsx", "large.csv", "large.html",
	} {
		if _, err := r.Text(b.Context(), name, "", files[name]); err != nil { // compiles the PDF reader
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Text(b.Context(), name, "", files[name]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
