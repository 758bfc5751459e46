package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinLines joins the lines of a paragraph: by a blank, by nothing within Chinese, Japanese and
// Korean text, and without the hyphen of a divided word.
func joinLines(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		text := b.String()
		switch {
		case text == "" || part == "" || wide(text, part):
		case dividesWord(text, part):
			b.Reset()
			b.WriteString(text[:len(text)-1])
		default:
			b.WriteByte(' ')
		}
		b.WriteString(part)
	}
	return b.String()
}

// dividesWord reports whether a hyphen at the end of a line divides a word.
func dividesWord(text, next string) bool {
	rest, ok := strings.CutSuffix(text, "-")
	before, _ := utf8.DecodeLastRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(next)
	return ok && unicode.IsLetter(before) && unicode.IsLower(after)
}

// wide reports whether text is continued without a blank: both sides are of a script that has none.
func wide(text, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	first, _ := utf8.DecodeRuneInString(next)
	return isWide(last) && isWide(first)
}

func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFFEF
}

// endsSentence reports whether a text ends with a full stop or a similar mark.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, `"')]”’»`)
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?:;。！？：；…", last)
}

// startsInside reports whether a text begins in the middle of a sentence.
func startsInside(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) || isWide(first) || unicode.IsDigit(first)
}

// bullets are the marks of items, written as - in lists.
const bullets = "•▪◦‣●○■□–·*-\uf0b7\uf0a7"

// isBullet reports whether a line begins an item: with a mark and a blank, or with a number.
func isBullet(line string) bool {
	mark, rest, ok := strings.Cut(line, " ")
	if !ok || strings.TrimSpace(rest) == "" {
		return false
	}
	if r, size := utf8.DecodeRuneInString(mark); size == len(mark) && strings.ContainsRune(bullets, r) {
		return true
	}
	return isNumber(mark)
}

// isNumber reports marks like 1. 12) (3) a) and iv.
func isNumber(mark string) bool {
	body := strings.TrimPrefix(mark, "(")
	end := strings.TrimRight(body, ".)")
	if end == body || len(body)-len(end) > 1 || len(end) == 0 || len(end) > 3 {
		return false
	}
	digits := strings.Trim(end, "0123456789") == ""
	letter := len(end) == 1 && end[0] >= 'a' && end[0] <= 'z' && body[len(body)-1] == ')'
	return digits && len(end) < 3 || letter || strings.Trim(end, "ivx") == ""
}

// itemText returns an item with a mark of Markdown.
func itemText(line string) string {
	mark, rest, _ := strings.Cut(line, " ")
	if r, size := utf8.DecodeRuneInString(mark); size == len(mark) && strings.ContainsRune(bullets, r) {
		mark = "-"
	}
	return mark + " " + strings.TrimSpace(rest)
}
