package template

import (
	"slices"
	"strings"
)

// level is how tight an operator binds. The order is Jinja's: "~" sits between "+" and "*", and "**" groups
// from the left like everything else.
type level int

const (
	levelOr level = iota
	levelAnd
	levelNot
	levelCompare
	levelSum
	levelJoin
	levelProduct
	levelPower
	levelUnary
)

var signLevels = [...]struct {
	sign  string
	level level
}{
	{"==", levelCompare}, {"!=", levelCompare}, {"<", levelCompare}, {"<=", levelCompare}, {">", levelCompare},
	{">=", levelCompare}, {"+", levelSum}, {"-", levelSum}, {"~", levelJoin}, {"*", levelProduct},
	{"/", levelProduct}, {"//", levelProduct}, {"%", levelProduct}, {"**", levelPower},
}

// operator gives the infix operator that comes next, or "".
func (p *parser) operator() (string, level) {
	t := p.tokens[p.i]
	if t.kind == tokSign {
		for _, s := range signLevels {
			if s.sign == t.text {
				return s.sign, s.level
			}
		}
		return "", 0
	}
	if t.kind != tokName {
		return "", 0
	}
	switch t.text {
	case "or":
		return "or", levelOr
	case "and":
		return "and", levelAnd
	case "in":
		return "in", levelCompare
	case "not":
		if next := p.tokens[p.i+1]; next.kind == tokName && next.text == "in" {
			return "not in", levelCompare
		}
	}
	return "", 0
}

// expression takes one expression, with "a if b else c".
func (p *parser) expression() expr {
	p.enter()
	defer p.leave()
	known := len(p.unknown)
	e := p.infix(levelOr)
	for p.word("if") {
		t := &ternaryExpr{yes: e, test: p.infix(levelOr)}
		if p.word("else") {
			t.no = p.expression()
		}
		e = t
		p.unknown = p.unknown[:known] // both sides are branches
	}
	return e
}

// condition takes what may follow "if" and "elif": an expression without a ternary.
func (p *parser) condition() expr { return p.tuple(false) }

// infix takes operands and the operators between them that bind at least as tight as min.
func (p *parser) infix(min level) expr {
	left := p.operand(min)
	for {
		op, lv := p.operator()
		if op == "" || lv < min {
			return left
		}
		line := p.peek().line
		switch {
		case lv == levelCompare:
			left = p.comparison(left)
		case op == "~":
			left = p.concatenation(left)
		default:
			p.next()
			right := p.infix(lv + 1)
			if lv <= levelAnd {
				left = &logicExpr{op == "or", left, right}
			} else {
				left = &binaryExpr{op, line, left, right}
			}
		}
	}
}

func (p *parser) operand(min level) expr {
	if min <= levelNot && p.word("not") {
		p.enter()
		defer p.leave()
		return &notExpr{p.infix(levelNot)}
	}
	return p.unary(true)
}

// comparison takes a chain such as a < b <= c, which holds when every link holds.
func (p *parser) comparison(first expr) expr {
	c := &compareExpr{line: p.line, first: first}
	for {
		op, lv := p.operator()
		if op == "" || lv != levelCompare {
			return c
		}
		p.next()
		if op == "not in" {
			p.next()
		}
		c.links = append(c.links, link{op, p.infix(levelSum)})
	}
}

func (p *parser) concatenation(first expr) expr {
	c := &concatExpr{parts: []expr{first}}
	for p.sign("~") {
		c.parts = append(c.parts, p.infix(levelProduct))
	}
	return c
}

// unary takes signs, a primary and what follows it; filters are left to the outermost sign.
func (p *parser) unary(filters bool) expr {
	var e expr
	line := p.peek().line
	switch {
	case p.sign("-"):
		e = &negateExpr{line, true, p.signed()}
	case p.sign("+"):
		e = &negateExpr{line, false, p.signed()}
	default:
		e = p.primary()
	}
	e = p.postfix(e)
	if filters {
		e = p.filters(e)
	}
	return e
}

// signed takes the operand of a sign.
func (p *parser) signed() expr {
	p.enter()
	defer p.leave()
	return p.unary(false)
}

// constant is the value of a name that is always the same thing, or nil.
func constant(name string) value {
	switch name {
	case "true", "True":
		return true
	case "false", "False":
		return false
	case "none", "None":
		return none{}
	}
	return nil
}

func isConstName(name string) bool { return constant(name) != nil }

func (p *parser) primary() expr {
	t := p.next()
	switch t.kind {
	case tokName:
		if v := constant(t.text); v != nil {
			return &literalExpr{v}
		}
		p.mentions(t.text)
		return &nameExpr{p.id(t.text)}
	case tokString:
		parts := []string{t.text}
		for p.peek().kind == tokString {
			parts = append(parts, p.next().text)
		}
		return &literalExpr{strings.Join(parts, "")}
	case tokInt:
		return &literalExpr{p.integer(t.text)}
	case tokFloat:
		return &literalExpr{parseFloat(t.text)}
	case tokSign:
		switch t.text {
		case "(":
			return p.parenthesis()
		case "[":
			return &listExpr{p.elements("]")}
		case "{":
			return p.dict()
		}
	}
	p.fail("expected an expression, got %s", t.describe())
	return nil
}

// elements takes expressions with commas between them up to the closing sign.
func (p *parser) elements(end string) []expr {
	var list []expr
	for !p.sign(end) {
		if len(list) > 0 {
			p.expectSign(",")
			if p.sign(end) {
				break
			}
		}
		list = append(list, p.expression())
	}
	return list
}

func (p *parser) parenthesis() expr {
	if p.sign(")") {
		return &tupleExpr{}
	}
	e := p.tuple(true)
	p.expectSign(")")
	return e
}

func (p *parser) dict() expr {
	d := &dictExpr{line: p.line}
	for !p.sign("}") {
		if len(d.keys) > 0 {
			p.expectSign(",")
			if p.sign("}") {
				break
			}
		}
		d.keys = append(d.keys, p.expression())
		p.expectSign(":")
		d.values = append(d.values, p.expression())
	}
	return d
}

// tuple takes one expression, or several with commas between them as a tuple. A name in ends stops it.
func (p *parser) tuple(ternary bool, ends ...string) expr {
	return p.list(func() expr {
		if ternary {
			return p.expression()
		}
		return p.infix(levelOr)
	}, ends)
}

func (p *parser) list(one func() expr, ends []string) expr {
	var list []expr
	comma := false
	for {
		t := p.peek()
		if t.kind == tokPrintClose || t.kind == tokTagClose || p.at(tokSign, ")") ||
			t.kind == tokName && slices.Contains(ends, t.text) {
			break
		}
		list = append(list, one())
		if !p.sign(",") {
			break
		}
		comma = true
	}
	if comma {
		return &tupleExpr{list}
	}
	if len(list) == 0 {
		p.fail("expected an expression, got %s", p.peek().describe())
	}
	return list[0]
}

// target takes what "set" assigns to: names, or an attribute of a namespace.
func (p *parser) target() target {
	if p.peek().kind == tokName && p.tokens[p.i+1].kind == tokSign && p.tokens[p.i+1].text == "." {
		id := p.id(p.next().text)
		p.next()
		return &attrTarget{id, p.expectName()}
	}
	return p.targets()
}

// targets takes a name or several, possibly nested in parentheses.
func (p *parser) targets(ends ...string) target {
	return p.asTarget(p.list(p.primary, ends))
}

func (p *parser) asTarget(e expr) target {
	switch e := e.(type) {
	case *nameExpr:
		return &nameTarget{e.id}
	case *tupleExpr:
		t := &tupleTarget{}
		for _, item := range e.items {
			t.items = append(t.items, p.asTarget(item))
		}
		return t
	}
	p.fail("cannot assign to this expression, expected a name")
	return nil
}

// integer is the value of an integer literal.
func (p *parser) integer(text string) value {
	n, large := parseInteger(text, 0)
	if large {
		p.fail("the integer %s is beyond the limits of 64 bits, -2**63 and 2**63-1", firstBytes(text, 40))
	}
	return n
}
