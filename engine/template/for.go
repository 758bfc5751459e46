package template

type forStatement struct {
	line      int
	target    target
	items     expr
	filter    expr // nil without "if"
	recursive bool
	body      *body
	other     *body // nil without "else"
}

func (s *forStatement) exec(r *render) {
	r.line = s.line
	s.run(r, r.eval(s.items), r.scope, 0)
}

// run goes through items in a scope below parent.
func (s *forStatement) run(r *render, items value, parent *scope, depth int) {
	l := &loop{statement: s, parent: parent, depth: depth, index: -1, items: items}
	l.next = r.iterate(items)
	if s.filter != nil {
		l.next = s.filtered(r, l.next, parent)
	}
	r.within(parent, func(sc *scope) {
		for l.advance() {
			sc.clear()
			sc.set(r.t.loopID, l)
			s.target.assign(r, l.current)
			s.body.exec(r)
		}
	})
	if l.index < 0 && s.other != nil {
		r.within(parent, func(*scope) { s.other.exec(r) })
	}
}

// filtered leaves out the elements for which the condition does not hold. Each is tested when its turn comes.
func (s *forStatement) filtered(r *render, next func() (value, bool), parent *scope) func() (value, bool) {
	return func() (v value, found bool) {
		r.within(parent, func(sc *scope) {
			for {
				if v, found = next(); !found {
					return
				}
				sc.clear()
				s.target.assign(r, v)
				if r.truth(r.eval(s.filter)) {
					return
				}
			}
		})
		return v, found
	}
}

// loop is the variable "loop" inside of a for tag. It reads ahead only as far as it is asked about the future.
type loop struct {
	statement         *forStatement
	parent            *scope
	items             value
	next              func() (value, bool)
	ahead             []value // read, but not yet current
	ended             bool
	current, previous value
	index, depth      int
	changed           *tuple // the arguments of the last call of changed
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

// peek reads ahead until n elements wait; it reports whether there are as many.
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

// length reads to the end.
//
//go:noinline
func (l *loop) length() int {
	if s, ok := l.items.(sized); ok && l.statement.filter == nil {
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
		l, now := self.(*loop), &tuple{items: a.plain}
		if l.changed != nil && r.equal(l.changed, now) {
			return false
		}
		l.changed = now
		return true
	}},
}

func (l *loop) attr(r *render, name string) value {
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
			return &undefined{"there is no previous item"}
		}
		return l.previous
	case "nextitem":
		if !l.peek(1) {
			return &undefined{"there is no next item"}
		}
		return l.ahead[0]
	}
	if m := findCallable(loopMethods[:], name); m != nil {
		return &function{m, l}
	}
	return nil
}

// invoke is loop(items) in a recursive loop: the text of the loop over other items.
func (l *loop) invoke(r *render, a *args) value {
	if !l.statement.recursive {
		r.fail(`this loop is not "recursive"`)
	}
	if len(a.plain) != 1 {
		r.fail("loop needs one argument, the items")
	}
	return r.markup(r.capture(func() { l.statement.run(r, a.plain[0], l.parent, l.depth+1) }))
}
