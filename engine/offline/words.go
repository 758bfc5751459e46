package offline

import (
	"slices"
	"strings"
	"unicode"
)

// Words returns the terms by which texts are compared, in order: Latin words and numbers in lower
// case without common endings, and pairs of adjacent characters for scripts without spaces. Stop
// words are omitted. A passage index contains the same terms.
func Words(text string) []string {
	var out []string
	var run []rune
	wide := false
	flush := func() {
		if wide {
			out = appendPairs(out, run)
		} else if w := string(run); len(w) > 1 && !stopWords[w] {
			out = append(out, stem(w))
		}
		run = run[:0]
	}
	for _, r := range text {
		isWide := isWideRune(r)
		if !isWide && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if isWide != wide {
			flush()
			wide = isWide
		}
		run = append(run, unicode.ToLower(r))
	}
	flush()
	return out
}

// appendPairs adds the pairs of a run of wide characters; a single character is its own term.
func appendPairs(out []string, run []rune) []string {
	if len(run) == 1 && !strings.ContainsRune(emptyRunes, run[0]) {
		return append(out, string(run))
	}
	for i := 0; i+1 < len(run); i++ {
		pair := string(run[i : i+2])
		if !strings.ContainsRune(emptyRunes, run[i]) && !strings.ContainsRune(emptyRunes, run[i+1]) &&
			!stopWords[pair] {
			out = append(out, pair)
		}
	}
	return out
}

// stem cuts the most common English endings, so that plural and singular match.
func stem(w string) string {
	for _, end := range [...]string{"ing", "ies", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 {
			return s
		}
	}
	return strings.TrimSuffix(w, "e")
}

func isWideRune(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// isChinese reports whether a text consists mostly of wide characters.
func isChinese(text string) bool {
	wide, narrow := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			wide++
		case unicode.IsLetter(r):
			narrow++
		}
	}
	return wide > 0 && wide*3 >= narrow
}

// emptyRunes are characters whose pairs carry no meaning.
const emptyRunes = "的了吗呢吧啊是在和与及或也都就很我你他她它们这那么请把被"

var stopWords = setOf("a an and are as at be been but by can could did do does for from had has have how i if in " +
	"into is it its may me my no not of on or our please should so tell than that the their them then there these " +
	"they this to us was we were what when where which who whom why will with would you your about any all some " +
	"什么 怎样 如何 可以 一个 一下 为何 哪些 哪个 多少 能否 是否 有关 关于 以及 如果 因为 所以 但是 需要 告诉")

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// uniqueWords returns words without duplicates, in order.
func uniqueWords(text string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(Words(text), func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}

// wordSet returns the set of words.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range Words(text) {
		set[w] = true
	}
	return set
}

// overlap counts the different words of text that are in set.
func overlap(set map[string]bool, text string) int {
	n := 0
	for _, w := range uniqueWords(text) {
		if set[w] {
			n++
		}
	}
	return n
}
