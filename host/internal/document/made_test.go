package document

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document/pdftest"
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
	return archive(t, "word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>`+
		body+`</w:body></w:document>`)
}

// xlsx returns a workbook with one sheet of the given rows.
func xlsx(t testing.TB, rows string, more ...string) []byte {
	return archive(t, append([]string{
		"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels",
		`<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="b" Type="x/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="c" ` +
			`Type="x/styles" Target="/xl/styles.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}, more...)...)
}

// pptx returns a presentation with one slide of the given shapes.
func pptx(t testing.TB, shapes string) []byte {
	return archive(t,
		"ppt/presentation.xml",
		`<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels",
		`<Relationships><Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", `<p:sld>`+shapes+`</p:sld>`)
}

// onePage returns a PDF with one page of the given content, Helvetica as F1, and more objects from
// number 6 on.
func onePage(content, resources string, more ...string) *pdftest.File {
	return pdftest.OnePage(pdftest.Stream("", content), resources, more...)
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
