package component

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// order compares two values of one type: numbers, strings, booleans (false first), lists element by
// element, objects by their members in order of name. Values of different types, and nulls, have no
// order.
func order(a, b engine.Value) (int, error) {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case engine.KindNumber:
			return engine.CompareNumbers(a, b), nil
		case engine.KindBool:
			return engine.CompareNumbers(asNumber(a), asNumber(b)), nil
		case engine.KindString:
			return cmp.Compare(a.Str(), b.Str()), nil
		case engine.KindList:
			return orderLists(a, b)
		case engine.KindObject:
			return orderLists(byName(a), byName(b))
		}
	}
	return 0, fmt.Errorf("a %s and a %s have no order", a.Kind(), b.Kind())
}

func orderLists(a, b engine.Value) (int, error) {
	for i := 0; i < min(a.Len(), b.Len()); i++ {
		if !engine.Equal(a.At(i), b.At(i)) {
			return order(a.At(i), b.At(i))
		}
	}
	return cmp.Compare(a.Len(), b.Len()), nil
}

// byName returns the members of an object as a list of [name, value], in order of name.
func byName(v engine.Value) engine.Value {
	pairs := make([]engine.Value, 0, v.Len())
	for name, x := range v.Fields() {
		pairs = append(pairs, engine.List(engine.String(name), x))
	}
	stable.Sort(pairs, func(a, b engine.Value) int { return cmp.Compare(a.At(0).Str(), b.At(0).Str()) })
	return engine.List(pairs...)
}

// sortKey returns the sort key of an element: itself, or some of its members. A missing member
// comes first.
func sortKey(v engine.Value, by []string) engine.Value {
	if len(by) == 0 {
		return v
	}
	var key []engine.Value
	for _, name := range by {
		x, ok := v.Lookup(name)
		if !ok || x.IsNull() {
			key = append(key, engine.Bool(false), engine.Int(0))
			continue
		}
		key = append(key, engine.Bool(true), x)
	}
	return engine.List(key...)
}

// appendIdentity writes a value so that equal values give equal bytes: 1 and 1.0 do, true and 1 do
// not, and the order of members does not matter.
func appendIdentity(dst []byte, v engine.Value) []byte {
	switch v.Kind() {
	case engine.KindNumber:
		return appendNumberIdentity(dst, v)
	case engine.KindList:
		dst = append(dst, '[')
		for _, e := range v.Elements() {
			dst = append(appendIdentity(dst, e), ',')
		}
		return append(dst, ']')
	case engine.KindObject:
		dst = append(dst, '{')
		for _, pair := range byName(v).Elements() {
			dst = append(engine.AppendQuoted(dst, pair.At(0).Str()), ':')
			dst = append(appendIdentity(dst, pair.At(1)), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// wholeLimit is the bound above which float64 cannot represent every integer.
const wholeLimit = 1 << 53

func appendNumberIdentity(dst []byte, v engine.Value) []byte {
	f, ok := v.Float()
	switch {
	case ok && f == math.Trunc(f) && math.Abs(f) < wholeLimit:
		return strconv.AppendInt(dst, int64(f), 10)
	case v.IsInt():
		return v.AppendJSON(dst)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
