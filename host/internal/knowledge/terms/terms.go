// Package terms splits text into the terms that an index stores and searches.
//
// A term is a word in lower case without its ending, or a pair of neighbouring characters of a
// script without blanks between words (Chinese, Japanese, Korean). The same [Settings] must be used
// for documents and for queries. An [Analyzer] is for one goroutine at a time.
package terms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Settings say how words become terms. The zero value is English.
type Settings struct {
	// Language is "english", another of [Languages], or "none"; "" means english.
	Language string `json:"language"`
	// Stemmer removes the endings of words: "porter", "none", or one of [Languages]; "" means
	// porter for English and the language's own otherwise.
	Stemmer string `json:"stemmer"`
}

// Term is a term and the bytes of the text that it comes from.
type Term struct {
	Text       string
	Start, End int
	// Stop marks words that occur in nearly every English text. An index stores them, but a query
	// uses them only when it has no other terms.
	Stop bool
	// Single marks one character out of a run of several of a script without blanks. It is found by
	// a query of one character and does not count as a word of the text.
	Single bool
}

// Analyzer splits text into terms.
type Analyzer struct {
	stem  func(string) string
	stops map[string]bool
	cache map[string]cached // by the word as fold gives it
	word  []byte
}

// cached is what a word becomes.
type cached struct {
	term string
	stop bool
}

// longestTerm is the size up to which a word is a term, in bytes; longer words are cut.
const longestTerm = 128

// cachedWords bounds how many words an analyzer remembers the stem of.
const cachedWords = 1 << 16

// New makes an analyzer.
func New(s Settings) (*Analyzer, error) {
	s = s.Normal()
	if s.Language != "none" && !slices.Contains(Languages(), s.Language) {
		return nil, fmt.Errorf("unknown language %q (one of none, %s)", s.Language, strings.Join(Languages(), ", "))
	}
	stem, err := stemmer(s.Stemmer)
	if err != nil {
		return nil, err
	}
	a := &Analyzer{stem: stem, cache: map[string]cached{}}
	if s.Language == "english" {
		a.stops = stopWords
	}
	return a, nil
}

// Normal is the settings with their defaults filled in.
func (s Settings) Normal() Settings {
	s.Language, s.Stemmer = strings.ToLower(s.Language), strings.ToLower(s.Stemmer)
	if s.Language == "" {
		s.Language = "english"
	}
	if s.Stemmer == "" {
		s.Stemmer = s.Language
		if s.Language == "english" {
			s.Stemmer = "porter"
		}
	}
	return s
}

// Append adds the terms of a text to dst, in order.
func (a *Analyzer) Append(dst []Term, text string) []Term {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isWide(r):
			var end int
			dst, end = a.appendPairs(dst, text, i)
			i = end
		case isWord(r):
			end := wordEnd(text, i)
			dst = append(dst, a.term(text, i, end))
			i = end
		default:
			i += size
		}
	}
	return dst
}

// Query is the terms of a question: without stop words and single characters unless there is
// nothing else.
func (a *Analyzer) Query(text string) []string {
	all := a.Append(nil, text)
	var out, stops []string
	for _, t := range all {
		switch {
		case t.Single:
		case t.Stop:
			stops = append(stops, t.Text)
		default:
			out = append(out, t.Text)
		}
	}
	if len(out) == 0 {
		return stops
	}
	return out
}

// term makes a term of text[start:end].
func (a *Analyzer) term(text string, start, end int) Term {
	t := Term{Start: start, End: end}
	folded := a.fold(text[start:end])
	c, ok := a.cache[string(folded)]
	if !ok {
		word := string(folded)
		c = cached{a.stem(word), a.stops[word]}
		if len(a.cache) >= cachedWords {
			clear(a.cache)
		}
		a.cache[word] = c
	}
	t.Text, t.Stop = c.term, c.stop
	return t
}

// fold is a word in lower case, without a possessive ending and in composed form, until the next
// call.
func (a *Analyzer) fold(word string) []byte {
	a.word = a.word[:0]
	n := 0
	for n < min(len(word), longestTerm) && isASCIIWord(word[n]) {
		c := word[n]
		if c <= 'Z' && 'A' <= c {
			c |= 0x20
		}
		a.word = append(a.word, c)
		n++
	}
	if n == len(word) {
		return a.word
	}
	ascii := true
	for _, r := range word[n:] {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
		case r == '’' || r == '＇':
			r = '\''
		default:
			ascii = false
			r = unicode.ToLower(halfWidth(r))
		}
		if len(a.word)+utf8.RuneLen(r) > longestTerm {
			break
		}
		a.word = utf8.AppendRune(a.word, r)
	}
	if !ascii && !norm.NFC.IsNormal(a.word) {
		a.word = norm.NFC.Append(nil, a.word...)
	}
	return bytes.TrimSuffix(a.word, []byte("'s"))
}

// appendPairs adds the pairs of the run of wide characters that begins at start, and each character
// alone. A run of one character is its own term.
func (a *Analyzer) appendPairs(dst []Term, text string, start int) (_ []Term, end int) {
	last, size := utf8.DecodeRuneInString(text[start:])
	at, pos := start, start+size
	for n := 1; ; n++ {
		r, size := utf8.DecodeRuneInString(text[pos:])
		more := pos < len(text) && isWide(r)
		dst = append(dst, Term{Text: string(last), Start: at, End: pos, Single: more || n > 1})
		if !more {
			return dst, pos
		}
		dst = append(dst, Term{Text: string([]rune{last, r}), Start: at, End: pos + size})
		last, at, pos = r, pos, pos+size
	}
}

// wordEnd is where the word that begins at start ends. An apostrophe between letters belongs to a
// word, and so does a point or comma between digits.
func wordEnd(text string, start int) int {
	var before rune
	i := start
	for i < len(text) && isASCIIWord(text[i]) {
		before = rune(text[i])
		i++
	}
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isWord(r) && !isWide(r):
		case joins(before, r, text[i+size:]):
		default:
			return i
		}
		before, i = r, i+size
	}
	return len(text)
}

// joins reports whether r, which stands between before and rest, belongs to a word.
func joins(before, r rune, rest string) bool {
	switch r {
	case '\'', '’', '＇':
		after, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(before) && unicode.IsLetter(after) && !isWide(after)
	case '.', ',':
		after, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

func isASCIIWord(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(byte(r))
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// isWide reports whether r belongs to a script without blanks between words.
func isWide(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// halfWidth maps the full-width forms of ASCII to ASCII.
func halfWidth(r rune) rune {
	if 0xFF01 <= r && r <= 0xFF5E {
		return r - 0xFEE0
	}
	return r
}

// stopWords are those of Lucene's English analyzer.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq("a an and are as at be but by for if in into is it no not of on or such that " +
		"the their then there these they this to was will with") {
		set[w] = true
	}
	return set
}()

// askingWords are words of English questions that say nothing of what is asked for, besides stop
// words.
const askingWords = "about am been being can could did do does done had has have having he her hers him his how i " +
	"its itself let may me might mine must my myself our ours ourselves please shall she should tell us we were " +
	"what when where whether which who whom whose why would you your yours yourself"

// asking are the stems of askingWords by stemmer.
var asking sync.Map

// Asking returns the terms of words with which questions are put, such as how, may and please. A
// chunk need not hold them to answer a question.
func (s Settings) Asking() map[string]bool {
	s = s.Normal()
	if s.Language != "english" {
		return nil
	}
	if known, ok := asking.Load(s.Stemmer); ok {
		return known.(map[string]bool)
	}
	set := map[string]bool{}
	stem, err := stemmer(s.Stemmer)
	if err != nil {
		return nil // New reports it
	}
	for w := range strings.FieldsSeq(askingWords) {
		set[stem(w)] = true
	}
	asking.Store(s.Stemmer, set)
	return set
}
