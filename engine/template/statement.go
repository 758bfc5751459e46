package template

// statement is a node that writes output or sets variables.
type statement interface{ exec(r *render) }

// placed is a statement and its line.
type placed struct {
	line int
	statement
}

// body is a list of statements.
type body []placed

func (b body) exec(r *render) {
	r.enter()
	for _, s := range b {
		r.spend(1)
		r.line = s.line
		s.statement.exec(r)
	}
	r.depth--
}

// Statements. Bodies have their own scopes, except those of "if".
type (
	textStatement  struct{ text string }
	printStatement struct{ list []node }
	ifStatement    struct {
		tests  []node
		bodies []body
		other  body
	}
	setStatement struct {
		target target
		value  node
	}
	// captureStatement assigns the text of its body, or prints it without a target.
	captureStatement struct {
		target target
		value  node // the filters, applied to the captured text
		body   body
	}
	withStatement struct {
		targets []target
		values  []node
		body    body
	}
	autoescapeStatement struct {
		on   node
		body body
	}
	// blockStatement writes its body in place. The body sees the variables of the template, and
	// those around it only if it is scoped.
	blockStatement struct {
		scoped bool
		body   body
	}
	// loaderStatement is a tag that needs another template.
	loaderStatement struct{ tag string }
	macroStatement  struct {
		id    int
		macro *macro
	}
	// callStatement calls a macro with its own body as the argument "caller".
	callStatement struct {
		call   *callExpr
		caller *macro
	}
)

func (s *textStatement) exec(r *render)  { r.write(s.text) }
func (s *setStatement) exec(r *render)   { s.target.assign(r, r.eval(s.value)) }
func (s *macroStatement) exec(r *render) { r.set(s.id, &macroValue{s.macro, r.scope}) }
func (s *callStatement) exec(r *render)  { r.print(s.call.with(r, &macroValue{s.caller, r.scope})) }

func (s *loaderStatement) exec(r *render) {
	r.fail("%q has nothing to load from: a canvas has no other templates", s.tag)
}

func (s *printStatement) exec(r *render) {
	for _, n := range s.list {
		r.print(r.eval(n))
	}
}

func (s *ifStatement) exec(r *render) {
	for i, test := range s.tests {
		if truth(r.eval(test)) {
			s.bodies[i].exec(r)
			return
		}
	}
	s.other.exec(r)
}

func (s *captureStatement) exec(r *render) {
	r.captured = r.block(r.scope, s.body)
	if v := r.eval(s.value); s.target == nil {
		r.print(v)
	} else {
		s.target.assign(r, v)
	}
}

func (s *withStatement) exec(r *render) {
	values := r.evalAll(s.values)
	r.within(r.scope, func() {
		for i, t := range s.targets {
			t.assign(r, values[i])
		}
		s.body.exec(r)
	})
}

func (s *autoescapeStatement) exec(r *render) {
	outer := r.autoescape
	r.autoescape = truth(r.eval(s.on))
	r.within(r.scope, func() { s.body.exec(r) })
	r.autoescape = outer
}

func (s *blockStatement) exec(r *render) {
	parent := r.scope
	if !s.scoped {
		parent = nil
	}
	r.within(parent, func() { s.body.exec(r) })
}

// target is the left side of an assignment.
type target interface{ assign(r *render, v value) }

type (
	nameTarget  struct{ id int }
	tupleTarget struct{ items []target }
	// attrTarget is an attribute of a namespace.
	attrTarget struct {
		id   int
		name value
	}
)

func (t *nameTarget) assign(r *render, v value) { r.set(t.id, v) }

func (t *tupleTarget) assign(r *render, v value) {
	values := collect(r, v)
	if len(values) != len(t.items) {
		r.fail("cannot assign %d values to %d names", len(values), len(t.items))
	}
	for i, item := range t.items {
		item.assign(r, values[i])
	}
}

func (t *attrTarget) assign(r *render, v value) {
	owner := r.lookup(t.id)
	ns, ok := owner.(*namespace)
	if !ok {
		r.fail("cannot set the attribute %q of %s, only of a namespace", t.name, describe(r, owner))
	}
	ns.members.set(r, t.name, v)
}

// macro is a named piece of a template with parameters. Defaults belong to the last parameters.
type macro struct {
	name                          string
	params                        []string
	ids                           []int // of the parameters
	defaults                      []node
	body                          body
	mentions                      map[string]bool // names in the body and the defaults
	callerID, varargsID, kwargsID int
}

// macroValue is a macro and the scope in which it was defined.
type macroValue struct {
	*macro
	parent *scope
}

func (m *macroValue) attr(_ *render, name string) value {
	if name == "name" {
		return m.name
	}
	return nil
}

// invoke returns the output of the macro.
func (m *macroValue) invoke(r *render, a *args) value {
	return r.capture(func() {
		r.within(m.parent, func() {
			m.bind(r, a)
			m.body.exec(r)
		})
	})
}

// bind sets the parameters. Default values may use the parameters before them.
func (m *macroValue) bind(r *render, a *args) {
	for i, id := range m.ids {
		v := a.shift()
		if v == nil {
			v = a.take(m.params[i])
		}
		if k := i - (len(m.ids) - len(m.defaults)); v == nil && k >= 0 {
			v = r.eval(m.defaults[k])
		}
		if v == nil {
			v = undefinedf("the parameter %q was not given", m.params[i])
		}
		r.set(id, v)
	}
	if m.mentions["caller"] {
		caller := a.take("caller")
		if caller == nil {
			caller = undefinedf(`the macro was not called by a "call" tag`)
		}
		r.set(m.callerID, caller)
	}
	if m.mentions["kwargs"] {
		r.set(m.kwargsID, dictOf(r, &args{names: a.names, named: a.named}))
	} else if len(a.names) > 0 {
		r.fail("macro %q has no parameter %q", m.name, a.names[0])
	}
	if m.mentions["varargs"] {
		r.set(m.varargsID, newTuple(a.plain...))
	} else if len(a.plain) > 0 {
		r.fail("macro %q takes at most %d arguments", m.name, len(m.params))
	}
}
