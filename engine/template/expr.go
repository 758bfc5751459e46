package template

// node is an expression and its line. A nil expr marks an absent node.
type node struct {
	line int
	expr
}

// expr is an expression, which is evaluated through render.eval.
type expr interface{ eval(r *render) value }

// eval evaluates an expression within the limits.
func (r *render) eval(n node) value {
	if r.steps--; r.steps < 0 {
		r.spend(0)
	}
	r.enter()
	line := r.line
	r.line = n.line
	v := n.expr.eval(r)
	r.line = line
	r.depth--
	return v
}

func (r *render) evalAll(nodes []node) []value {
	values := make([]value, len(nodes))
	for i, n := range nodes {
		values[i] = r.eval(n)
	}
	return values
}

// Expressions. Absent operands are zero nodes.
type (
	literalExpr struct{ value value }
	nameExpr    struct{ id int }
	captured    struct{} // the text of a block tag, to which filters are applied
	listExpr    struct{ items []node }
	tupleExpr   struct{ items []node }
	dictExpr    struct{ keys, values []node }
	ternaryExpr struct{ test, yes, no node }
	notExpr     struct{ operand node }
	concatExpr  struct{ parts []node }
	indexExpr   struct{ owner, key node }
	sliceExpr   struct{ bounds [3]node } // start, stop and step of an index such as 1:5:2
	attrExpr    struct {
		owner node
		name  string
		key   value // the name
	}
	logicExpr struct {
		or   bool
		a, b node
	}
	signExpr struct {
		minus   bool
		operand node
	}
	binaryExpr struct {
		op   string
		a, b node
	}
	compareExpr struct {
		first node
		links []link
	}
	callExpr struct {
		fn   node
		args *argumentList
	}
	// applied is a filter or test with its input.
	applied struct {
		what  string // "filter" or "test"
		name  string
		fn    *callable // nil if it is unknown
		input node
		args  *argumentList // nil without parentheses
	}
	testExpr struct {
		applied
		negate bool
	}
)

// link is a comparison with the previous operand of a chain.
type link struct {
	op      string
	operand node
}

func (e *literalExpr) eval(*render) value  { return e.value }
func (e *nameExpr) eval(r *render) value   { return r.lookup(e.id) }
func (e *captured) eval(r *render) value   { return r.captured }
func (e *listExpr) eval(r *render) value   { return newList(r.evalAll(e.items)) }
func (e *tupleExpr) eval(r *render) value  { return newTuple(r.evalAll(e.items)...) }
func (e *notExpr) eval(r *render) value    { return !truth(r.eval(e.operand)) }
func (e *concatExpr) eval(r *render) value { return joined(r, "", r.evalAll(e.parts)) }
func (e *attrExpr) eval(r *render) value   { return attribute(r, r.eval(e.owner), e.name, e.key) }
func (e *signExpr) eval(r *render) value   { return signed(r, r.eval(e.operand), e.minus) }
func (e *callExpr) eval(r *render) value   { return e.with(r, nil) }
func (e *testExpr) eval(r *render) value   { return truth(e.applied.eval(r)) != e.negate }

func (e *dictExpr) eval(r *render) value {
	d := newDict(len(e.keys))
	for i, k := range e.keys {
		key := r.eval(k)
		d.set(r, key, r.eval(e.values[i]))
	}
	return d
}

func (e *ternaryExpr) eval(r *render) value {
	switch {
	case truth(r.eval(e.test)):
		return r.eval(e.yes)
	case e.no.expr == nil:
		return undefinedf(`the condition is false and there is no "else"`)
	}
	return r.eval(e.no)
}

func (e *logicExpr) eval(r *render) value {
	v := r.eval(e.a)
	if truth(v) == e.or {
		return v
	}
	return r.eval(e.b)
}

func (e *binaryExpr) eval(r *render) value {
	a := r.eval(e.a)
	return binary(r, e.op, a, r.eval(e.b))
}

func (e *compareExpr) eval(r *render) value {
	left := r.eval(e.first)
	for _, l := range e.links {
		right := r.eval(l.operand)
		if !compare(r, l.op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (e *indexExpr) eval(r *render) value {
	v := r.eval(e.owner)
	key := r.eval(e.key)
	if s, ok := key.(*slice); ok {
		return s.of(r, v)
	}
	return item(r, v, key)
}

func (e *sliceExpr) eval(r *render) value {
	s := &slice{none{}, none{}, none{}}
	for i, n := range e.bounds {
		if n.expr != nil {
			s[i] = r.eval(n)
		}
	}
	return s
}

// with evaluates the call with an additional argument "caller", unless caller is nil.
func (e *callExpr) with(r *render, caller value) value {
	fn := r.eval(e.fn)
	a := e.args.eval(r)
	if caller != nil {
		a.names, a.named = append(a.names, "caller"), append(a.named, caller)
	}
	r.needDefined(fn)
	f, ok := fn.(invoker)
	if !ok {
		r.fail("%s cannot be called", describe(r, fn))
	}
	return f.invoke(r, a)
}

func (e *applied) eval(r *render) value {
	v := r.eval(e.input)
	a := e.args.eval(r)
	if e.fn == nil {
		r.fail("unknown %s %q", e.what, e.name)
	}
	return e.fn.apply(r, v, a)
}
