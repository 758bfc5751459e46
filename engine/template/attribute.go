package template

import (
	"strings"
	"unicode/utf8"
)

// attribute is v.name: a method or attribute, else the member of an object, else undefined.
func (r *render) attribute(v value, name string) value {
	r.needDefined(v)
	if hidden(name) {
		return r.missing(v, name)
	}
	if a := r.ownAttribute(v, name); a != nil {
		return a
	}
	if d, ok := v.(*dict); ok {
		if x := d.get(r, name); x != nil {
			return x
		}
	}
	return r.missing(v, name)
}

// ownAttribute is a method or attribute of v, or nil.
func (r *render) ownAttribute(v value, name string) value {
	if o, ok := v.(object); ok {
		if a := o.attr(r, name); a != nil {
			return a
		}
	}
	var table []callable
	switch v.(type) {
	case string, safe, hollow:
		table = r.tables.strings
	case *list:
		table = r.tables.lists
	case *tuple, *span:
		table = r.tables.tuples
	case *dict:
		table = r.tables.dicts
	case int64, digits, float64, bool:
		table = r.tables.numbers
	}
	if m := findCallable(table, name); m != nil {
		return &function{m, v}
	}
	return nil
}

// hiddenNames are attributes every Python value has. A template that asks for one finds nothing.
const hiddenNames = " __class__ __delattr__ __dict__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ " +
	"__getitem__ __getstate__ __gt__ __hash__ __init__ __init_subclass__ __iter__ __le__ __len__ __lt__ __module__ " +
	"__ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__ __subclasshook__ "

func hidden(name string) bool {
	return strings.HasPrefix(name, "__") && strings.Contains(hiddenNames, " "+name+" ")
}

func (r *render) missing(v value, name string) value {
	return &undefined{typeName(v) + " has no attribute \"" + name + "\""}
}

// item is v[key]: an element, character or member, else an attribute of that name, else undefined.
func (r *render) item(v, key value) value {
	r.needDefined(v)
	if x := r.element(v, key); x != nil {
		return x
	}
	name, ok := asText(key)
	if !ok {
		return &undefined{typeName(v) + " has no item " + r.describe(key)}
	}
	if _, isDict := v.(*dict); !isDict || findCallable(r.tables.dicts, name) != nil {
		return r.attribute(v, name)
	}
	return r.missing(v, name)
}

// element is v[key] without attributes, or nil.
func (r *render) element(v, key value) value {
	if d, ok := v.(*dict); ok {
		if _, ok := hashed(key, 0); !ok {
			return nil
		}
		return d.get(r, key)
	}
	switch key.(type) {
	case int64, bool:
	default:
		return nil
	}
	i := r.needInt(key)
	switch v := v.(type) {
	case *list:
		return pick(v.all(), i)
	case *tuple:
		return pick(v.items, i)
	case *span:
		if i = fromEnd(i, v.size()); i < 0 {
			return nil
		}
		return v.at(i)
	}
	if s, ok := asText(v); ok {
		if i = fromEnd(i, r.length(s)); i < 0 {
			return nil
		}
		r.walk(s)
		s = s[offset(s, i):]
		_, n := utf8.DecodeRuneInString(s)
		return like(v, s[:n])
	}
	return nil
}

// fromEnd turns a negative index into a place; -1 when it is out of range.
func fromEnd(i, n int) int {
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	return i
}

func pick(items []value, i int) value {
	if i = fromEnd(i, len(items)); i < 0 {
		return nil
	}
	return items[i]
}

// offset is the byte at which character i of s begins.
func offset(s string, i int) int {
	at := 0
	for ; i > 0 && at < len(s); i-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at
}

// slice is v[start:stop:step]; a bound left out is nil.
func (r *render) slice(v value, start, stop, step value) value {
	r.needDefined(v)
	switch v := v.(type) {
	case *list:
		return newList(r.cut(v.all(), start, stop, step))
	case *tuple:
		return &tuple{items: r.cut(v.items, start, stop, step)}
	case *span:
		b := r.bounds(v.size(), start, stop, step)
		return &span{v.start + b.start*v.step, v.start + b.stop*v.step, v.step * b.step}
	}
	s, ok := asText(v)
	if !ok {
		return &undefined{typeName(v) + " has no parts"}
	}
	b := r.bounds(r.length(s), start, stop, step)
	if b.step == 1 {
		s = s[offset(s, b.start):]
		return like(v, s[:offset(s, b.size())])
	}
	r.spend(len(s) / 16)
	runes := []rune(s)
	out := make([]rune, b.size())
	for i := range out {
		out[i] = runes[b.start+i*b.step]
	}
	return like(v, r.made(string(out)))
}

func (r *render) cut(items []value, start, stop, step value) []value {
	b := r.bounds(len(items), start, stop, step)
	out := make([]value, b.size())
	r.spend(len(out))
	for i := range out {
		out[i] = items[b.start+i*b.step]
	}
	return out
}

// bounds gives the places that a slice picks of size elements.
func (r *render) bounds(size int, start, stop, step value) *span {
	by := 1
	if !isNone(step) {
		by = r.needInt(step)
	}
	if by == 0 {
		r.fail("the step of a slice is zero")
	}
	low, high := 0, size // where from and to may be
	first, last := 0, size
	if by < 0 {
		low, high = -1, size-1
		first, last = size-1, -1
	}
	place := func(v value, standard int) int {
		if isNone(v) {
			return standard
		}
		i := r.needInt(v)
		if i < 0 {
			i += size
		}
		return min(max(i, low), high)
	}
	return &span{place(start, first), place(stop, last), by}
}
