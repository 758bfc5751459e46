package script

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dop251/goja"

	"github.com/easel-canvas/easel/engine"
)

// maxDepth bounds the nesting of a result, and so detects cycles.
const maxDepth = 200

// parseJSON converts a Value to a JavaScript value. Integers beyond 2^53 lose digits, as everywhere
// in JavaScript.
func (m *machine) parseJSON(v engine.Value) (goja.Value, error) {
	if v.IsNull() {
		return m.vm.NewObject(), nil
	}
	parse, ok := goja.AssertFunction(m.vm.GlobalObject().Get("JSON").ToObject(m.vm).Get("parse"))
	if !ok {
		return nil, errors.New("script: the interpreter has no JSON.parse")
	}
	return parse(goja.Undefined(), m.vm.ToValue(v.JSON()))
}

// export converts a JavaScript value by the rules of JSON.stringify, except that a BigInt becomes a
// string. It counts bytes as it goes: a few objects with shared references can expand to more text
// than fits into memory.
func (m *machine) export(v goja.Value) (engine.Value, error) {
	e := exporter{vm: m.vm, remaining: m.limits.Output}
	return e.value(v, 0)
}

type exporter struct {
	vm        *goja.Runtime
	remaining int // approximate bytes
}

// errResult means that the result or the output of a script is too large.
var errResult = fmt.Errorf("script: the result is larger than it may be: %w", engine.ErrLimit)

func (e *exporter) spend(n int) error {
	if e.remaining -= n; e.remaining < 0 {
		return errResult
	}
	return nil
}

func (e *exporter) deep(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("script: the result nests deeper than %d levels or holds itself: %w", maxDepth,
			engine.ErrLimit)
	}
	return nil
}

func (e *exporter) value(v goja.Value, depth int) (engine.Value, error) {
	if err := e.spend(8); err != nil {
		return engine.Null, err
	}
	if err := e.deep(depth); err != nil {
		return engine.Null, err
	}
	if v == nil || goja.IsNull(v) || omitted(v) {
		return engine.Null, nil
	}
	if o, ok := v.(*goja.Object); ok {
		return e.object(o, depth)
	}
	switch x := v.Export().(type) {
	case bool:
		return engine.Bool(x), nil
	case int64, float64:
		n, _ := engine.ParseNumber(v.String()) // JavaScript's formatting; NaN and infinities become null
		return n, nil
	}
	s := v.String()
	return engine.String(s), e.spend(len(s))
}

// omitted reports whether JSON.stringify omits a value.
func omitted(v goja.Value) bool {
	if _, callable := goja.AssertFunction(v); callable || goja.IsUndefined(v) {
		return true
	}
	_, symbol := v.(*goja.Symbol)
	return symbol
}

func (e *exporter) object(o *goja.Object, depth int) (engine.Value, error) {
	if toJSON, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v, err := toJSON(o)
		if err != nil {
			return engine.Null, err
		}
		// toJSON is called only once.
		if inner, ok := v.(*goja.Object); ok && !omitted(v) {
			return e.members(inner, depth+1)
		}
		return e.value(v, depth+1)
	}
	return e.members(o, depth)
}

// boxed are the classes of objects that wrap a primitive value.
var boxed = []string{"String", "Number", "Boolean"}

func (e *exporter) members(o *goja.Object, depth int) (engine.Value, error) {
	if err := e.deep(depth); err != nil {
		return engine.Null, err
	}
	if o.ClassName() == "Array" {
		return e.list(o, depth)
	}
	if slices.Contains(boxed, o.ClassName()) {
		valueOf, ok := goja.AssertFunction(o.Get("valueOf"))
		if !ok {
			return engine.Null, nil
		}
		v, err := valueOf(o)
		if err != nil {
			return engine.Null, err
		}
		return e.value(v, depth+1)
	}
	b := engine.NewObject(8)
	for _, key := range o.Keys() {
		member := o.Get(key)
		if omitted(member) {
			continue
		}
		if err := e.spend(len(key)); err != nil {
			return engine.Null, err
		}
		v, err := e.value(member, depth+1)
		if err != nil {
			return engine.Null, err
		}
		b.Set(key, v)
	}
	return b.Value(), nil
}

func (e *exporter) list(o *goja.Object, depth int) (engine.Value, error) {
	n := o.Get("length").ToInteger()
	if err := e.spend(int(min(n, math.MaxInt32))); err != nil {
		return engine.Null, err
	}
	vals := make([]engine.Value, 0, n)
	for i := range n {
		v, err := e.value(o.Get(fmt.Sprint(i)), depth+1)
		if err != nil {
			return engine.Null, err
		}
		vals = append(vals, v)
	}
	return engine.List(vals...), nil
}
