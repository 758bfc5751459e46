package component

import (
	"context"
	"fmt"
	"math"

	"github.com/easel-canvas/easel/engine"
)

// Values assigned when an operator does not fit the value of the variable.
var (
	notList        = engine.String("ERROR:VARIABLE_NOT_LIST")
	parameterList  = engine.String("ERROR:PARAMETER_NOT_LIST")
	elementType    = engine.String("ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE")
	notNumber      = engine.String("ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER")
	divisionByZero = engine.String("ERROR:DIVIDE_BY_ZERO")
)

// apply returns the new value of the variable.
func (x *Assignment) apply(ctx context.Context, call *engine.Call, old engine.Value) (engine.Value, error) {
	if err := assignOperators.check("operator", x.Operator); err != nil {
		// The original assigns null, and canvases read it. It must not pass in silence.
		warn(call, x.Variable.String(), fmt.Errorf("%w; the variable becomes null", err))
		return engine.Null, nil
	}
	v, problem, err := x.change(ctx, call, old)
	if err != nil || problem.IsNull() {
		return v, err
	}
	warn(call, x.Variable.String()+" "+x.Operator, fmt.Errorf("a %s became %s", old.Kind(), problem.Str()))
	return problem, nil
}

// change returns the new value, or a problem text to assign instead.
func (x *Assignment) change(ctx context.Context, call *engine.Call, old engine.Value) (v, problem engine.Value,
	err error,
) {
	switch x.Operator {
	case "overwrite", "append", "extend":
		p := x.Parameter
		if p.Kind() == engine.KindString {
			if p, err = call.Resolve(ctx, &x.from); err != nil {
				return v, problem, err
			}
		}
		switch x.Operator {
		case "append":
			v, problem = appended(old, p)
		case "extend":
			v, problem = extended(old, p)
		default:
			v = p
		}
	case "set":
		v, err = x.set(ctx, call, old)
	case "clear":
		v = cleared(old)
	case "remove_first", "remove_last":
		v, problem, err = shortened(old, x.Operator == "remove_first")
	case "+=", "-=", "*=", "/=":
		v, problem = calculate(old, x.Operator[0], x.Parameter)
	}
	return v, problem, err
}

// set expands references in the parameter if the variable is a string or null; otherwise it uses
// the parameter as it is.
func (x *Assignment) set(ctx context.Context, call *engine.Call, old engine.Value) (engine.Value, error) {
	if k := old.Kind(); k != engine.KindString && k != engine.KindNull || x.Parameter.Kind() != engine.KindString {
		return x.Parameter, nil
	}
	text, err := call.Render(ctx, &x.text, engine.TextStyle{})
	return engine.String(text), err
}

// cleared returns the empty value of the same type.
func cleared(old engine.Value) engine.Value {
	switch old.Kind() {
	case engine.KindString:
		return engine.String("")
	case engine.KindList:
		return engine.List()
	case engine.KindObject:
		return engine.Object()
	case engine.KindBool:
		return engine.Bool(false)
	case engine.KindNumber:
		if old.IsInt() {
			return engine.Int(0)
		}
		return engine.Float(0)
	}
	return engine.Null
}

func appended(old, x engine.Value) (v, problem engine.Value) {
	switch {
	case old.IsNull():
		return engine.List(x), engine.Null
	case old.Kind() != engine.KindList:
		return engine.Null, notList
	case old.Len() > 0 && !sameType(old.At(0), x):
		return engine.Null, elementType
	}
	return old.Append(x), engine.Null
}

func extended(old, more engine.Value) (v, problem engine.Value) {
	if old.IsNull() {
		old = engine.List()
	}
	switch {
	case old.Kind() != engine.KindList:
		return engine.Null, notList
	case more.Kind() != engine.KindList:
		return engine.Null, parameterList
	case old.Len() > 0 && more.Len() > 0 && !sameType(old.At(0), more.At(0)):
		return engine.Null, elementType
	}
	for _, x := range more.Elements() {
		old = old.Append(x)
	}
	return old, engine.Null
}

// sameType distinguishes integers from other numbers, as the element check of lists does.
func sameType(a, b engine.Value) bool { return a.Kind() == b.Kind() && a.IsInt() == b.IsInt() }

func shortened(old engine.Value, first bool) (v, problem engine.Value, err error) {
	n := old.Len()
	switch old.Kind() {
	case engine.KindList:
	case engine.KindString, engine.KindObject:
		if !old.Truthy() {
			return old, engine.Null, nil
		}
		return engine.Null, notList, nil
	default:
		return engine.Null, engine.Null, fmt.Errorf("the variable is a %s; expected a list", old.Kind())
	}
	if n == 0 {
		return old, engine.Null, nil
	}
	from, to := 0, n-1
	if first {
		from, to = 1, n
	}
	kept := make([]engine.Value, 0, n)
	for i := from; i < to; i++ {
		kept = append(kept, old.At(i))
	}
	return engine.List(kept...), engine.Null, nil
}

// calculate combines two numbers. Integers stay integers, except in a division.
func calculate(old engine.Value, operator byte, x engine.Value) (v, problem engine.Value) {
	f, okF := old.Float()
	g, okG := x.Float()
	if !okF || !okG {
		return engine.Null, notNumber
	}
	if operator == '/' {
		if g == 0 {
			return engine.Null, divisionByZero
		}
		return engine.Float(f / g), engine.Null
	}
	if old.IsInt() && x.IsInt() {
		if n, ok := calculateInt(old, operator, x); ok {
			return engine.Int(n), engine.Null
		}
	}
	switch operator {
	case '+':
		f += g
	case '-':
		f -= g
	default:
		f *= g
	}
	return engine.Float(f), engine.Null
}

// calculateInt is exact; ok is false when the result does not fit.
func calculateInt(a engine.Value, operator byte, b engine.Value) (n int64, ok bool) {
	x, okX := a.Int()
	y, okY := b.Int()
	if !okX || !okY {
		return 0, false
	}
	switch operator {
	case '+':
		n = x + y
		return n, (n > x) == (y > 0)
	case '-':
		n = x - y
		return n, (n < x) == (y > 0)
	}
	if x == 0 || y == 0 {
		return 0, true
	}
	n = x * y
	return n, n/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64)
}
