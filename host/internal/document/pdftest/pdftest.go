// Package pdftest writes PDF files for tests, object by object.
package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// File is a PDF whose object n is Objects[n-1]. The first object must be the catalog.
type File struct {
	Objects []string
	Trailer string // additional entries
}

// Bytes returns the file.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(f.Objects))
	for i, o := range f.Objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(f.Objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(f.Objects)+1, f.Trailer,
		start)
	return b.Bytes()
}

// Helvetica is a font object.
const Helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

// OnePage returns a PDF with an A4 page, Helvetica as F1, and more objects from number 6 on.
// contents is the object of the content, see [Stream].
func OnePage(contents, resources string, more ...string) *File {
	return &File{Objects: append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> " +
			resources + " >> >>",
		contents,
		Helvetica,
	}, more...)}
}

// Pages returns a PDF with an A4 page for each content, Helvetica as F1 and its bold letters as F2.
func Pages(contents ...string) []byte { return pages(contents...).Bytes() }

func pages(contents ...string) *File {
	f := &File{Objects: []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "",
		Helvetica, strings.Replace(Helvetica, "/Helvetica", "/Helvetica-Bold", 1),
	}}
	var kids strings.Builder
	for _, content := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", len(f.Objects)+1)
		f.Objects = append(f.Objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "+
				"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>", len(f.Objects)+2),
			Stream("", content))
	}
	f.Objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(contents))
	return f
}

// Bookmark is an entry of an outline.
type Bookmark struct {
	Level int // from 1
	Title string
	Page  int     // from 1
	Top   float64 // points from the top of an A4 page
}

// WithOutline returns a file of [Pages] with bookmarks, in the order of a document.
func WithOutline(marks []Bookmark, contents ...string) []byte {
	f := pages(contents...)
	root := len(f.Objects) + 1
	f.Objects[0] = fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>", root)
	f.Objects = append(f.Objects, fmt.Sprintf("<< /Type /Outlines /First %d 0 R >>", root+1))
	sibling := func(i int) int { // index of the next mark of the same level; 0 for none
		for k := i + 1; k < len(marks) && marks[k].Level >= marks[i].Level; k++ {
			if marks[k].Level == marks[i].Level {
				return k
			}
		}
		return 0
	}
	for i, m := range marks {
		const firstPage = 5 // object; each page has two
		o := fmt.Sprintf("<< /Title (%s) /Dest [%d 0 R /XYZ 0 %g 0]", escape.Replace(m.Title), firstPage+2*(m.Page-1),
			842-m.Top)
		if next := sibling(i); next > 0 {
			o += fmt.Sprintf(" /Next %d 0 R", root+1+next)
		}
		if i+1 < len(marks) && marks[i+1].Level > m.Level {
			o += fmt.Sprintf(" /First %d 0 R", root+2+i)
		}
		f.Objects = append(f.Objects, o+" >>")
	}
	return f.Bytes()
}

// Stream returns a stream object with additional entries of its dictionary.
func Stream(entries, content string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), entries, content)
}

// escape makes a string of PDF.
var escape = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "•", "\x95")

// Text returns the operators that show a line at x points from the left and y from the top of an A4
// page.
func Text(font string, size, x, y float64, line string) string {
	return fmt.Sprintf("BT /%s %g Tf %g %g Td (%s) Tj ET\n", font, size, x, 842-y, escape.Replace(line))
}

// Line returns the operators that draw a line between two points, measured as by [Text].
func Line(x1, y1, x2, y2 float64) string {
	return fmt.Sprintf("%g %g m %g %g l S\n", x1, 842-y1, x2, 842-y2)
}
