package engine

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Sizes of parsed JSON in memory, in bytes; [TestParsingReservesWhatItAllocates] compares with the
// allocator.
const (
	sizeOfEntry  = 32 // an element of a list
	sizeOfMember = 48 // a name with its value
	sizeOfTree   = 80 // a list or an object itself
	sizeOfSlot   = 25 // of the index of an object's names
	sizeOfText   = 16 // of a string with escapes, besides its bytes
)

// layout is the result of one pass over a JSON text before it is parsed, so that the parser
// allocates every list and object once, in its final size.
type layout struct {
	counts []uint32 // entries of each list and object that is not empty, in the order of their opening brackets
	valid  bool     // the text is UTF-8
}

// measure reads the layout of a text. It calls reserve, which may be nil, with the number of bytes
// that it and the parser allocate, before they do. A text that is not JSON is measured up to where
// the parser stops, or beyond.
func measure(s string, reserve func(n int64) error) (layout, error) {
	l := layout{valid: utf8.ValidString(s)}
	bytes := int64(0)
	if !l.valid {
		bytes = 9 * int64(len(s)) // strings are copied into buffers that grow to twice their size
	}
	open := make([]uint32, 0, 32) // indexes into counts
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			end, escaped := stringEnd(s, i+1)
			if escaped {
				bytes += int64(end-i) + sizeOfText
			}
			i = end
		case '[', '{':
			next := skipSpace(s, i+1)
			if next < len(s) && s[next] == c+2 {
				i = next
				continue
			}
			if len(open) > MaxDepth {
				return l, reserveBytes(reserve, bytes) // the parser stops here
			}
			if len(l.counts) == cap(l.counts) {
				room := max(8, 2*cap(l.counts))
				if err := reserveBytes(reserve, 4*int64(room)); err != nil {
					return l, err
				}
				l.counts = append(make([]uint32, 0, room), l.counts...)
			}
			open = append(open, uint32(len(l.counts)))
			l.counts = append(l.counts, 1)
			bytes += sizeOfTree + sizeOf(c == '{', 1)
		case ',':
			if len(open) > 0 {
				l.counts[open[len(open)-1]]++
			}
		case ']', '}':
			if len(open) > 0 {
				n := l.counts[open[len(open)-1]]
				open = open[:len(open)-1]
				bytes += sizeOf(c == '}', n) - sizeOf(c == '}', 1)
			}
		}
	}
	for _, at := range open { // the text breaks off; the parser has allocated them by then
		bytes += sizeOf(true, l.counts[at])
	}
	return l, reserveBytes(reserve, bytes)
}

func reserveBytes(reserve func(n int64) error, n int64) error {
	if reserve == nil {
		return nil
	}
	return reserve(n)
}

// sizeOf returns the size of n entries of a list or an object.
func sizeOf(object bool, n uint32) int64 {
	if !object {
		return sizeOfEntry * int64(n)
	}
	size := sizeOfMember * int64(n)
	if n >= indexFrom {
		// The index is a hash table with a power of two of slots, which grows when it is used to
		// 7/8, and its parts earlier when they are not equally full.
		size += sizeOfSlot << bits.Len64(uint64(n)*4/3)
	}
	return size
}

// stringEnd returns the index of the quote that ends a string whose text begins at i, or the length
// of s, and whether the string holds escapes.
func stringEnd(s string, i int) (end int, escaped bool) {
	for short := min(len(s), i+16); i < short; i++ { // of most strings; the search below costs more to begin with
		switch s[i] {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	for quote := i - 1; i < len(s); { // the next quote, when it is not before i
		if quote < i {
			quote = len(s)
			if n := strings.IndexByte(s[i:], '"'); n >= 0 {
				quote = i + n
			}
		}
		n := strings.IndexByte(s[i:quote], '\\')
		if n < 0 {
			return quote, escaped
		}
		escaped = true
		i += n + 2
	}
	return len(s), escaped
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}
