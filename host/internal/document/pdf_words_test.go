package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/layout"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

// Hostile files put any number of letters at one place. The letters of a ligature are turned
// around, no more.
func TestLettersAtOnePlace(t *testing.T) {
	page := &layout.Page{}
	w := wordMaker{page: page}
	box := layout.Box{Left: 10, Right: 15, Top: 10, Bottom: 20}
	for i := range 3 * longestLigature {
		w.add(rune(0x5D0+i), box)
		require.LessOrEqual(t, len(w.text)-w.from, longestLigature)
	}
	w.flush()
	require.Len(t, []rune(page.Words[0].Text), 3*longestLigature)
	w.add('ל', box)
	w.add('א', box)
	w.flush()
	require.Equal(t, "אל", page.Words[1].Text)
}

// Characters beyond 16 bits have two units in the bulk read, and a position may have none: that the
// sum is right does not mean that units are positions.
func TestUnitsThatAreNoPositions(t *testing.T) {
	const cmap = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n" +
		"1 begincodespacerange <00> <FF> endcodespacerange\n" +
		"6 beginbfchar <61> <D83DDE00> <62> <0062> <63> <0063> <64> <0000> <65> <0065> <66> <0066> endbfchar\n" +
		"endcmap CMapName currentdict /CMap defineresource pop end end"
	for _, text := range []string{"abcdef", "bacefd", "dbcaef", "abc", "bcad"} {
		f := pdftest.OnePage(pdftest.Stream("", "BT /F1 12 Tf 50 500 Td 40 Tc ("+text+") Tj ET"), "",
			pdftest.Stream("", cmap))
		f.Objects[4] = strings.Replace(pdftest.Helvetica, ">>", "/ToUnicode 6 0 R >>", 1)
		got := block.Plain(blocksOf(t, "a.pdf", f.Bytes()))
		require.True(t, utf8.ValidString(got), "%s: %q", text, got)
		for _, c := range text {
			switch c {
			case 'a':
				require.Contains(t, got, "😀", "%s: %q", text, got)
			case 'd':
			default:
				require.Contains(t, got, string(c), "%s: %q", text, got)
			}
		}
	}
}

// A negative size turns text around, as its matrix may do once more: the first of two lines stays
// the first.
func TestNegativeSizes(t *testing.T) {
	for name, content := range map[string]string{
		"upright": "BT /F1 -12 Tf -1 0 0 -1 50 500 Tm (first line) Tj ET " +
			"BT /F1 -12 Tf -1 0 0 -1 50 480 Tm (second one) Tj ET",
		"upside down": "BT /F1 -12 Tf 300 480 Td (first line) Tj ET BT /F1 -12 Tf 300 500 Td (second one) Tj ET",
		"mirrored": "1 0 0 -1 0 842 cm BT /F1 12 Tf 1 0 0 -1 50 300 Tm (first line) Tj " +
			"1 0 0 -1 50 320 Tm (second one) Tj ET",
	} {
		f := pdftest.OnePage(pdftest.Stream("", content), "")
		got := block.Plain(blocksOf(t, "a.pdf", f.Bytes()))
		require.Equal(t, "first line second one", strings.Join(strings.Fields(got), " "), name)
	}
}
