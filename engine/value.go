package engine

import (
	"iter"
	"sync/atomic"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds of a Value. KindStream never appears in JSON: it is a lazy text that has not been read
// yet.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindList
	KindObject
	KindStream
)

var kindNames = [...]string{"null", "boolean", "number", "string", "list", "object", "stream"}

// String names the kind in the words used by error messages.
func (k Kind) String() string { return kindNames[k] }

// Value is a JSON value that preserves the order of object keys and the text of numbers.
//
// A Value is immutable and may be shared by goroutines; "changing" one returns a new Value that
// shares the unchanged parts. The zero Value is null.
type Value struct {
	kind Kind
	text string // the string, the number as written, or "true"/"false"
	tree *tree
}

// tree holds the data of a list, an object or a stream. It is never changed once it is in use,
// except that append may claim unused room behind vals (see room).
type tree struct {
	keys   []string
	vals   []Value
	index  map[string]int // only from indexFrom keys on
	room   *room
	stream *Stream
	size   uint32 // of the elements, see Value.Size
	depth  uint32 // levels of lists and objects, this one included
}

// room lets lists that grow one by one share a backing array: the first to claim the next free
// place first may write there, everyone else copies. Existing values never see the new element.
type room struct{ used atomic.Int64 }

// grown is the memory of a list that begins to grow.
type grown struct {
	tree tree
	room room
	vals [4]Value
}

// indexFrom is the number of keys from which a map beats a scan.
const indexFrom = 16

// Null is the null value; the zero Value is the same.
var Null = Value{}

// Bool makes a boolean.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, text: "true"}
	}
	return Value{kind: KindBool, text: "false"}
}

// String makes a string.
func String(s string) Value { return Value{kind: KindString, text: s} }

// List makes a list of the given elements; the slice is copied.
func List(vals ...Value) Value {
	return listOf(append(make([]Value, 0, len(vals)), vals...))
}

// listOf makes a list that owns vals.
func listOf(vals []Value) Value {
	return Value{kind: KindList, tree: (&tree{vals: vals}).measure()}
}

// Strings makes a list of strings.
func Strings(ss ...string) Value {
	vals := make([]Value, len(ss))
	for i, s := range ss {
		vals[i] = String(s)
	}
	return listOf(vals)
}

// streamValue wraps a lazy text.
func streamValue(s *Stream) Value { return Value{kind: KindStream, tree: &tree{stream: s}} }

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Str returns the text of a string; "" for every other kind.
func (v Value) Str() string {
	if v.kind == KindString {
		return v.text
	}
	return ""
}

// True reports whether v is the boolean true.
func (v Value) True() bool { return v.kind == KindBool && v.text == "true" }

// Truthy reports whether v is not null, "", 0, false, [] or {}.
func (v Value) Truthy() bool {
	switch v.kind {
	case KindNull:
		return false
	case KindBool:
		return v.text == "true"
	case KindNumber:
		f, _ := v.Float()
		return f != 0
	case KindString:
		return v.text != ""
	case KindList, KindObject:
		return len(v.tree.vals) > 0
	}
	return true
}

// Stream returns the lazy text behind v, or nil.
func (v Value) Stream() *Stream {
	if v.kind != KindStream {
		return nil
	}
	return v.tree.stream
}

// Len returns the number of elements of a list or members of an object; 0 for every other kind.
func (v Value) Len() int {
	if v.kind != KindList && v.kind != KindObject {
		return 0
	}
	return len(v.tree.vals)
}

// At returns element i (0-based) of a list, or the value of member i of an object. It is null out
// of range.
func (v Value) At(i int) Value {
	if i < 0 || i >= v.Len() {
		return Null
	}
	return v.tree.vals[i]
}

// Elements iterates over the elements of a list, in order.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.kind != KindList {
			return
		}
		for i, e := range v.tree.vals {
			if !yield(i, e) {
				return
			}
		}
	}
}

// Slice returns a copy of the elements of a list; empty for every other kind.
func (v Value) Slice() []Value { return append(make([]Value, 0, v.Len()), elements(v)...) }

// Append returns the list v with one more element. A null v counts as an empty list; for any other
// kind the result is a list of x alone. Growing one list step by step costs amortised constant
// time.
func (v Value) Append(x Value) Value {
	if v.kind != KindList {
		return listOf([]Value{x})
	}
	old := v.tree
	n := len(old.vals)
	if old.room != nil && n < cap(old.vals) && old.room.used.CompareAndSwap(int64(n), int64(n+1)) {
		return (&tree{}).take(append(old.vals, x), old, old.room)
	}
	g := &grown{}
	g.room.used.Store(int64(n + 1))
	vals := g.vals[:0]
	if n > 0 {
		vals = make([]Value, 0, 2*n+4)
	}
	return g.tree.take(append(append(vals, old.vals...), x), old, &g.room)
}

// take makes t the list of vals: the elements of old and one more.
func (t *tree) take(vals []Value, old *tree, r *room) Value {
	t.vals, t.room, t.size, t.depth = vals, r, old.size, max(old.depth, 1)
	t.hold(vals[len(vals)-1])
	return Value{kind: KindList, tree: t}
}

// Equal reports deep equality: numbers by value, objects without regard to the order of members. A
// boolean never equals a number.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case KindNumber:
		return compareNumbers(a.text, b.text) == 0
	case KindList:
		if a.Len() != b.Len() {
			return false
		}
		for i, x := range a.tree.vals {
			if !Equal(x, b.tree.vals[i]) {
				return false
			}
		}
		return true
	case KindObject:
		if a.Len() != b.Len() {
			return false
		}
		for k, x := range a.Fields() {
			y, ok := b.Lookup(k)
			if !ok || !Equal(x, y) {
				return false
			}
		}
		return true
	case KindStream:
		return a.tree.stream == b.tree.stream
	}
	return a.text == b.text
}

// The empty containers are shared, because values are immutable.
var (
	emptyObject = Value{kind: KindObject, tree: (&tree{}).measure()}
	emptyList   = listOf(nil)
)
