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

	"github.com/easel-canvas/easel/host/internal/knowledge/wordcache"
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
	// Number is that of Text: equal terms of an analyzer have equal ones, until [Analyzer.Trim].
	Number int32
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

	texts    []string         // of terms, by number
	numbers  map[string]int32 // of terms
	words    []word
	known    map[string]int32 // places in words, by the word as fold gives it
	frequent *wordcache.Cache // the same for the most frequent words; nil while there are few
	folded   []byte           // buffer
}

// word is what a word becomes.
type word struct {
	term int32 // number
	stop bool
}

// longestTerm is the size up to which a word is a term, in bytes; longer words are cut.
const longestTerm = 128

const (
	// mostWords bounds how many words, and how many terms, an analyzer remembers.
	mostWords = 1 << 16
	// fewWords is up to how many words a map is as fast as a table of frequent ones; questions have
	// no more.
	fewWords = 256
)

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
	a := &Analyzer{stem: stem, numbers: map[string]int32{}, known: map[string]int32{}}
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

// Trim forgets the numbers of all terms when there are many, and reports whether it did. Until the
// next call an analyzer takes memory for each word that is new to it.
func (a *Analyzer) Trim() bool {
	if len(a.words) < mostWords && len(a.texts) < mostWords {
		return false
	}
	a.texts, a.words = nil, nil
	clear(a.numbers)
	clear(a.known)
	a.frequent = nil
	return true
}

// Terms is how many numbers of terms are in use: they are below it.
func (a *Analyzer) Terms() int { return len(a.texts) }

// term makes a term of text[start:end].
func (a *Analyzer) term(text string, start, end int) Term {
	w := a.words[a.place(a.fold(text[start:end]))]
	return Term{Text: a.texts[w.term], Number: w.term, Start: start, End: end, Stop: w.stop}
}

// place is where words has a folded word.
func (a *Analyzer) place(folded []byte) int32 {
	key, frequent := wordcache.KeyOf(folded)
	if frequent = frequent && a.frequent != nil; frequent {
		if n, ok := a.frequent.Get(key); ok {
			return n
		}
	}
	n, ok := a.known[string(folded)]
	if !ok {
		text := string(folded)
		n = int32(len(a.words))
		a.words = append(a.words, word{a.number(a.stem(text)), a.stops[text]})
		a.known[text] = n
		if a.frequent == nil && len(a.words) > fewWords {
			a.frequent = &wordcache.Cache{}
		}
	}
	if frequent {
		a.frequent.Put(key, n)
	}
	return n
}

// number is that of a term.
func (a *Analyzer) number(term string) int32 {
	n, ok := a.numbers[term]
	if !ok {
		term = strings.Clone(term) // it may be a part of a large text
		n = int32(len(a.texts))
		a.texts = append(a.texts, term)
		a.numbers[term] = n
	}
	return n
}

// fold is a word in lower case, without a possessive ending and in composed form, until the next
// call.
func (a *Analyzer) fold(word string) []byte {
	a.folded = a.folded[:0]
	n := 0
	for n < min(len(word), longestTerm) && isASCIIWord(word[n]) {
		c := word[n]
		if c <= 'Z' && 'A' <= c {
			c |= 0x20
		}
		a.folded = append(a.folded, c)
		n++
	}
	if n == len(word) {
		return a.folded
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
		if len(a.folded)+utf8.RuneLen(r) > longestTerm {
			break
		}
		a.folded = utf8.AppendRune(a.folded, r)
	}
	if !ascii && !norm.NFC.IsNormal(a.folded) {
		a.folded = norm.NFC.Append(nil, a.folded...)
	}
	return bytes.TrimSuffix(a.folded, []byte("'s"))
}

// appendPairs adds the pairs of the run of wide characters that begins at start, and each character
// alone. A run of one character is its own term.
func (a *Analyzer) appendPairs(dst []Term, text string, start int) (_ []Term, end int) {
	_, size := utf8.DecodeRuneInString(text[start:])
	at, pos := start, start+size
	for n := 1; ; n++ {
		r, size := utf8.DecodeRuneInString(text[pos:])
		more := pos < len(text) && isWide(r)
		dst = append(dst, a.wide(text, at, pos))
		dst[len(dst)-1].Single = more || n > 1
		if !more {
			return dst, pos
		}
		dst = append(dst, a.wide(text, at, pos+size))
		at, pos = pos, pos+size
	}
}

// wide is the term text[start:end] as it is.
func (a *Analyzer) wide(text string, start, end int) Term {
	n := a.number(text[start:end])
	return Term{Text: a.texts[n], Number: n, Start: start, End: end}
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
