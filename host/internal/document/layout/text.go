package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Compounds are the words with hyphens that a document has inside its lines, in lower case. The
// zero value has none.
type Compounds struct{ words map[string]struct{} }

// mostCompounds bounds a set of words.
const mostCompounds = 20_000

// Add adds those of a line, but not of its last word, which may be divided.
func (c *Compounds) Add(line string) {
	for end := strings.IndexByte(line, ' '); end >= 0; end = strings.IndexByte(line, ' ') {
		word := line[:end]
		line = line[end+1:]
		if !strings.ContainsAny(word, "-\u2010") || len(c.words) >= mostCompounds {
			continue
		}
		if c.words == nil {
			c.words = map[string]struct{}{}
		}
		c.words[compound(word)] = struct{}{}
	}
}

// has reports whether a document has the word of both parts with a hyphen between.
func (c *Compounds) has(first, second string) bool {
	if len(c.words) == 0 {
		return false
	}
	_, ok := c.words[compound(first+"-"+second)]
	return ok
}

// compound returns the form in which a word is stored.
func compound(word string) string {
	word = strings.TrimFunc(word, func(r rune) bool { return !isWordRune(r) })
	return strings.ToLower(strings.ReplaceAll(word, "\u2010", "-"))
}

// joinLines joins the lines of a paragraph: by a blank, by nothing within Chinese, Japanese and
// Korean text, and without the hyphen of a divided word.
func joinLines(parts []string, known *Compounds) string {
	var out []byte
	for _, part := range parts {
		drop, glue := LineEnd(string(out[max(0, len(out)-longestWord):]), part, known)
		out = append(out[:len(out)-drop], glue...)
		out = append(out, part...)
	}
	return string(out)
}

// longestWord bounds the word at the end of a line that is looked at, in bytes.
const longestWord = 256

// LineEnd returns how many bytes at the end of a line are dropped when the next line is joined to
// it, and the text that is put between them. The hyphen of a known compound stays.
func LineEnd(text, next string, known *Compounds) (drop int, glue string) {
	if text == "" || next == "" || wide(text, next) {
		return 0, ""
	}
	hyphen, size := utf8.DecodeLastRuneInString(text)
	if !strings.ContainsRune("-\u2010\u00ad", hyphen) {
		return 0, " "
	}
	word := text[strings.LastIndexByte(text, ' ')+1 : len(text)-size]
	nextWord, _, _ := strings.Cut(next, " ")
	before, _ := utf8.DecodeLastRuneInString(word)
	after, _ := utf8.DecodeRuneInString(next)
	switch {
	case word == "" || !isWordRune(before) || !isWordRune(after):
		return 0, " "
	case hyphen == '\u00ad':
		return size, ""
	case isConjunction(next): // of two words of which the second has the common part
		return 0, " "
	case known.has(word, nextWord) || isCompound(word, nextWord):
		return 0, ""
	case unicode.IsLetter(before) && unicode.IsLower(after) && !strings.ContainsFunc(word, isInsideCode):
		return size, ""
	}
	return 0, ""
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isCompound reports whether two parts of a word have a hyphen between them wherever they stand.
func isCompound(first, second string) bool {
	if strings.Count(second, "-") > 1 {
		return true // state-of-the-art
	}
	second = compound(second)
	switch compound(first) {
	case "well":
		return second != "ness"
	case "self":
		return second != "ish" && second != "ishness" && second != "less" && second != "lessness"
	}
	return false
}

// isInsideCode reports characters of words in which a hyphen is part of the spelling, such as
// addresses.
func isInsideCode(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune("-\u2010\u2011/._@:=", r)
}

// isConjunction reports whether a line begins with a word that joins two others, as in two- and
// three-line.
func isConjunction(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch strings.TrimRight(word, ".,") {
	case "and", "or", "und", "oder", "sowie", "bzw":
		return true
	}
	return false
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

// isArticle reports whether a line begins with the number of an article, as 第三条 in contracts and
// laws, and a blank. Without one it may be a reference inside a sentence.
func isArticle(line string) bool {
	number, _, _ := strings.Cut(line, " ")
	rest, ok := strings.CutPrefix(number, "第")
	if !ok {
		return false
	}
	mark := strings.TrimLeft(rest, "0123456789零〇一二三四五六七八九十百千")
	return len(mark) < len(rest) && (mark == "条" || mark == "條")
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
