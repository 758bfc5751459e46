package document

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// Hostile files put any number of letters at one place. The letters of a ligature are turned around,
// no more.
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
