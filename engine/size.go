package engine

import "math"

// Overhead of values besides their text: about that in memory, which also exceeds the punctuation
// in JSON.
const (
	valueSize = 32
	keySize   = 16
)

// maxValueDepth bounds the nesting of an input, an output or a variable. It leaves room below
// MaxDepth for the levels that events, snapshots and documents put around a value, so that they can
// be read again.
const maxValueDepth = MaxDepth - 50

// Size estimates the bytes of v: at least the length of its JSON, and about its memory if nothing
// is shared. Lists and objects store theirs, so the call takes constant time except for long texts.
// A stream counts as null.
func (v Value) Size() int64 {
	switch v.kind {
	case KindString:
		return valueSize + textSize(v.text)
	case KindList, KindObject:
		return valueSize + int64(v.tree.size)
	}
	return valueSize + int64(len(v.text))
}

// unscanned is the length up to which a text is not scanned: escapes add less than valueSize to all
// but unusual texts, and never more than five times the length.
const unscanned = 32

// textSize returns the length of a text inside JSON, without its quotes.
func textSize(s string) int64 {
	if len(s) <= unscanned {
		return int64(len(s))
	}
	n := int64(0)
	for i := 0; i < len(s); i++ {
		n += int64(escapedLen[s[i]])
	}
	return n
}

// escapedLen maps a byte of a text to its length in a JSON string.
var escapedLen = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == '"', c == '\\', c >= '\b' && c <= '\r' && c != '\v':
			t[c] = 2
		case c < ' ':
			t[c] = 6
		default:
			t[c] = 1
		}
	}
	return t
}()

// depth returns the nesting depth of v: 0 for a text, 1 for an empty list.
func (v Value) depth() uint32 {
	if v.kind == KindList || v.kind == KindObject {
		return v.tree.depth
	}
	return 0
}

// hold adds one element to the size and depth of a tree. Sizes saturate at 4 GiB, because shared
// parts can make a value longer than any memory.
func (t *tree) hold(v Value) {
	t.weigh(v.Size())
	t.depth = max(t.depth, deeper(v.depth()))
}

func (t *tree) weigh(n int64) { t.size = uint32(min(int64(t.size)+n, math.MaxUint32)) }

func deeper(d uint32) uint32 {
	if d == math.MaxUint32 {
		return d
	}
	return d + 1
}

// measure counts the elements of a tree that is complete.
func (t *tree) measure() *tree {
	t.size, t.depth = 0, 1
	for _, v := range t.vals {
		t.hold(v)
	}
	for _, k := range t.keys {
		t.weigh(keySize + textSize(k))
	}
	return t
}

// textLen returns len(v.Text()), or any number above most when it is more; it allocates nothing.
func (v Value) textLen(most int64) int64 {
	switch v.kind {
	case KindNull, KindStream:
		return 0
	case KindString, KindNumber, KindBool:
		return int64(len(v.text))
	}
	return v.jsonLen(most, 2)
}

// jsonLen returns the number of bytes v takes as JSON with separators of this length. It stops
// counting above most.
func (v Value) jsonLen(most int64, separator int) int64 {
	switch v.kind {
	case KindNull, KindStream:
		return 4
	case KindBool, KindNumber:
		return int64(len(v.text))
	case KindString:
		return 2 + quotedLen(v.text)
	}
	n := int64(2)
	for i, e := range v.tree.vals {
		if n > most {
			return n
		}
		if i > 0 {
			n += int64(separator)
		}
		if v.kind == KindObject {
			n += 2 + quotedLen(v.tree.keys[i]) + int64(separator)
		}
		n += e.jsonLen(most-n, separator)
	}
	return n
}

// quotedLen is textSize, but inspects every byte.
func quotedLen(s string) int64 {
	n := int64(0)
	for i := 0; i < len(s); i++ {
		n += int64(escapedLen[s[i]])
	}
	return n
}

// parsedSize estimates the size of the value that a text is as JSON, from above. It ignores quotes,
// unlike JSONSize, because lenient readers of JSON and Python literals accept other quotes.
func parsedSize(s string) int64 {
	if len(s) < memoryStep {
		return 0
	}
	n := int64(len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ',' || c == '[' || c == '{' {
			n += valueSize
		}
	}
	return n
}

// slotSize returns the size of a named value.
func slotSize(name string, v Value) int64 { return keySize + int64(len(name)) + v.Size() }
