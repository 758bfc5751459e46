package template

import "strings"

// render is one evaluation of a template. It is not safe for concurrent use.
type render struct {
	budget
	template   *Template
	vars       Vars  // may be nil
	texts      Texts // nil without
	tables     *tables
	out        *strings.Builder
	captured   value   // text of the block whose filters are applied
	root       []value // variables of the template by index of the name, nil until the first use
	scope      *scope  // nil at the root
	autoescape bool
}

func newRender(t *Template, limits Limits, vars Vars, texts Texts) *render {
	limits = limits.orDefault()
	r := &render{
		budget:   budget{limits: limits, steps: limits.Steps, line: 1},
		template: t, vars: vars, texts: texts, tables: &builtin, out: &strings.Builder{},
		root: make([]value, len(t.names)),
	}
	r.out.Grow(min(t.size+t.size/4, limits.Output))
	return r
}

// write appends to the current output.
func (r *render) write(s string) {
	r.reserve(len(s))
	if r.out.Len()+len(s) > r.limits.Output {
		r.tooLong("the result")
	}
	r.out.WriteString(s)
}

// print writes a value, escaped if autoescape is on.
func (r *render) print(v value) {
	if r.autoescape {
		r.write(escape(r, v))
		return
	}
	r.write(str(r, v))
}

// capture returns the output of run. It is safe if autoescape is on.
func (r *render) capture(run func()) value {
	outer := r.out
	r.out = &strings.Builder{}
	run()
	s := r.out.String()
	r.out = outer
	return r.markup(s)
}

// block returns the output of a body in a new scope below parent.
func (r *render) block(parent *scope, b body) value {
	return r.capture(func() {
		r.within(parent, func() { b.exec(r) })
	})
}

// markup returns s, as a safe string if autoescape is on.
func (r *render) markup(s string) value {
	if r.autoescape {
		return safe(s)
	}
	return s
}

// scope holds the variables set inside a loop, macro or block. A name is looked up from the
// innermost scope outwards, and set in the innermost one.
type scope struct {
	parent *scope
	ids    []int
	values []value
}

// find returns the index of a variable, or -1.
func (s *scope) find(r *render, id int) int {
	r.steps -= len(s.ids) / 16
	for i, k := range s.ids {
		if k == id {
			return i
		}
	}
	return -1
}

// clear removes all variables.
func (s *scope) clear() { s.ids, s.values = s.ids[:0], s.values[:0] }

// within calls run in a new scope below parent.
func (r *render) within(parent *scope, run func()) {
	outer := r.scope
	r.scope = &scope{parent: parent}
	run()
	r.scope = outer
}

// set assigns a variable in the current scope.
func (r *render) set(id int, v value) {
	s := r.scope
	if s == nil {
		r.root[id] = v
	} else if i := s.find(r, id); i >= 0 {
		s.values[i] = v
	} else {
		s.ids, s.values = append(s.ids, id), append(s.values, v)
	}
}

// lookup returns a variable of the scopes, the template or the caller, or a global function.
func (r *render) lookup(id int) value {
	for s := r.scope; s != nil; s = s.parent {
		if i := s.find(r, id); i >= 0 {
			return s.values[i]
		}
		r.steps--
	}
	if r.root[id] == nil {
		r.root[id] = r.outside(r.template.names[id])
	}
	return r.root[id]
}

func (r *render) outside(name string) value {
	if r.texts != nil {
		if v, text, ok := r.texts(name); ok {
			return fromText(v, text)
		}
	}
	if r.vars != nil {
		if v, ok := r.vars(name); ok {
			return fromEngine(v)
		}
	}
	if g := findCallable(r.tables.globals, name); g != nil {
		return &function{callable: g}
	}
	return undefinedf("%q is undefined", name)
}
