package document

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// archive returns a zip archive of parts: name, content, name, content, ...
func archive(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for part := range slices.Chunk(parts, 2) {
		w, err := z.Create(part[0])
		require.NoError(t, err)
		_, err = io.WriteString(w, part[1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// docx returns a Word document with the given body.
func docx(t testing.TB, body string) []byte {
	return archive(t, "word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`)
}

// xlsx returns a workbook with one sheet of the given rows.
func xlsx(t testing.TB, rows string, more ...string) []byte {
	return archive(t, append([]string{
		"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="b" Type="x/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="c" Type="x/styles" Target="/xl/styles.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}, more...)...)
}

// pptx returns a presentation with one slide of the given shapes.
func pptx(t testing.TB, shapes string) []byte {
	return archive(t,
		"ppt/presentation.xml", `<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", `<p:sld>`+shapes+`</p:sld>`)
}

// pdfFile is a PDF whose object n is objects[n-1]. The first object must be the catalog.
type pdfFile struct {
	objects []string
	trailer string // additional entries
}

func (p *pdfFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(p.objects))
	for i, o := range p.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(p.objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(p.objects)+1, p.trailer, start)
	return b.Bytes()
}

// onePage returns a PDF with one page of the given content, Helvetica as F1, and more objects from
// number 6 on.
func onePage(content, resources string, more ...string) *pdfFile {
	return &pdfFile{objects: append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> " + resources + " >> >>",
		stream("", content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}, more...)}
}

func stream(entries, content string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), entries, content)
}

// deflated returns n times what, compressed the given number of times.
func deflated(t testing.TB, what string, n, times int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, flate.BestCompression)
	require.NoError(t, err)
	for range n {
		_, err := io.WriteString(w, what)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	if times > 1 {
		return deflated(t, b.String(), 1, times-1)
	}
	return b.String()
}
