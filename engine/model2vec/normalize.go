package model2vec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addNormalizer adds the operations of a normalizer of the file.
func (t *tokenizer) addNormalizer(p *part) error {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.Normalizers {
			if err := t.addNormalizer(&p.Normalizers[i]); err != nil {
				return err
			}
		}
	case "BertNormalizer":
		t.normalize = append(t.normalize, p.bert)
	case "Lowercase":
		t.normalize = append(t.normalize, strings.ToLower)
	case "StripAccents":
		t.normalize = append(t.normalize, stripAccents)
	case "Strip":
		t.normalize = append(t.normalize, p.strip)
	case "Prepend":
		t.normalize = append(t.normalize, func(s string) string { return p.Prepend + s })
	case "Replace":
		return t.addReplace(p)
	case "Precompiled":
		m, err := readCharsmap(p.Charsmap)
		if err != nil {
			return err
		}
		t.normalize = append(t.normalize, m.normalize)
	case "NFD", "NFKD", "NFC", "NFKC": // accents are composed in nearly all texts, and looked up so
	default:
		return fmt.Errorf("unknown type %q (one of Sequence, BertNormalizer, Lowercase, StripAccents, Strip, Prepend, "+
			"Replace, Precompiled, NFD, NFKD, NFC, NFKC)", p.Type)
	}
	return nil
}

// addReplace replaces a string, or runs of blanks by one: the only pattern that models use.
func (t *tokenizer) addReplace(p *part) error {
	switch {
	case p.Pattern.Regex == nil:
		t.normalize = append(t.normalize, func(s string) string {
			return strings.ReplaceAll(s, p.Pattern.String,
				p.Content)
		})
	case *p.Pattern.Regex == " {2,}":
		t.normalize = append(t.normalize, func(s string) string { return collapse(s, p.Content) })
	default:
		return fmt.Errorf("replace: unknown pattern %q (strings and \" {2,}\" are supported)", *p.Pattern.Regex)
	}
	return nil
}

// collapse replaces each run of two blanks or more.
func collapse(s, by string) string {
	var b strings.Builder
	for s != "" {
		at := strings.Index(s, "  ")
		if at < 0 {
			break
		}
		b.WriteString(s[:at] + by)
		s = strings.TrimLeft(s[at:], " ")
	}
	return b.String() + s
}

func (p *part) strip(s string) string {
	if p.Left {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if p.Right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

// bert returns the normalizer of BERT.
func (p *part) bert(s string) string {
	if p.CleanText {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == 0 || r == utf8.RuneError || unicode.Is(unicode.C, r) && !unicode.IsSpace(r):
				return -1
			case unicode.IsSpace(r):
				return ' '
			}
			return r
		}, s)
	}
	if p.Chinese {
		var b strings.Builder
		for _, r := range s {
			if isIdeograph(r) {
				b.WriteString(" " + string(r) + " ")
			} else {
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	if p.StripAccents != nil && *p.StripAccents || p.StripAccents == nil && p.Lowercase {
		s = stripAccents(s)
	}
	if p.Lowercase {
		s = strings.ToLower(s)
	}
	return s
}

// isIdeograph reports whether BERT puts blanks around a character.
func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// stripAccents removes accents from letters.
func stripAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0xC0 {
			return r
		}
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		if plain, ok := plainLetters[r]; ok {
			return plain
		}
		return r
	}, s)
}

// plainLetters are letters without their accents.
var plainLetters = func() map[rune]rune {
	m := map[rune]rune{}
	for group := range strings.FieldsSeq(accented) {
		plain, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			m[r] = plain
		}
	}
	return m
}()

// addSplitter adds the splitting of a pre-tokenizer of the file.
func (t *tokenizer) addSplitter(p *part) error {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.Pretokenizers {
			if err := t.addSplitter(&p.Pretokenizers[i]); err != nil {
				return err
			}
		}
	case "BertPreTokenizer":
		t.split = append(t.split, each(strings.Fields), each(aroundPunctuation))
	case "WhitespaceSplit":
		t.split = append(t.split, each(strings.Fields))
	case "Whitespace":
		t.split = append(t.split, each(strings.Fields), each(wordRuns))
	case "Punctuation":
		t.split = append(t.split, each(aroundPunctuation))
	case "Metaspace":
		t.split = append(t.split, metaspace(p))
	default:
		return fmt.Errorf("unknown type %q (one of Sequence, BertPreTokenizer, WhitespaceSplit, Whitespace, "+
			"Punctuation, Metaspace)", p.Type)
	}
	return nil
}

func each(split func(string) []string) func([]string) []string {
	return func(words []string) (out []string) {
		for _, w := range words {
			out = append(out, split(w)...)
		}
		return out
	}
}

// aroundPunctuation makes each punctuation mark a word.
func aroundPunctuation(s string) (out []string) {
	start := 0
	for i, r := range s {
		if !isPunctuation(r) {
			continue
		}
		if i > start {
			out = append(out, s[start:i])
		}
		start = i + utf8.RuneLen(r)
		out = append(out, s[i:start])
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !isWordRune(r) || r == '_'
	}
	return unicode.IsPunct(r)
}

// wordRuns cuts where letters and other characters meet.
func wordRuns(s string) (out []string) {
	start := 0
	var before bool
	for i, r := range s {
		is := isWordRune(r)
		if i > start && is != before {
			out = append(out, s[start:i])
			start = i
		}
		before = is
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// charsmap maps prefixes of texts to other texts: the normalizer of SentencePiece, a double-array
// trie whose values are places in a list of strings that end with a zero byte.
type charsmap struct {
	trie    []uint32
	strings string
}

var errCharsmap = errors.New("precompiled_charsmap is damaged")

func readCharsmap(data []byte) (*charsmap, error) {
	if len(data) < 4 {
		return nil, errCharsmap
	}
	size := int(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if size > len(data) || size%4 != 0 || size == 0 {
		return nil, errCharsmap
	}
	m := &charsmap{strings: string(data[size:])}
	for i := 0; i < size; i += 4 {
		m.trie = append(m.trie, binary.LittleEndian.Uint32(data[i:]))
	}
	return m, nil
}

// transform returns the replacement of the shortest known prefix of a text.
func (m *charsmap) transform(text string) (string, bool) {
	at := offset(m.trie[0])
	for i := range len(text) {
		at ^= uint32(text[i])
		if text[i] == 0 || int(at) >= len(m.trie) {
			return "", false
		}
		unit := m.trie[at]
		if unit&(1<<31|0xFF) != uint32(text[i]) {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if int(at) >= len(m.trie) {
			return "", false
		}
		value := int(m.trie[at] & (1<<31 - 1))
		if value >= len(m.strings) {
			return "", false
		}
		to, _, _ := strings.Cut(m.strings[value:], "\x00")
		return to, true
	}
	return "", false
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// normalize replaces each character with its accents, or else each character.
func (m *charsmap) normalize(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i + firstRune(s[i:])
		whole := end
		for whole < len(s) {
			r, size := utf8.DecodeRuneInString(s[whole:])
			if !unicode.Is(unicode.M, r) {
				break
			}
			whole += size
		}
		const longestGroup = 6 // bytes, as in SentencePiece
		if to, ok := m.transform(s[i:whole]); ok && whole-i < longestGroup {
			b.WriteString(to)
			i = whole
			continue
		}
		for ; i < whole; i = end {
			end = i + firstRune(s[i:])
			if to, ok := m.transform(s[i:end]); ok {
				b.WriteString(to)
			} else {
				b.WriteString(s[i:end])
			}
		}
	}
	return b.String()
}

// firstRune returns the size of the first character.
func firstRune(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}
