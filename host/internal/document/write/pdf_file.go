package write

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// pdfFile is a PDF that is being written: numbered objects and where they begin.
type pdfFile struct {
	b       bytes.Buffer
	offsets []int
}

// object writes the next object and gives its number.
func (f *pdfFile) object(content string) int {
	f.offsets = append(f.offsets, f.b.Len())
	n := len(f.offsets)
	fmt.Fprintf(&f.b, "%d 0 obj\n%s\nendobj\n", n, content)
	return n
}

// file writes the pages. Objects 1 and 2, which name the others, come last and are numbered first.
func (s *setter) file() ([]byte, error) {
	if s.endSheet(); s.err != nil {
		return nil, s.err
	}
	f := &pdfFile{offsets: make([]int, 2)}
	f.b.WriteString("%PDF-1.5\n%\xE2\xE3\xCF\xD3\n") // marks the file as binary for mailers
	resources := f.fonts()
	var kids strings.Builder
	for _, p := range s.sheets {
		n := f.object(p.content)
		n = f.object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %.0f %.0f] /Contents %d 0 R /Resources << /Font << %s >> >>%s >>",
			pageWidth, pageHeight, n, resources, p.notes))
		fmt.Fprintf(&kids, "%d 0 R ", n)
	}
	f.place(1, "<< /Type /Catalog /Pages 2 0 R >>")
	f.place(2, fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(s.sheets)))
	start := f.b.Len()
	fmt.Fprintf(&f.b, "xref\n0 %d\n0000000000 65535 f \n", len(f.offsets)+1)
	for _, o := range f.offsets {
		fmt.Fprintf(&f.b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&f.b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(f.offsets)+1, start)
	return f.b.Bytes(), nil
}

func (f *pdfFile) place(n int, content string) {
	f.offsets[n-1] = f.b.Len()
	fmt.Fprintf(&f.b, "%d 0 obj\n%s\nendobj\n", n, content)
}

// fonts writes the fonts and gives the entries that name them.
func (f *pdfFile) fonts() string {
	var b strings.Builder
	for i, name := range fonts {
		if name != "" {
			n := f.object("<< /Type /Font /Subtype /Type1 /BaseFont /" + name + " /Encoding /WinAnsiEncoding >>")
			fmt.Fprintf(&b, "/F%d %d 0 R ", i, n)
		}
	}
	descriptor := f.object("<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>")
	cid := f.object(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 /W [1 95 1000] "+
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /FontDescriptor %d 0 R >>", descriptor))
	n := f.object(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UTF16-H /DescendantFonts [%d 0 R] >>", cid))
	fmt.Fprintf(&b, "/F%d %d 0 R", eastern, n)
	return b.String()
}

func annotations(links []linkArea) string {
	if len(links) == 0 {
		return ""
	}
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "<< /Type /Annot /Subtype /Link /Border [0 0 0] /Rect [%.2f %.2f %.2f %.2f] /A << /S /URI /URI %s >> >> ",
			l.x, l.y, l.x+l.w, l.y+l.h, literal(l.address))
	}
	return " /Annots [" + b.String() + "]"
}

func deflate(content string) (string, error) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", b.Len(), b.String()), nil
}
