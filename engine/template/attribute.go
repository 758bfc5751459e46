package template

import (
	"unicode/utf8"
)

// attribute returns v.name: a method or attribute, else the member of an object, else undefined.
func attribute(r *render, v value, name string, key value) value {
	r.needDefined(v)
	if a := ownAttribute(r, v, name, key); a != nil {
		return a
	}
	if d, ok := v.(*dict); ok {
		if x := d.get(r, key); x != nil {
			return x
		}
	}
	return missing(v, name)
}

// ownAttribute returns a method or attribute of v, or nil. key is name as a value, converted once.
func ownAttribute(r *render, v value, name string, key value) value {
	if o, ok := v.(object); ok {
		if a := o.attr(r, name); a != nil {
			return a
		}
	}
	var table []callable
	switch v := v.(type) {
	case string, safe, hollow:
		table = r.tables.strings
	case *list:
		table = [...][]callable{r.tables.lists, r.tables.tuples, nil, nil, nil}[v.kind]
	case *span:
		table = r.tables.tuples
	case *dict:
		table = r.tables.dicts
	case *namespace:
		return v.members.get(r, key)
	}
	return methodOf(table, name, v)
}

func missing(v value, name string) value {
	return undefinedf("%s has no attribute %q", typeName(v), name)
}

// item returns v[key]: an element, character or member, else an attribute, else undefined.
func item(r *render, v, key value) value {
	r.needDefined(v)
	if x := element(r, v, key); x != nil {
		return x
	}
	name, ok := asText(key)
	if !ok {
		return undefinedf("%s has no item %s", typeName(v), describe(r, key))
	}
	if a := ownAttribute(r, v, name, key); a != nil {
		return a
	}
	return missing(v, name)
}

// element returns v[key] without attributes, or nil.
func element(r *render, v, key value) value {
	if d, ok := v.(*dict); ok {
		if _, ok := hashed(key, 0); !ok {
			return nil
		}
		return d.get(r, key)
	}
	n, ok := number(key).(int64)
	if !ok {
		return nil
	}
	i := r.needInt(n)
	if l, ok := asSequence(v); ok {
		return pick(l.all(), i)
	}
	if s, ok := v.(*span); ok {
		if i = fromEnd(i, s.size()); i >= 0 {
			return s.at(i)
		}
	}
	if s, ok := asText(v); ok {
		if i = fromEnd(i, r.length(s)); i >= 0 {
			r.walk(s)
			s = s[offset(s, i):]
			return like(v, s[:offset(s, 1)])
		}
	}
	return nil
}

// fromEnd converts an index that may be negative to one from the start, or -1 if out of range.
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

// offset returns the byte index of character i of s.
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

// slice holds the start, stop and step of an index such as 1:5:2. Omitted ones are none.
type slice [3]value

// of returns the part of v that the slice selects.
func (s *slice) of(r *render, v value) value {
	r.needDefined(v)
	if l, ok := asSequence(v); ok {
		return &list{items: cut(r, l.all(), s), kind: l.kind}
	}
	if v, ok := v.(*span); ok {
		b := s.bounds(r, v.size())
		return &span{v.start + b.start*v.step, v.start + b.stop*v.step, v.step * b.step}
	}
	text, ok := asText(v)
	if !ok {
		return undefinedf("%s has no parts", typeName(v))
	}
	b := s.bounds(r, r.length(text))
	if b.step == 1 {
		text = text[offset(text, b.start):]
		return like(v, text[:offset(text, b.size())])
	}
	r.walk(text)
	return like(v, r.made(string(cut(r, []rune(text), s))))
}

func cut[T any](r *render, items []T, s *slice) []T {
	b := s.bounds(r, len(items))
	out := make([]T, b.size())
	r.spend(len(out))
	for i := range out {
		out[i] = items[b.start+i*b.step]
	}
	return out
}

// bounds returns the indexes that the slice selects from a sequence of size elements.
func (s *slice) bounds(r *render, size int) *span {
	step := 1
	if !isNone(s[2]) {
		step = r.needInt(s[2])
	}
	if step == 0 {
		r.fail("the step of a slice is zero")
	}
	low, high := 0, size
	first, last := low, high
	if step < 0 {
		low, high = -1, size-1
		first, last = high, low
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
	return &span{place(s[0], first), place(s[1], last), step}
}
