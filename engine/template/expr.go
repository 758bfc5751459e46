package template

// expr is a node that has a value.
type expr interface{ eval(r *render) value }

type literalExpr struct{ value value }

func (e *literalExpr) eval(*render) value { return e.value }

type nameExpr struct{ id int }

func (e *nameExpr) eval(r *render) value { return r.lookup(e.id) }

// captured is the text of a block tag, for the filters applied to it.
type captured struct{}

func (captured) eval(r *render) value { return r.captured }

type listExpr struct{ items []expr }

func (e *listExpr) eval(r *render) value { return newList(r.all(e.items)) }

type tupleExpr struct{ items []expr }

func (e *tupleExpr) eval(r *render) value { return &tuple{items: r.all(e.items)} }

func (r *render) all(items []expr) []value {
	values := make([]value, len(items))
	for i, e := range items {
		values[i] = r.eval(e)
	}
	return values
}

type dictExpr struct {
	line         int
	keys, values []expr
}

func (e *dictExpr) eval(r *render) value {
	d := newDict(len(e.keys))
	for i, k := range e.keys {
		key := r.eval(k)
		r.line = e.line
		d.set(r, key, r.eval(e.values[i]))
	}
	return d
}

type ternaryExpr struct{ test, yes, no expr }

func (e *ternaryExpr) eval(r *render) value {
	if r.truth(r.eval(e.test)) {
		return r.eval(e.yes)
	}
	if e.no == nil {
		return &undefined{"the condition is false and there is no \"else\""}
	}
	return r.eval(e.no)
}

type logicExpr struct {
	or   bool
	a, b expr
}

func (e *logicExpr) eval(r *render) value {
	v := r.eval(e.a)
	if r.truth(v) == e.or {
		return v
	}
	return r.eval(e.b)
}

type notExpr struct{ e expr }

func (e *notExpr) eval(r *render) value { return !r.truth(r.eval(e.e)) }

type negateExpr struct {
	line  int
	minus bool
	e     expr
}

func (e *negateExpr) eval(r *render) value {
	v := r.eval(e.e)
	r.line = e.line
	return r.negate(v, e.minus)
}

type binaryExpr struct {
	op   string
	line int
	a, b expr
}

func (e *binaryExpr) eval(r *render) value {
	a, b := r.eval(e.a), r.eval(e.b)
	r.line = e.line
	return r.binary(e.op, a, b)
}

// link is one step of a chain of comparisons.
type link struct {
	op string
	e  expr
}

type compareExpr struct {
	line  int
	first expr
	links []link
}

func (e *compareExpr) eval(r *render) value {
	left := r.eval(e.first)
	for _, l := range e.links {
		right := r.eval(l.e)
		r.line = e.line
		if !r.compareBy(l.op, left, right) {
			return false
		}
		left = right
	}
	return true
}

type concatExpr struct{ parts []expr }

func (e *concatExpr) eval(r *render) value {
	values := r.all(e.parts)
	escape := false
	for _, v := range values {
		if _, ok := v.(safe); ok && r.autoescape {
			escape = true
		}
	}
	var buf []byte
	for _, v := range values {
		s := r.str(v)
		if escape {
			s = string(r.escape(v))
		}
		r.reserve(len(buf) + len(s))
		buf = append(buf, s...)
	}
	if escape {
		return safe(buf)
	}
	return string(buf)
}

type attrExpr struct {
	line int
	e    expr
	name string
}

func (e *attrExpr) eval(r *render) value {
	v := r.eval(e.e)
	r.line = e.line
	return r.attribute(v, e.name)
}

type indexExpr struct {
	line   int
	e, key expr
}

func (e *indexExpr) eval(r *render) value {
	v := r.eval(e.e)
	if s, ok := e.key.(*sliceExpr); ok {
		return s.of(r, v, e.line)
	}
	key := r.eval(e.key)
	r.line = e.line
	return r.item(v, key)
}

// sliceExpr is an index such as 1:5:2; a part left out is nil.
type sliceExpr struct{ start, stop, step expr }

// eval is reached only where a slice is one of several indexes, which nothing supports.
func (e *sliceExpr) eval(*render) value { return none{} }

func (e *sliceExpr) of(r *render, v value, line int) value {
	var bounds [3]value
	for i, part := range []expr{e.start, e.stop, e.step} {
		if part != nil {
			bounds[i] = r.eval(part)
		}
	}
	r.line = line
	return r.slice(v, bounds[0], bounds[1], bounds[2])
}

type callExpr struct {
	line int
	fn   expr
	args *argumentList
}

func (e *callExpr) eval(r *render) value { return e.with(r, nil) }

// with calls with an extra argument "caller", if one is given.
func (e *callExpr) with(r *render, caller value) value {
	fn := r.eval(e.fn)
	a := e.args.eval(r)
	if caller != nil {
		a.names, a.named = append(a.names, "caller"), append(a.named, caller)
	}
	r.line = e.line
	return r.call(fn, a)
}

type filterExpr struct {
	line   int
	name   string
	filter *callable
	input  expr
	args   *argumentList // nil without parentheses
}

func (e *filterExpr) eval(r *render) value {
	v := r.eval(e.input)
	a := e.args.eval(r)
	r.line = e.line
	if e.filter == nil {
		r.fail("unknown filter %q", e.name)
	}
	return e.filter.apply(r, v, a)
}

type testExpr struct {
	line   int
	name   string
	test   *callable
	input  expr
	args   *argumentList
	negate bool
}

func (e *testExpr) eval(r *render) value {
	v := r.eval(e.input)
	a := e.args.eval(r)
	r.line = e.line
	if e.test == nil {
		r.fail("unknown test %q", e.name)
	}
	return r.truth(e.test.apply(r, v, a)) != e.negate
}
