package template

import "strings"

// statement is a node that writes or sets something.
type statement interface{ exec(r *render) }

// body is a list of statements.
type body struct{ list []statement }

// blank reports whether a body prints nothing but blanks.
func (b *body) blank() bool {
	for _, s := range b.list {
		if text, ok := s.(*textStatement); !ok || strings.TrimFunc(text.text, isSpace) != "" {
			return false
		}
	}
	return true
}

func (b *body) exec(r *render) {
	r.enter()
	for _, s := range b.list {
		r.spend(1)
		s.exec(r)
	}
	r.depth--
}

type textStatement struct{ text string }

func (s *textStatement) exec(r *render) { r.write(s.text) }

type printStatement struct {
	line int
	list []expr
}

func (s *printStatement) exec(r *render) {
	r.line = s.line
	for _, e := range s.list {
		r.print(r.eval(e))
	}
}

// print writes a value as the current escaping asks for.
func (r *render) print(v value) {
	if r.autoescape {
		r.write(string(r.escape(v)))
		return
	}
	r.write(r.str(v))
}

type ifStatement struct {
	line   int
	tests  []expr
	bodies []*body
	other  *body // nil without "else"
}

func (s *ifStatement) exec(r *render) {
	r.line = s.line
	for i, test := range s.tests {
		if r.truth(r.eval(test)) {
			s.bodies[i].exec(r)
			return
		}
	}
	if s.other != nil {
		s.other.exec(r)
	}
}

type setStatement struct {
	line   int
	target target
	e      expr
}

func (s *setStatement) exec(r *render) {
	r.line = s.line
	s.target.assign(r, r.eval(s.e))
}

type setBlockStatement struct {
	line   int
	target target
	value  expr // the filters, applied to the captured text
	body   *body
}

func (s *setBlockStatement) exec(r *render) {
	r.captured = r.markup(r.block(s.body))
	r.line = s.line
	s.target.assign(r, r.eval(s.value))
}

// block gives the text of a body with a scope of its own.
func (r *render) block(b *body) string {
	return r.capture(func() {
		r.within(r.scope, func(*scope) { b.exec(r) })
	})
}

type filterStatement struct {
	line  int
	value expr // the filters, applied to the captured text
	body  *body
}

func (s *filterStatement) exec(r *render) {
	r.captured = r.markup(r.block(s.body))
	r.line = s.line
	r.print(r.eval(s.value))
}

type withStatement struct {
	line    int
	targets []target
	values  []expr
	body    *body
}

func (s *withStatement) exec(r *render) {
	r.line = s.line
	values := r.all(s.values)
	r.within(r.scope, func(*scope) {
		for i, t := range s.targets {
			t.assign(r, values[i])
		}
		s.body.exec(r)
	})
}

type autoescapeStatement struct {
	line int
	on   expr
	body *body
}

func (s *autoescapeStatement) exec(r *render) {
	r.line = s.line
	outer := r.autoescape
	r.autoescape = r.truth(r.eval(s.on))
	r.within(r.scope, func(*scope) { s.body.exec(r) })
	r.autoescape = outer
}

// blockStatement writes its body where it stands. The body sees the variables of the template, and those around it
// only when it is scoped.
type blockStatement struct {
	line   int
	name   string
	scoped bool
	needed bool // another template has to bring its text, and there is none
	body   *body
}

func (s *blockStatement) exec(r *render) {
	if s.needed {
		r.line = s.line
		r.fail("the required block %q has no text of its own", s.name)
	}
	parent := r.scope
	if !s.scoped {
		parent = nil
	}
	r.within(parent, func(*scope) { s.body.exec(r) })
}

// self is the variable that gives the text of a block again: {{ self.title() }}.
type self struct{}

func (s *self) attr(r *render, name string) value {
	b := r.t.blocks[name]
	if b == nil {
		return nil
	}
	return &function{&callable{name: name, run: func(r *render, _ value, _ *args) value {
		outer := r.scope
		r.scope = nil
		text := r.block(b.body)
		r.scope = outer
		return r.markup(text)
	}}, s}
}

// loaderStatement is a tag that needs a second template.
type loaderStatement struct {
	line int
	word string
}

func (s *loaderStatement) exec(r *render) {
	r.line = s.line
	r.fail("%q has nothing to load from: a canvas has no other templates", s.word)
}
