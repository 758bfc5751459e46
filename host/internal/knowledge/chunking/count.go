package chunking

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/easel-canvas/easel/host/internal/knowledge/wordcache"
)

// cl100k is the vocabulary by which the original counts, whatever the model. Its tables take
// memory, so they are made when a text is counted.
var cl100k = sync.OnceValue(codec.NewCl100kBase)

// Count counts the tokens of a text in the vocabulary cl100k_base.
//
// The vocabulary splits a text into pieces by a pattern and each piece into tokens. Pieces are
// mostly words, and the same ones: their counts are remembered, which makes counting more than ten
// times as fast as the library.
func Count(text string) int {
	c := counters.Get().(*pieceCounter) // the pool has nothing else
	defer counters.Put(c)
	return c.count(text)
}

// counters are for one goroutine at a time.
var counters = sync.Pool{New: func() any { return &pieceCounter{} }}

// pieceCounter counts tokens and remembers the most frequent pieces without locks.
type pieceCounter struct {
	frequent wordcache.Cache
}

func (c *pieceCounter) count(text string) (total int) {
	for len(text) > 0 {
		n := nextPiece(text)
		total += c.piece(text[:n])
		text = text[n:]
	}
	return total
}

func (c *pieceCounter) piece(piece string) int {
	if len(piece) == 1 {
		return 1
	}
	key, short := wordcache.KeyOf(piece)
	if !short {
		return libraryCount(piece)
	}
	n, ok := c.frequent.Get(key)
	if !ok {
		n = known[key.Hash()%shards].tokens(key, piece)
		c.frequent.Put(key, n)
	}
	return int(n)
}

// The counts of short pieces are remembered, up to a number.
const (
	mostPieces = 1 << 12 // of each shard
	shards     = 32
)

var known [shards]pieceCounts

// pieceCounts are counts of pieces by their keys.
type pieceCounts struct {
	mu     sync.RWMutex
	counts map[wordcache.Key]int32
}

// tokens returns the number of tokens of a piece.
func (c *pieceCounts) tokens(key wordcache.Key, piece string) int32 {
	c.mu.RLock()
	n, ok := c.counts[key]
	c.mu.RUnlock()
	if ok {
		return n
	}
	n = int32(libraryCount(piece))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil || len(c.counts) >= mostPieces {
		c.counts = map[wordcache.Key]int32{}
	}
	c.counts[key] = n
	return n
}

func libraryCount(text string) int {
	n, err := cl100k().Count(text)
	if err != nil {
		// It fails only when its own pattern runs into a time limit, which it does not have.
		panic(fmt.Sprintf("count tokens of %d bytes: %v", len(text), err))
	}
	return n
}

// nextPiece returns the length of the first piece of a text that is not empty, by the pattern of
// cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func nextPiece(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	first, size := utf8.DecodeRuneInString(text)
	switch {
	case isLetter(first):
		return size + letters(text[size:])
	case isNumber(first):
		return numbers(text)
	}
	if first != '\r' && first != '\n' {
		if n := letters(text[size:]); n > 0 {
			return size + n
		}
	}
	if n := punctuation(text); n > 0 {
		return n
	}
	return spaces(text)
}

// contraction returns the length of an English contraction at the beginning of a text, or 0.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 {
		switch strings.ToLower(text[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// isLetter is unicode.IsLetter, faster for ASCII.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r)
}

// isNumber is unicode.IsNumber, faster for ASCII.
func isNumber(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return unicode.IsNumber(r)
}

// isSpace is unicode.IsSpace, faster for ASCII.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return unicode.IsSpace(r)
}

// letters returns the length of the letters at the beginning of a text, in bytes.
func letters(text string) int {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			return i + spanOf(text[i:], unicode.IsLetter)
		case c|0x20 < 'a' || 'z' < c|0x20:
			return i
		}
	}
	return len(text)
}

// spanOf returns the length of the beginning of a text whose characters have a property, in bytes.
func spanOf(text string, has func(rune) bool) int {
	for i, r := range text {
		if !has(r) {
			return i
		}
	}
	return len(text)
}

// numbers returns the length of up to three digits at the beginning of a text.
func numbers(text string) int {
	n := 0
	for i, r := range text {
		if n == 3 || !isNumber(r) {
			return i
		}
		n++
	}
	return len(text)
}

// punctuation returns the length of a blank, characters that are neither letters, numbers nor
// spaces, and line ends.
func punctuation(text string) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	n := spanOf(text[start:], func(r rune) bool {
		return !isSpace(r) && !isLetter(r) && !isNumber(r)
	})
	if n == 0 {
		return 0
	}
	n += start
	for n < len(text) && (text[n] == '\r' || text[n] == '\n') {
		n++
	}
	return n
}

// spaces returns the length of white space: up to its last line end, or else without its last
// character when a word follows, to which that belongs.
func spaces(text string) int {
	end, last, line := 0, 0, 0
	for i, r := range text {
		if !isSpace(r) {
			break
		}
		last, end = i, i+utf8.RuneLen(r)
		if r == '\r' || r == '\n' {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case end == len(text) || last == 0:
		return end
	}
	return last
}
