package script

import (
	"errors"
	"fmt"
	"math"

	"github.com/dop251/goja"

	"github.com/easel-canvas/easel/engine"
)

// maxDepth is how deep a result may nest; objects that hold themselves end there.
const maxDepth = 200

// parseJSON makes a script's value. Whole numbers beyond 2^53 lose digits, as everywhere in JavaScript.
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

// export makes a Value of a script's value by the rules of JSON.stringify. It counts as it goes: a few objects that
// hold each other can stand for more text than there is memory.
func (m *machine) export(v goja.Value) (engine.Value, error) {
	e := exporter{vm: m.vm, left: m.limits.Output}
	return e.value(v, 0)
}

type exporter struct {
	vm   *goja.Runtime
	left int // bytes, roughly
}

func (e *exporter) spend(n int) error {
	if e.left -= n; e.left < 0 {
		return fmt.Errorf("script: the result is larger than it may be: %w", engine.ErrLimit)
	}
	return nil
}

func (e *exporter) value(v goja.Value, depth int) (engine.Value, error) {
	if err := e.spend(8); err != nil {
		return engine.Null, err
	}
	if depth > maxDepth {
		return engine.Null, fmt.Errorf("script: the result nests deeper than %d levels or holds itself: %w", maxDepth, engine.ErrLimit)
	}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return engine.Null, nil
	}
	if o, ok := v.(*goja.Object); ok {
		return e.object(o, depth)
	}
	switch x := v.Export().(type) {
	case bool:
		return engine.Bool(x), nil
	case int64:
		return engine.Int(x), nil
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return engine.Int(int64(x)), nil
		}
		return engine.Float(x), nil
	}
	s := v.String()
	return engine.String(s), e.spend(len(s))
}

func (e *exporter) object(o *goja.Object, depth int) (engine.Value, error) {
	if _, callable := goja.AssertFunction(o); callable {
		return engine.Null, nil
	}
	if toJSON, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v, err := toJSON(o)
		if err != nil {
			return engine.Null, err
		}
		if _, again := v.(*goja.Object); !again {
			return e.value(v, depth+1)
		}
	}
	switch o.ClassName() {
	case "Array":
		return e.list(o, depth)
	case "String", "Number", "Boolean":
		return e.value(e.vm.ToValue(o.Export()), depth+1)
	}
	b := engine.NewObject(8)
	for _, key := range o.Keys() {
		member := o.Get(key)
		if _, callable := goja.AssertFunction(member); callable || goja.IsUndefined(member) {
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
