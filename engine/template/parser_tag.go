package template

import "slices"

// statement takes the rest of a tag whose name was read.
func (p *parser) statement(name token) statement {
	switch name.text {
	case "if":
		return p.ifTag(name.line)
	case "for":
		return p.forTag(name.line)
	case "set":
		return p.setTag(name.line)
	case "with":
		return p.withTag(name.line)
	case "macro":
		return p.macroTag(name.line)
	case "call":
		return p.callTag(name.line)
	case "filter":
		return p.filterTag(name.line)
	case "block":
		return p.blockTag(name.line)
	case "autoescape":
		s := &autoescapeStatement{line: name.line, on: p.expression()}
		p.close()
		s.body = p.scoped("endautoescape")
		return s
	case "print":
		s := &printStatement{line: name.line}
		for len(s.list) == 0 || p.sign(",") {
			s.list = append(s.list, p.expression())
		}
		p.close()
		return s
	case "include", "import", "from", "extends":
		return p.loaderTag(name)
	}
	p.fail("unknown tag %q", name.text)
	return nil
}

func (p *parser) ifTag(line int) statement {
	lenient := p.lenient
	p.lenient = true
	defer func() { p.lenient = lenient }()
	s := &ifStatement{line: line}
	for {
		s.tests = append(s.tests, p.condition())
		p.close()
		b, end := p.until("elif", "else", "endif")
		s.bodies = append(s.bodies, b)
		if end == "elif" {
			continue
		}
		if end == "else" {
			p.close()
			s.other, _ = p.until("endif")
		}
		p.close()
		return s
	}
}

func (p *parser) forTag(line int) statement {
	s := &forStatement{line: line, target: p.targets("in")}
	if !p.word("in") {
		p.fail(`expected "in", got %s`, p.peek().describe())
	}
	s.items = p.tuple(false, "recursive")
	if p.word("if") {
		s.filter = p.expression()
	}
	s.recursive = p.word("recursive")
	p.close()
	b, end := p.strictly("else", "endfor")
	s.body = b
	if end == "else" {
		p.close()
		s.other, _ = p.strictly("endfor")
	}
	p.close()
	return s
}

func (p *parser) setTag(line int) statement {
	t := p.target()
	if p.sign("=") {
		s := &setStatement{line, t, p.tuple(true)}
		p.close()
		return s
	}
	s := &setBlockStatement{line: line, target: t, value: p.blockFilters(func() expr { return p.pipes(captured{}) })}
	p.close()
	s.body = p.scoped("endset")
	return s
}

func (p *parser) withTag(line int) statement {
	s := &withStatement{line: line}
	for p.peek().kind != tokTagClose {
		if len(s.targets) > 0 {
			p.expectSign(",")
		}
		s.targets = append(s.targets, p.targets())
		p.expectSign("=")
		s.values = append(s.values, p.expression())
	}
	p.close()
	s.body = p.scoped("endwith")
	return s
}

func (p *parser) macroTag(line int) statement {
	m := &macro{line: line, name: p.expectName()}
	s := &macroStatement{p.id(m.name), m}
	if isConstName(m.name) {
		p.fail("cannot assign to %q", m.name)
	}
	p.macroBody(m, "endmacro")
	return s
}

// macroBody takes the parameters, the rest of the tag and the body of m.
func (p *parser) macroBody(m *macro, end string) {
	p.macros = append(p.macros, m)
	defer func() { p.macros = p.macros[:len(p.macros)-1] }()
	p.parameters(m)
	p.close()
	m.body = p.scoped(end)
	m.callerID, m.varargsID, m.kwargsID = p.id("caller"), p.id("varargs"), p.id("kwargs")
}

// maxParameters bounds the parameters of a macro.
const maxParameters = 255

func (p *parser) parameters(m *macro) {
	p.expectSign("(")
	for !p.sign(")") {
		if len(m.params) > 0 {
			p.expectSign(",")
		}
		name := p.expectName()
		if len(m.params) >= maxParameters {
			p.fail("macro %q has more than %d parameters", m.name, maxParameters)
		}
		if isConstName(name) || slices.Contains(m.params, name) {
			p.fail("unexpected parameter %q", name)
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

func (p *parser) callTag(line int) statement {
	m := &macro{line: line, name: "caller"}
	p.macros = append(p.macros, m)
	if p.at(tokSign, "(") {
		p.parameters(m)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.fail(`expected the call of a macro in a "call" tag`)
	}
	p.close()
	m.body = p.scoped("endcall")
	p.macros = p.macros[:len(p.macros)-1]
	m.callerID, m.varargsID, m.kwargsID = p.id("caller"), p.id("varargs"), p.id("kwargs")
	return &callStatement{line, call, m}
}

func (p *parser) filterTag(line int) statement {
	s := &filterStatement{line: line, value: p.blockFilters(func() expr { return p.pipes(p.filter(captured{})) })}
	p.close()
	s.body = p.scoped("endfilter")
	return s
}

// blockFilters takes the filters of a block. An unknown one does harm in a branch too.
func (p *parser) blockFilters(take func() expr) expr {
	lenient := p.lenient
	p.lenient = false
	defer func() { p.lenient = lenient }()
	return take()
}

func (p *parser) blockTag(line int) statement {
	s := &blockStatement{line: line, name: p.expectName()}
	if p.blocks[s.name] != nil {
		p.fail("block %q is defined twice", s.name)
	}
	p.blocks[s.name] = s
	s.scoped = p.word("scoped")
	s.needed = p.word("required")
	p.close()
	s.body, _ = p.strictly("endblock")
	if s.needed && !s.body.blank() {
		p.fail("a required block may hold blanks and comments only")
	}
	p.word(s.name)
	p.close()
	return s
}

// loaderTag takes a tag that needs a second template. There is none, so it fails when it is reached.
func (p *parser) loaderTag(name token) statement {
	s := &loaderStatement{line: name.line, word: name.text}
	p.expression()
	switch name.text {
	case "import":
		if !p.word("as") {
			p.fail(`expected "as" in an "import" tag, got %s`, p.peek().describe())
		}
		p.expectName()
	case "from":
		p.imports()
	case "include":
		if p.at(tokName, "ignore") && p.tokens[p.i+1].text == "missing" {
			p.i += 2
		}
	}
	if p.at(tokName, "with") || p.at(tokName, "without") {
		p.next()
		if !p.word("context") {
			p.fail(`expected "context", got %s`, p.peek().describe())
		}
	}
	p.close()
	return s
}

// imports takes the names of a "from" tag.
func (p *parser) imports() {
	if !p.word("import") {
		p.fail(`expected "import" in a "from" tag, got %s`, p.peek().describe())
	}
	for {
		p.expectName()
		if p.word("as") {
			p.expectName()
		}
		if !p.sign(",") || p.peek().kind != tokName {
			return
		}
	}
}
