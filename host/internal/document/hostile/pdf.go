package hostile

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

// PDFs returns hostile PDF files.
func PDFs() []File {
	packed := func(name, filter, unit string, times, layers int) File {
		return File{name + ".pdf", func() []byte {
			content := unit
			for i := range layers {
				if i > 0 {
					times = 1
				}
				content = compressed(content, times)
			}
			return onePage(pdftest.Stream("/Filter "+filter, content), "")
		}}
	}
	return []File{
		{"forms-in-forms.pdf", nestedForms},
		packed("blanks", "/FlateDecode", strings.Repeat(" ", 1<<20), 1<<8, 1),
		packed("texts", "/FlateDecode", strings.Repeat("BT /F1 9 Tf (x) Tj ET ", 1<<16), 1<<4, 1),
		packed("states", "[/FlateDecode /FlateDecode]", strings.Repeat("q ", 1<<19), 1<<6, 2),
		{"open-brackets.pdf", func() []byte { return onePage(pdftest.Stream("", strings.Repeat("[", 1<<20)), "") }},
		{"open-objects.pdf", func() []byte {
			return file("<< /Type /Catalog /Pages 2 0 R >>", strings.Repeat("<</Kids[", 1<<17))
		}},
		{"page-count.pdf", func() []byte {
			return file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>")
		}},
		{"object-stream.pdf", func() []byte {
			objects := pdftest.Stream("/Type /ObjStm /N 1000000 /First 0 /Filter /FlateDecode",
				compressed(strings.Repeat("1 0 ", 1<<18), 1<<7))
			return file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", objects)
		}},
	}
}

// nestedForms returns a PDF whose page shows a form that shows the next one ten times, thirty
// levels deep.
func nestedForms() []byte {
	form := "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
	var forms []string
	for i := range 30 {
		forms = append(forms, pdftest.Stream(fmt.Sprintf("%s /Resources << /XObject << /X %d 0 R >> >>", form, 7+i),
			strings.Repeat("/X Do ", 10)))
	}
	forms = append(forms, pdftest.Stream(form, "BT /F1 9 Tf (x) Tj ET"))
	return onePage(pdftest.Stream("", "/X Do"), "/XObject << /X 6 0 R >>", forms...)
}

// onePage returns a PDF with a page of the given content; more objects are numbered from 6.
func onePage(content, resources string, more ...string) []byte {
	return pdftest.OnePage(content, resources, more...).Bytes()
}

// file returns a PDF of objects; the first one is the catalog.
func file(objects ...string) []byte { return (&pdftest.File{Objects: objects}).Bytes() }

// compressed returns text, repeated times times, in zlib format.
func compressed(text string, times int) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for range times {
		_, err := w.Write([]byte(text))
		must(err)
	}
	must(w.Close())
	return b.String()
}
