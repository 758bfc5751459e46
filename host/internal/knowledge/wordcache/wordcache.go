// Package wordcache remembers a number for each of the most frequent words of texts.
//
// A [Cache] is a table of fixed size in which a word may displace another, so its user keeps the
// numbers in a map as well. Most words of a text are few, and finding them as two integers is
// cheaper than hashing and comparing strings. A Cache is for one goroutine at a time.
package wordcache

import "math/bits"

// Longest is the length in bytes up to which words are remembered.
const Longest = 16

// sets is the number of sets of two places; the table has 768 KB, of which most words of a text use
// a part that fits a processor's cache.
const (
	setBits = 14
	sets    = 1 << setBits
)

// Cache is a table of words. The zero value is empty.
type Cache struct {
	places [sets][2]place
}

type place struct {
	low, high uint64
	length    int32
	value     int32
}

// Key is a word as integers. Two words have the same one only when they are equal.
type Key struct {
	low, high uint64
	length    int32 // 0: no word
}

func (p *place) has(k Key) bool { return p.low == k.low && p.high == k.high && p.length == k.length }

// KeyOf returns the key of a word; ok is false for one that is empty or longer than [Longest].
func KeyOf[T string | []byte](word T) (k Key, ok bool) {
	n := len(word)
	k.length = int32(n)
	switch {
	case n == 0 || n > Longest:
		return Key{}, false
	case n >= 8:
		k.low, k.high = load8(word), load8(word[n-8:])
	case n >= 4:
		k.low = load4(word) | load4(word[n-4:])<<32
	default:
		k.low = uint64(word[0]) | uint64(word[n/2])<<8 | uint64(word[n-1])<<16
	}
	return k, true
}

func load8[T string | []byte](b T) uint64 { return load4(b) | load4(b[4:])<<32 }

func load4[T string | []byte](b T) uint64 {
	_ = b[3]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
}

// Hash returns a hash of the key whose bits are all alike.
func (k Key) Hash() uint64 {
	high, low := bits.Mul64(k.low^0x9E3779B97F4A7C15, k.high^0xD6E8FEB86659FD93+uint64(k.length))
	high, low = bits.Mul64(high^low, 0x9FB21C651E98DF25)
	return high ^ low
}

// set returns the number of the set of a word.
func (k Key) set() uint64 { return k.Hash() % sets }

// Get returns the number of a word; ok is false when it is not in the table.
func (c *Cache) Get(k Key) (value int32, ok bool) {
	s := &c.places[k.set()]
	switch {
	case s[0].has(k):
		return s[0].value, true
	case s[1].has(k):
		s[0], s[1] = s[1], s[0]
		return s[0].value, true
	}
	return 0, false
}

// Put remembers the number of a word that is not in the table. The word of its set that was not
// read for longer leaves the table.
func (c *Cache) Put(k Key, value int32) {
	s := &c.places[k.set()]
	s[0], s[1] = place{k.low, k.high, k.length, value}, s[0]
}
