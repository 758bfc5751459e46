package write

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The forms are those that Unicode's charts show for the words.
func TestArabicLettersJoin(t *testing.T) {
	for text, want := range map[string]string{
		"سلام":   "\uFEB3\uFEFC\uFEE1", // seen initial, lam-alef final, meem isolated
		"لا":     "\uFEFB",             // lam-alef isolated
		"بيت":    "\uFE91\uFEF4\uFE96", // beh initial, yeh medial, teh final
		"دار":    "\uFEA9\uFE8D\uFEAD", // none of them joins the next
		"ب ب":    "\uFE8F \uFE8F",      // a blank separates
		"پچگ":    "\uFB58\uFB7D\uFB93", // letters of Persian
		"ءب":     "\uFE80\uFE8F",       // hamza joins nothing
		"a2026b": "a2026b",
	} {
		require.Equal(t, want, shapeArabic(text), text)
	}
}

func TestLinesRunLeftwards(t *testing.T) {
	order := func(text string) (shown string, leftwards bool) {
		var line []piece
		for p := range cutSpan(span{text: text}, 10) {
			line = append(line, p)
		}
		line, leftwards = visual(line)
		for _, p := range line {
			shown += p.text
		}
		return shown, leftwards
	}
	for text, want := range map[string]string{
		"אב גד":        "דג בא",
		"אב 2026 גד":   "דג 2026 בא",
		"אב (test) גד": "דג (test) בא",
		"say אב גד ok": "say דג בא ok",
		"plain":        "plain",
	} {
		shown, leftwards := order(text)
		require.Equal(t, want, shown)
		require.Equal(t, text[0] == 0xD7, leftwards, text)
	}
}
