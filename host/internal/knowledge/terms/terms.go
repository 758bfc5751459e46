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
	// Stop marks words that occur in nearly every English text. An index stores them, but a query
	// uses them only when it has no other terms.
	Stop bool
	// Single marks one character out of a run of several of a script without blanks. It does not
	// count as a word of the text.
	Single bool
}

// Analyzer splits text into terms.
type Analyzer struct {
	stem  func(string) string
	stops map[string]bool

	texts    []string          // of terms, by number
	numbers  map[string]int32  // of terms
	words    map[string]Number // terms by the result of fold for a word
	frequent *wordcache.Cache  // the same for the most frequent words; nil while there are few
	folded   []byte            // buffer
}

// Number is a term as a number with its marks. Equal terms of an analyzer have equal ones until
// [Analyzer.Trim].
type Number int32

const (
	stop Number = 1 << iota
	single
	markBits = iota
)

// Index returns the number of the term, from 0.
func (n Number) Index() int { return int(n >> markBits) }

// IsWord reports whether the term counts as a word of a text: it is neither a stop word nor a
// single character.
func (n Number) IsWord() bool { return n&(stop|single) == 0 }

// longestTerm is the size up to which a word is a term, in bytes; longer words are cut.
const longestTerm = 128

const (
	// mostWords bounds the words, and the terms, that an analyzer remembers after [Analyzer.Trim].
	mostWords = 1 << 16
	// fewWords is the number of words up to which a map is as fast as a table of frequent ones;
	// questions have no more.
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
	a := &Analyzer{stem: stem, numbers: map[string]int32{}, words: map[string]Number{}}
	if s.Language == "english" {
		a.stops = stopWords
	}
	return a, nil
}

// Normal returns the settings with their defaults filled in.
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
	a.each(text, func(start, end int, n Number) {
		dst = append(dst, Term{
			Text: a.texts[n.Index()], Start: start, End: end, Stop: n&stop != 0, Single: n&single != 0,
		})
	})
	return dst
}

// AppendNumbers adds the terms of a text to dst like [Analyzer.Append].
func (a *Analyzer) AppendNumbers(dst []Number, text string) []Number {
	a.each(text, func(_, _ int, n Number) { dst = append(dst, n) })
	return dst
}

// Text returns the term with an index.
func (a *Analyzer) Text(index int) string { return a.texts[index] }

// Terms returns the number of terms with numbers: their indexes are below it.
func (a *Analyzer) Terms() int { return len(a.texts) }

// each calls found with the terms of a text, in order.
func (a *Analyzer) each(text string, found func(start, end int, n Number)) {
	for i := 0; i < len(text); {
		if end := a.foldASCII(text, i); end > i {
			found(i, end, a.word(a.folded))
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isWide(r):
			i = a.pairs(text, i, found)
		case isWord(r):
			end := wordEnd(text, i)
			found(i, end, a.word(a.fold(text[i:end])))
			i = end
		default:
			i += size
		}
	}
}

// Query returns the terms of a question: without stop words and Chinese question words unless there
// is nothing else. Characters of Chinese count besides their pairs: people and documents seldom
// choose the same two-character word, but often one with a character in common.
func (a *Analyzer) Query(text string) []string { return a.query(text, true) }

// Marked returns the terms of a question that are marked in texts: [Analyzer.Query] without the
// single characters, of which a text is full.
func (a *Analyzer) Marked(text string) []string { return a.query(text, false) }

func (a *Analyzer) query(text string, singles bool) []string {
	if without := withoutAsking(text); without != text {
		if out := a.query(without, singles); len(out) > 0 {
			return out
		}
	}
	all := a.Append(nil, text)
	var out, stops []string
	for _, t := range all {
		switch {
		case t.Single && !(singles && isContent(t.Text)):
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
	a.texts = nil
	clear(a.words)
	clear(a.numbers)
	a.frequent = nil
	return true
}

// word returns the term of a folded word.
func (a *Analyzer) word(folded []byte) Number {
	key, frequent := wordcache.KeyOf(folded)
	if frequent = frequent && a.frequent != nil; frequent {
		if n, ok := a.frequent.Get(key); ok {
			return Number(n)
		}
	}
	n, ok := a.words[string(folded)]
	if !ok {
		text := string(folded)
		if n = a.number(a.stem(text)); a.stops[text] {
			n |= stop
		}
		a.words[text] = n
		if a.frequent == nil && len(a.words) > fewWords {
			a.frequent = &wordcache.Cache{}
		}
	}
	if frequent {
		a.frequent.Put(key, int32(n))
	}
	return n
}

// number returns the number of a term, without marks.
func (a *Analyzer) number(term string) Number {
	n, ok := a.numbers[term]
	if !ok {
		term = strings.Clone(term) // it may be a part of a large text
		n = int32(len(a.texts))
		a.texts = append(a.texts, term)
		a.numbers[term] = n
	}
	return Number(n) << markBits
}

// foldASCII folds the word that begins at start and returns its end, or 0 if the word may have more
// than ASCII letters and digits, or is empty.
func (a *Analyzer) foldASCII(text string, start int) (end int) {
	folded := a.folded[:0]
	for i := start; i < len(text); i++ {
		c := text[i]
		if low := lowASCII[c]; low != 0 {
			if len(folded) == longestTerm {
				return 0
			}
			folded = append(folded, low)
			continue
		}
		if c >= utf8.RuneSelf || c == '\'' || (c == '.' || c == ',') && i > start && text[i-1] <= '9' {
			return 0
		}
		break
	}
	a.folded = folded
	return start + len(folded)
}

// lowASCII are ASCII letters, in lower case, and digits; other bytes are 0.
var lowASCII = func() (table [256]byte) {
	for c := range table {
		if c := byte(c); isASCIIWord(c) {
			table[c] = c
			if c <= 'Z' && 'A' <= c {
				table[c] |= 0x20
			}
		}
	}
	return table
}()

// fold returns a word in lower case, without a possessive ending and in composed form, until the
// next call.
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

// pairs calls found with the pairs of the run of wide characters that begins at start, and with
// each character alone. A run of one character is its own term.
func (a *Analyzer) pairs(text string, start int, found func(start, end int, n Number)) (end int) {
	_, size := utf8.DecodeRuneInString(text[start:])
	at, pos := start, start+size
	for n := 1; ; n++ {
		r, size := utf8.DecodeRuneInString(text[pos:])
		more := pos < len(text) && isWide(r)
		character := a.number(text[at:pos])
		if more || n > 1 {
			character |= single
		}
		found(at, pos, character)
		if !more {
			return pos
		}
		found(at, pos+size, a.number(text[at:pos+size]))
		at, pos = pos, pos+size
	}
}

// wordEnd returns the end of the word that begins at start. An apostrophe between letters belongs
// to a word, and so does a point or comma between digits.
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

// stopWords of Lucene's English analyzer.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq("a an and are as at be but by for if in into is it no not of on or such that " +
		"the their then there these they this to was will with") {
		set[w] = true
	}
	return set
}()

// askingWords are words of English questions without a meaning for the search, besides stop words.
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
