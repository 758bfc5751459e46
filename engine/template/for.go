package template

type forStatement struct {
	target    target
	items     node
	filter    node // absent without "if"
	recursive bool
	body      body
	other     body
}

func (s *forStatement) exec(r *render) { s.run(r, r.eval(s.items), r.scope, 0) }

// run executes the body for items in a scope below parent.
func (s *forStatement) run(r *render, items value, parent *scope, depth int) {
	l := &loop{statement: s, parent: parent, depth: depth, index: -1, items: items, next: iterate(r, items)}
	if s.filter.expr != nil {
		l.next = s.filtered(r, l.next, parent)
	}
	r.within(parent, func() {
		for l.advance() {
			r.scope.clear()
			r.set(r.template.loopID, l)
			s.target.assign(r, l.current)
			s.body.exec(r)
		}
	})
	if l.index < 0 {
		r.within(parent, func() { s.other.exec(r) })
	}
}

// filtered skips elements for which the condition is false. It tests each one when it is reached.
func (s *forStatement) filtered(r *render, next iterator, parent *scope) iterator {
	return func() (v value, found bool) {
		r.within(parent, func() {
			for v, found = next(); found; v, found = next() {
				r.scope.clear()
				s.target.assign(r, v)
				if truth(r.eval(s.filter)) {
					return
				}
			}
		})
		return v, found
	}
}

// loop is the variable "loop" of a for tag. It reads ahead only as far as its attributes require.
type loop struct {
	statement         *forStatement
	parent            *scope
	items             value
	next              iterator
	ahead             []value // read, but not current yet
	ended             bool
	current, previous value
	index, depth      int
	changed           *list // the arguments of the last call of changed
}

func (l *loop) advance() bool {
	if !l.peek(1) {
		return false
	}
	l.previous, l.current = l.current, l.ahead[0]
	l.ahead = l.ahead[1:]
	l.index++
	return true
}

// peek reads ahead until n elements are buffered, and reports whether there are that many.
func (l *loop) peek(n int) bool {
	for !l.ended && len(l.ahead) < n {
		v, ok := l.next()
		if !ok {
			l.ended = true
			break
		}
		l.ahead = append(l.ahead, v)
	}
	return len(l.ahead) >= n
}

// length reads all elements if their number is unknown.
func (l *loop) length() int {
	if s, ok := l.items.(sized); ok && l.statement.filter.expr == nil {
		return s.size()
	}
	l.peek(maxIndex)
	return l.index + 1 + len(l.ahead)
}

var loopMethods = [...]callable{
	{"cycle", 0, "*", func(r *render, self value, a *args) value {
		if len(a.plain) == 0 {
			r.fail("loop.cycle needs something to choose from")
		}
		return a.plain[self.(*loop).index%len(a.plain)]
	}},
	{"changed", 0, "*", func(r *render, self value, a *args) value {
		l, now := self.(*loop), newTuple(a.plain...)
		changed := l.changed == nil || !equal(r, l.changed, now)
		l.changed = now
		return changed
	}},
}

func (l *loop) attr(_ *render, name string) value {
	switch name {
	case "index":
		return int64(l.index + 1)
	case "index0":
		return int64(l.index)
	case "revindex":
		return int64(l.length() - l.index)
	case "revindex0":
		return int64(l.length() - l.index - 1)
	case "first":
		return l.index == 0
	case "last":
		return !l.peek(1)
	case "length":
		return int64(l.length())
	case "depth":
		return int64(l.depth + 1)
	case "depth0":
		return int64(l.depth)
	case "previtem":
		if l.previous == nil {
			return undefinedf("there is no previous item")
		}
		return l.previous
	case "nextitem":
		if !l.peek(1) {
			return undefinedf("there is no next item")
		}
		return l.ahead[0]
	}
	return methodOf(loopMethods[:], name, l)
}

// invoke implements loop(items) of a recursive loop. It returns the output of the loop over items.
func (l *loop) invoke(r *render, a *args) value {
	if !l.statement.recursive {
		r.fail(`this loop is not "recursive"`)
	}
	if len(a.plain) != 1 {
		r.fail("loop needs one argument, the items")
	}
	return r.capture(func() { l.statement.run(r, a.plain[0], l.parent, l.depth+1) })
}
