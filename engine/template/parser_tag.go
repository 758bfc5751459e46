package template

import "slices"

// body parses statements up to a tag with one of these names, which is not consumed. Without names
// it parses to the end of the template.
func (p *parser) body(ends ...string) body {
	p.enter()
	var b body
	for {
		t := p.peek()
		var s statement
		switch t.kind {
		case tokEnd:
			if len(ends) > 0 {
				p.fail("the template ends, expected {%% %s %%}", ends[len(ends)-1])
			}
			p.depth--
			return b
		case tokText:
			p.next()
			s = &textStatement{t.text}
		case tokPrint:
			p.next()
			s = &printStatement{[]node{p.tuple(p.expression)}}
			p.expect(tokPrintClose, "")
		case tokTag:
			name := p.tokens[p.i+1]
			if name.kind == tokName && slices.Contains(ends, name.text) {
				p.depth--
				return b
			}
			p.next()
			if name.kind != tokName {
				p.want("the name of a tag")
			}
			s = p.statement(p.next())
		default:
			p.fail("unexpected %s", t.describe())
		}
		b = append(b, placed{t.line, s})
	}
}

// leniently calls parse with unknown filters and tests allowed or not.
func (p *parser) leniently(lenient bool, parse func()) {
	outer := p.lenient
	p.lenient = lenient
	parse()
	p.lenient = outer
}

// until parses a body and the start of the tag that ends it, and returns the name of that tag.
func (p *parser) until(lenient bool, ends ...string) (b body, end string) {
	p.leniently(lenient, func() { b = p.body(ends...) })
	p.next()
	return b, p.next().text
}

// block parses the rest of a tag, a body and its end tag.
func (p *parser) block(end string) body {
	p.close()
	b, _ := p.until(false, end)
	p.close()
	return b
}

// statement parses the rest of a tag after its name.
func (p *parser) statement(name token) statement {
	switch name.text {
	case "if":
		return p.ifTag()
	case "for":
		return p.forTag()
	case "set":
		return p.setTag()
	case "with":
		return p.withTag()
	case "macro":
		return p.macroTag()
	case "call":
		return p.callTag()
	case "filter":
		s := &captureStatement{}
		p.leniently(false, func() { s.value = p.pipes(p.filter(node{name.line, &captured{}})) })
		s.body = p.block("endfilter")
		return s
	case "block":
		return p.blockTag()
	case "autoescape":
		s := &autoescapeStatement{on: p.expression()}
		s.body = p.block("endautoescape")
		return s
	case "print":
		s := &printStatement{}
		for len(s.list) == 0 || p.sign(",") {
			s.list = append(s.list, p.expression())
		}
		p.close()
		return s
	case "include", "import", "from", "extends":
		for p.expression(); p.peek().kind != tokTagClose; {
			p.next()
		}
		p.close()
		return &loaderStatement{name.text}
	}
	p.fail("unknown tag %q", name.text)
	return nil
}

func (p *parser) ifTag() statement {
	s := &ifStatement{}
	for end := "elif"; end == "elif"; {
		var test node
		p.leniently(true, func() { test = p.tuple(p.condition) })
		p.close()
		s.tests = append(s.tests, test)
		var b body
		b, end = p.until(true, "elif", "else", "endif")
		s.bodies = append(s.bodies, b)
		if end == "else" {
			p.close()
			s.other, _ = p.until(true, "endif")
		}
	}
	p.close()
	return s
}

func (p *parser) forTag() statement {
	s := &forStatement{target: p.targets("in")}
	p.expect(tokName, "in")
	s.items = p.tuple(p.condition, "recursive")
	if p.word("if") {
		s.filter = p.expression()
	}
	s.recursive = p.word("recursive")
	p.close()
	var end string
	if s.body, end = p.until(false, "else", "endfor"); end == "else" {
		p.close()
		s.other, _ = p.until(false, "endfor")
	}
	p.close()
	return s
}

func (p *parser) setTag() statement {
	line := p.line
	t := p.target()
	if p.sign("=") {
		s := &setStatement{t, p.tuple(p.expression)}
		p.close()
		return s
	}
	s := &captureStatement{target: t}
	p.leniently(false, func() { s.value = p.pipes(node{line, &captured{}}) })
	s.body = p.block("endset")
	return s
}

func (p *parser) withTag() statement {
	s := &withStatement{}
	for p.peek().kind != tokTagClose {
		if len(s.targets) > 0 {
			p.expect(tokSign, ",")
		}
		s.targets = append(s.targets, p.targets())
		p.expect(tokSign, "=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.block("endwith")
	return s
}

func (p *parser) macroTag() statement {
	m := &macro{name: p.name()}
	s := &macroStatement{p.id(m.name), m}
	p.macro(m, "endmacro", func() { p.parameters(m) })
	return s
}

// callTag parses a call whose body is the macro "caller".
func (p *parser) callTag() statement {
	s := &callStatement{caller: &macro{name: "caller"}}
	p.macro(s.caller, "endcall", func() {
		if p.at(0, tokSign, "(") {
			p.parameters(s.caller)
		}
		call, ok := p.expression().expr.(*callExpr)
		if !ok {
			p.fail(`expected the call of a macro in a "call" tag`)
		}
		s.call = call
	})
	return s
}

// macro parses the head and the body of m.
func (p *parser) macro(m *macro, end string, head func()) {
	m.mentions = map[string]bool{}
	p.macros = append(p.macros, m)
	head()
	m.body = p.block(end)
	p.macros = p.macros[:len(p.macros)-1]
	m.callerID, m.varargsID, m.kwargsID = p.id("caller"), p.id("varargs"), p.id("kwargs")
}

// maxParameters bounds the parameters of a macro.
const maxParameters = 255

func (p *parser) parameters(m *macro) {
	p.expect(tokSign, "(")
	for p.more(len(m.params) == 0, false, ")") {
		name := p.name()
		if len(m.params) >= maxParameters {
			p.fail("macro %q has more than %d parameters", m.name, maxParameters)
		}
		if slices.Contains(m.params, name) {
			p.fail("macro %q has two parameters %q", m.name, name)
		}
		m.params = append(m.params, name)
		m.ids = append(m.ids, p.id(name))
		switch {
		case p.sign("="):
			m.defaults = append(m.defaults, p.expression())
		case len(m.defaults) > 0:
			p.fail("parameter %q without default follows one with default", name)
		}
	}
}

// name parses a name that can be assigned to.
func (p *parser) name() string {
	name := p.expectName()
	if constants[name] != nil {
		p.fail("cannot assign to %q", name)
	}
	return name
}

func (p *parser) blockTag() statement {
	name := p.expectName()
	if p.blocks[name] {
		p.fail("block %q is defined twice", name)
	}
	p.blocks[name] = true
	s := &blockStatement{scoped: p.word("scoped")}
	p.close()
	s.body, _ = p.until(false, "endblock")
	p.word(name)
	p.close()
	return s
}

// target parses the left side of a "set": names, or an attribute of a namespace.
func (p *parser) target() target {
	if p.peek().kind == tokName && p.at(1, tokSign, ".") {
		id := p.id(p.next().text)
		p.next()
		return &attrTarget{id, p.expectName()}
	}
	return p.targets()
}

// targets parses one or more names, possibly nested in parentheses.
func (p *parser) targets(ends ...string) target {
	return p.asTarget(p.tuple(p.primary, ends...).expr)
}

func (p *parser) asTarget(e expr) target {
	switch e := e.(type) {
	case *nameExpr:
		return &nameTarget{e.id}
	case *tupleExpr:
		t := &tupleTarget{}
		for _, item := range e.items {
			t.items = append(t.items, p.asTarget(item.expr))
		}
		return t
	}
	p.fail("cannot assign to this expression, expected a name")
	return nil
}
