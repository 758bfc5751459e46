package engine

import (
	"iter"
	"slices"
)

// Key returns the name of member i (0-based) of an object.
func (v Value) Key(i int) string {
	if v.kind != KindObject || i < 0 || i >= len(v.tree.keys) {
		return ""
	}
	return v.tree.keys[i]
}

// Lookup finds a member of an object.
func (v Value) Lookup(key string) (Value, bool) {
	if i := v.find(key); i >= 0 {
		return v.tree.vals[i], true
	}
	return Null, false
}

// Get returns a member of an object, or null.
func (v Value) Get(key string) Value {
	if i := v.find(key); i >= 0 {
		return v.tree.vals[i]
	}
	return Null
}

func (v Value) find(key string) int {
	if v.kind != KindObject {
		return -1
	}
	return findKey(v.tree.keys, v.tree.index, key)
}

// findKey returns the index of a key, or -1. index is nil while a scan is faster.
func findKey(keys []string, index map[string]int, key string) int {
	if index != nil {
		if i, ok := index[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(keys, key)
}

// Fields iterates over the members of an object, in document order.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.kind != KindObject {
			return
		}
		for i, e := range v.tree.vals {
			if !yield(v.tree.keys[i], e) {
				return
			}
		}
	}
}

// With returns the object v with one member set; a member that exists keeps its place. Any other
// kind counts as an empty object.
func (v Value) With(key string, x Value) Value {
	var b ObjectBuilder
	if v.kind == KindObject {
		b.grow(len(v.tree.vals) + 1)
		b.keys = append(b.keys, v.tree.keys...)
		b.vals = append(b.vals, v.tree.vals...)
	}
	b.Set(key, x)
	return b.Value()
}

// Without returns the object v without one member.
func (v Value) Without(key string) Value {
	if v.find(key) < 0 {
		return v
	}
	var b ObjectBuilder
	for k, e := range v.Fields() {
		if k != key {
			b.Set(k, e)
		}
	}
	return b.Value()
}

// ObjectBuilder collects the members of an object in order. The zero value is ready. After Value
// the builder must not be used again.
type ObjectBuilder struct {
	keys  []string
	vals  []Value
	index map[string]int
}

// NewObject returns a builder with room for n members.
func NewObject(n int) *ObjectBuilder {
	b := &ObjectBuilder{}
	b.grow(n)
	return b
}

func (b *ObjectBuilder) grow(n int) {
	b.keys = make([]string, 0, n)
	b.vals = make([]Value, 0, n)
}

// Set adds a member or replaces the value of one that exists, which keeps its place.
func (b *ObjectBuilder) Set(key string, v Value) *ObjectBuilder {
	if i := b.find(key); i >= 0 {
		b.vals[i] = v
		return b
	}
	if b.index != nil {
		b.index[key] = len(b.keys)
	}
	b.keys = append(b.keys, key)
	b.vals = append(b.vals, v)
	return b
}

func (b *ObjectBuilder) find(key string) int {
	if b.index == nil && len(b.keys) >= indexFrom {
		b.index = indexOf(b.keys)
	}
	return findKey(b.keys, b.index, key)
}

// Has reports whether there is a member of this name.
func (b *ObjectBuilder) Has(key string) bool { return b.find(key) >= 0 }

// Len returns the number of members so far.
func (b *ObjectBuilder) Len() int { return len(b.keys) }

// Value returns the finished object.
func (b *ObjectBuilder) Value() Value {
	if b.index == nil && len(b.keys) >= indexFrom {
		b.index = indexOf(b.keys)
	}
	return Value{kind: KindObject, tree: (&tree{keys: b.keys, vals: b.vals, index: b.index}).measure()}
}

func indexOf(keys []string) map[string]int {
	m := make(map[string]int, cap(keys)) // the number of members of a parsed object is known
	for i, k := range keys {
		m[k] = i
	}
	return m
}

// Object makes an object of alternating names and values: Object("a", Int(1), "b", Null). It is
// meant for literals; use an ObjectBuilder where names come from data.
func Object(pairs ...any) Value {
	b := NewObject(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		b.Set(name, FromGo(pairs[i+1]))
	}
	return b.Value()
}
