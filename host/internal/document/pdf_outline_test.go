package document

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

func headingsOf(list []block.Block) (out []string) {
	for i := range list {
		if list[i].Kind == block.Heading {
			out = append(out, fmt.Sprint(list[i].Level, " ", list[i].Text))
		}
	}
	return out
}

func twoLines(y float64, mark string) string {
	return pdftest.Text("F1", 10, 50, y, "A line of text about "+mark+" that is as long as all others of it") +
		pdftest.Text("F1", 10, 50, y+12, "and ends here.")
}

// The headings of a file with an outline are its bookmarks with their levels: of one size, on two
// lines, before a paragraph on the same line, or missing on the page.
func TestHeadingsAreThoseOfTheOutline(t *testing.T) {
	one := pdftest.Text("F2", 12, 50, 60, "1 Basics") + twoLines(90, "basics") +
		pdftest.Text("F2", 12, 50, 130, "1.1 A title that continues in") + pdftest.Text("F2", 12, 50, 144,
		"the second line") +
		twoLines(170, "it") + pdftest.Text("F2", 10, 50, 210, "Note that this is bold") + twoLines(230, "notes")
	two := pdftest.Text("F2", 10, 50, 60, "Options") + pdftest.Text("F1", 10, 100, 60, "are settings of it that") +
		pdftest.Text("F1", 10, 50, 72, "have a name.") + twoLines(110, "more")
	list := blocksOf(t, "a.pdf", pdftest.WithOutline([]pdftest.Bookmark{
		{Level: 1, Title: "1 Basics", Page: 1, Top: 60},
		{Level: 2, Title: "1.1 A title that continues in the second line", Page: 1, Top: 130},
		{Level: 2, Title: "Options", Page: 2, Top: 60},
		{Level: 1, Title: "Nowhere", Page: 2, Top: 100},
	}, one, two))
	require.Equal(t, []string{
		"1 1 Basics", "2 1.1 A title that continues in the second line", "3 Note that this is bold", "2 Options",
		"1 Nowhere",
	}, headingsOf(list))
	text := block.Plain(list)
	require.Contains(t, text, "are settings of it that have a name.")
	require.Equal(t, []string{"Nowhere"}, list[len(list)-1].Path)
}

// Rings, a million of bookmarks and destinations that are no numbers end in time.
func TestHostileOutlines(t *testing.T) {
	page := twoLines(100, "rings")
	ring := func(entry string, count int) []byte {
		f := &pdftest.File{Objects: []string{
			"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R " +
				"/Resources << /Font << /F1 5 0 R >> >> >>",
			pdftest.Stream("", page), pdftest.Helvetica, "<< /Type /Outlines /First 7 0 R >>",
		}}
		for i := range count {
			f.Objects = append(f.Objects, strings.ReplaceAll(entry, "NEXT", fmt.Sprint(8+i)))
		}
		return f.Bytes()
	}
	for name, data := range map[string][]byte{
		"sibling of itself": ring("<< /Title (a) /Next 7 0 R >>", 1),
		"child of itself":   ring("<< /Title (a) /First 7 0 R /Next 7 0 R >>", 1),
		"deep":              ring("<< /Title (a) /First NEXT 0 R >>", 2000),
		"many":              ring("<< /Title (a line of text) /Dest [3 0 R /XYZ 0 700 0] /Next NEXT 0 R >>", 1_000_000),
		"places":            ring("<< /Title (and ends here) /Dest [3 0 R /XYZ 1e38 -1e38 0] /Next NEXT 0 R >>", 100),
		"no title":          ring("<< /Dest [3 0 R /Fit] >>", 2),
	} {
		t.Run(name, func(t *testing.T) {
			list, err := newReader(t, Limits{Time: time.Minute}).Blocks(t.Context(), Bytes("a.pdf", "", data))
			if err != nil {
				require.True(t, isLimit(err, LimitMemory) || isLimit(err, LimitFile), "%v", err)
				return
			}
			require.Contains(t, block.Plain(list), "A line of text about rings that is")
		})
	}
}

// Turned pages, letters of a ligature and bold names of fonts.
func TestTurnedPage(t *testing.T) {
	content := twoLines(100, "turns")
	f := pdftest.OnePage(pdftest.Stream("", strings.ReplaceAll(content, "Td", "Td")), "")
	f.Objects[2] = strings.Replace(f.Objects[2], "/Contents", "/Rotate 90 /Contents", 1)
	upright := pdftest.OnePage(pdftest.Stream("", "q 0 1 -1 0 595 0 cm\n"+content+"Q\n"), "")
	upright.Objects[2] = strings.Replace(upright.Objects[2], "/Contents", "/Rotate 90 /Contents", 1)
	for _, file := range []*pdftest.File{f, upright} {
		list := blocksOf(t, "a.pdf", file.Bytes())
		require.Len(t, list, 1)
		require.Equal(t, "A line of text about turns that is as long as all others of it and ends here.", list[0].Text)
	}
	stamped := pdftest.OnePage(pdftest.Stream("",
		content+"BT /F1 14 Tf 0 1 -1 0 30 200 Tm (arXiv:1234.5678v1) Tj ET\n"), "")
	require.NotContains(t, block.Plain(blocksOf(t, "a.pdf", stamped.Bytes())), "arXiv")
}

func TestFaces(t *testing.T) {
	for name, want := range map[string]typeface{
		"ABCDEF+CMBX12": {bold: true}, "NimbusRomNo9L-Medi": {bold: true}, "HelveticaNeue-Medium": {},
		"CMTT10": {mono: true}, "DejaVuSansMono-Bold": {bold: true, mono: true}, "XYZABC+CMSY10": {math: true},
		"Times": {},
	} {
		require.Equal(t, want, faceOf(name), name)
	}
}
