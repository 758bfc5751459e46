package write

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Forms of an Arabic letter by its neighbours. A letter that joins on one side only has the first
// two.
const (
	isolated = iota
	final
	initial
	medial
)

// arabicForms are the presentation forms of Arabic letters, and of lam with an alef after it. They
// follow each other in Unicode's blocks of compatibility characters in the order of the constants.
var arabicForms = func() map[string][]rune {
	forms := map[string][]rune{}
	for _, block := range [...][2]rune{{0xFB50, 0xFBB1}, {0xFBD3, 0xFBE9}, {0xFBFC, 0xFBFF}, {0xFE80, 0xFEFC}} {
		for r := block[0]; r <= block[1]; r++ {
			if base := norm.NFKC.String(string(r)); base != string(r) && len(forms[base]) < 4 {
				forms[base] = append(forms[base], r)
			}
		}
	}
	return forms
}()

// shapeArabic replaces the letters of Arabic words by the forms that join.
func shapeArabic(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x0600 && r <= 0x06FF }) {
		return text
	}
	letters := joinLamAlef([]rune(text))
	var b strings.Builder
	for i, letter := range letters {
		forms := arabicForms[letter]
		if len(forms) == 0 {
			b.WriteString(letter)
			continue
		}
		before := i > 0 && joinsNext(letters[i-1]) && len(forms) >= 2
		after := i+1 < len(letters) && joinsNext(letter) && joinsBefore(letters[i+1])
		form := isolated
		switch {
		case before && after:
			form = medial
		case before:
			form = final
		case after:
			form = initial
		}
		b.WriteRune(forms[form])
	}
	return b.String()
}

// tatweel lengthens a connection.
const tatweel = "\u0640"

func joinsNext(letter string) bool   { return letter == tatweel || len(arabicForms[letter]) == 4 }
func joinsBefore(letter string) bool { return letter == tatweel || len(arabicForms[letter]) >= 2 }

// joinLamAlef takes letters apart; lam with an alef is one, as it is written.
func joinLamAlef(text []rune) []string {
	var letters []string
	for i := 0; i < len(text); i++ {
		if text[i] == 'ل' && i+1 < len(text) && len(arabicForms[string(text[i:i+2])]) > 0 {
			letters = append(letters, string(text[i:i+2]))
			i++
			continue
		}
		letters = append(letters, string(text[i]))
	}
	return letters
}

// isRightToLeft reports whether a character belongs to a script that runs to the left.
func isRightToLeft(r rune) bool {
	if r < 0x0590 {
		return false
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// visual puts the pieces of a line into the order in which they stand from left to right, and
// reports whether the line runs to the left. Runs come from Unicode's bidirectional algorithm; a
// number after words that run to the left stands behind them in a line that runs to the right,
// because the library does not return levels.
func visual(line []piece) (ordered []piece, leftwards bool) {
	if !slices.ContainsFunc(line, func(p piece) bool { return strings.ContainsFunc(p.text, isRightToLeft) }) {
		return line, false
	}
	var text strings.Builder
	var at []int // piece by character
	for i, p := range line {
		text.WriteString(p.text)
		for range p.text {
			at = append(at, i)
		}
	}
	var paragraph bidi.Paragraph
	if _, err := paragraph.SetString(text.String()); err != nil {
		return line, false
	}
	order, err := paragraph.Order()
	if err != nil {
		return line, false
	}
	leftwards = order.Direction() == bidi.RightToLeft
	for i := range order.NumRuns() {
		if leftwards {
			i = order.NumRuns() - 1 - i // runs come in the order of the text
		}
		run := order.Run(i)
		from, to := run.Pos()
		pieces := split(line, at, from, to+1)
		if run.Direction() == bidi.RightToLeft {
			slices.Reverse(pieces)
			for j := range pieces {
				pieces[j].text = bidi.ReverseString(pieces[j].text)
			}
		}
		ordered = append(ordered, pieces...)
	}
	return ordered, leftwards
}

// split cuts the characters from to to out of a line.
func split(line []piece, at []int, from, to int) []piece {
	var out []piece
	for begin := from; begin < to; {
		end := begin
		for end < to && at[end] == at[begin] {
			end++
		}
		p := line[at[begin]]
		first := slices.Index(at, at[begin])
		if all := []rune(p.text); end-begin < len(all) { // a word of two directions
			p.text = string(all[begin-first : end-first])
			p.width *= float64(end-begin) / float64(len(all)) // about: its letters have several widths
		}
		out = append(out, p)
		begin = end
	}
	return out
}
