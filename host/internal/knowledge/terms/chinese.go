package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// askingChinese are words with which questions are put in Chinese, longer ones before their parts.
// Chunks that answer a question seldom have them.
var askingChinese = func() []string {
	list := strings.Fields("为什么 怎么样 怎么办 什么样 什么时候 有没有 是不是 能不能 可不可以 多少 多久 多长时间 " +
		"怎样 怎么 如何 什么 哪里 哪儿 哪个 哪些 哪位 是否 请问 为何 能否 可否 吗 呢 " +
		"為什麼 怎麼樣 怎麼辦 什麼樣 什麼時候 有沒有 能不能 怎樣 怎麼 什麼 哪裡 哪兒 哪個 請問 為何 嗎")
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}()

// particles are characters of grammar. They count in words, as in 目的, and not alone.
const particles = "的了是在有和就都也很要会能可以我你他她它们这那不一个着过吧啊会個們這"

// withoutAsking returns a question with blanks where words of asking stood.
func withoutAsking(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return text
	}
	for _, word := range askingChinese {
		text = strings.ReplaceAll(text, word, " ")
	}
	return text
}

// isContent reports whether a term is one Chinese character that is not of grammar.
func isContent(term string) bool {
	r, size := utf8.DecodeRuneInString(term)
	return size == len(term) && unicode.Is(unicode.Han, r) && !strings.ContainsRune(particles, r)
}
