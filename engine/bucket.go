package engine

import (
	"maps"
	"slices"
)

// bucket is an ordered map of values. Small ones are scanned; from indexFrom keys on there is an
// index.
type bucket struct {
	keys  []string
	vals  []Value
	index map[string]int
	dirty []string // keys changed since the last checkpoint
	bytes int64    // size of keys and values
}

func newBucket(v Value) bucket {
	var b bucket
	for k, x := range v.Fields() {
		b.put(k, x)
	}
	return b
}

func (b *bucket) find(key string) int { return findKey(b.keys, b.index, key) }

func (b *bucket) get(key string) (Value, bool) {
	if i := b.find(key); i >= 0 {
		return b.vals[i], true
	}
	return Null, false
}

// at is get with a guess at the position of the key.
func (b *bucket) at(guess int32, key string) (Value, bool) {
	if i := int(guess) - 1; i >= 0 && i < len(b.keys) && b.keys[i] == key {
		return b.vals[i], true
	}
	return b.get(key)
}

// textAt is at for a string. It is false for other values, and where the guess is wrong.
func (b *bucket) textAt(guess int32, key string) (string, bool) {
	i := int(guess) - 1
	if i < 0 || i >= len(b.keys) || b.keys[i] != key || b.vals[i].kind != KindString {
		return "", false
	}
	return b.vals[i].text, true
}

// set changes a value and remembers that it changed.
func (b *bucket) set(key string, v Value) {
	b.put(key, v)
	if !slices.Contains(b.dirty, key) {
		b.dirty = append(b.dirty, key)
	}
}

func (b *bucket) put(key string, v Value) {
	if i := b.find(key); i >= 0 {
		b.bytes += v.Size() - b.vals[i].Size()
		b.vals[i] = v
	} else {
		b.bytes += slotSize(key, v)
		b.keys = append(b.keys, key)
		b.vals = append(b.vals, v)
		switch {
		case b.index != nil:
			b.index[key] = len(b.keys) - 1
		case len(b.keys) >= indexFrom:
			b.index = indexOf(b.keys)
		}
	}
}

func (b *bucket) value() Value {
	o := NewObject(len(b.keys))
	for i, k := range b.keys {
		o.Set(k, b.vals[i])
	}
	return o.Value()
}

func (b *bucket) clone() bucket {
	c := *b
	c.keys, c.vals, c.index = slices.Clone(b.keys), slices.Clone(b.vals), maps.Clone(b.index)
	c.dirty = slices.Clone(b.dirty)
	return c
}

func (b *bucket) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, key := range b.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendQuoted(dst, key)
		dst = append(dst, ':')
		dst = b.vals[i].AppendJSON(dst)
	}
	return append(dst, '}')
}
