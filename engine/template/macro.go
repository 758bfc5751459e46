package template

// macro is a piece of template with parameters. The default values belong to the last parameters.
type macro struct {
	line                          int
	name                          string
	params                        []string
	ids                           []int
	defaults                      []expr
	body                          *body
	usesCaller                    bool // what the body mentions
	usesVarargs                   bool
	usesKwargs                    bool
	callerID, varargsID, kwargsID int
}

type macroStatement struct {
	id    int
	macro *macro
}

func (s *macroStatement) exec(r *render) { r.set(s.id, &macroValue{s.macro, r.scope}) }

// callStatement calls a macro that gets the body of the tag as its caller.
type callStatement struct {
	line   int
	call   *callExpr
	caller *macro
}

func (s *callStatement) exec(r *render) {
	r.line = s.line
	r.print(s.call.with(r, &macroValue{s.caller, r.scope}))
}

// macroValue is a macro together with the scope it was defined in.
type macroValue struct {
	*macro
	parent *scope
}

func (m *macroValue) attr(_ *render, name string) value {
	switch name {
	case "name":
		return m.name
	case "arguments":
		t := &tuple{}
		for _, p := range m.params {
			t.items = append(t.items, p)
		}
		return t
	case "catch_kwargs":
		return m.usesKwargs
	case "catch_varargs":
		return m.usesVarargs
	case "caller":
		return m.usesCaller
	}
	return nil
}

// invoke gives the text of the macro.
func (m *macroValue) invoke(r *render, a *args) value {
	outer := r.line
	text := r.capture(func() {
		r.within(m.parent, func(s *scope) {
			m.bind(r, s, a)
			m.body.exec(r)
		})
	})
	r.line = outer
	return r.markup(text)
}

// bind sets the parameters in the scope of the body. Default values may use the parameters before them.
func (m *macroValue) bind(r *render, s *scope, a *args) {
	for i, id := range m.ids {
		if v := a.shift(); v != nil {
			s.set(id, v)
		} else if v := a.take(m.params[i]); v != nil {
			s.set(id, v)
		} else if k := i - (len(m.ids) - len(m.defaults)); k >= 0 {
			s.set(id, r.eval(m.defaults[k]))
		} else {
			s.set(id, &undefined{"the parameter \"" + m.params[i] + "\" was not given"})
		}
	}
	if m.usesCaller {
		caller := a.take("caller")
		if caller == nil {
			caller = &undefined{"the macro was not called by a \"call\" tag"}
		}
		s.set(m.callerID, caller)
	}
	m.rest(r, s, a)
}

// rest hands on the arguments beyond the parameters, or fails.
func (m *macroValue) rest(r *render, s *scope, a *args) {
	if m.usesKwargs {
		d := newDict(len(a.names))
		for i, name := range a.names {
			d.set(r, name, a.named[i])
		}
		s.set(m.kwargsID, d)
	} else if len(a.names) > 0 {
		r.fail("macro %q has no parameter %q", m.name, a.names[0])
	}
	if m.usesVarargs {
		s.set(m.varargsID, &tuple{items: a.plain})
	} else if len(a.plain) > 0 {
		r.fail("macro %q takes at most %d arguments", m.name, len(m.params))
	}
}
