package template

import (
	"slices"
	"strings"
)

// parser builds the tree of a template by recursive descent. It fails with a panic; see caught.
// This file parses expressions, parser_tag.go statements.
type parser struct {
	cursor
	ids     map[string]int // indexes of names
	names   []string
	blocks  map[string]bool // names of the blocks
	macros  []*macro        // being parsed, outermost first
	lenient bool            // inside a branch: an unknown filter fails only when it is evaluated
	unknown []*Error        // unknown filters and tests outside of branches
}

// maxSource bounds the source of a template in bytes.
const maxSource = 4 << 20

func (p *parser) parse(text string) *Template {
	if len(text) > maxSource {
		p.fail("the template is longer than %d bytes", maxSource)
	}
	p.tokens = lex(text)
	b := p.body()
	if len(p.unknown) > 0 {
		panic(p.unknown[0])
	}
	loopID := p.id("loop")
	return &Template{body: b, names: p.names, loopID: loopID, size: len(text)}
}

// id returns the index of a variable name.
func (p *parser) id(name string) int {
	i, ok := p.ids[name]
	if !ok {
		i = len(p.names)
		p.ids[name] = i
		p.names = append(p.names, name)
	}
	return i
}

// level is the precedence of an operator. The order follows Jinja: "~" is between "+" and "*", and
// "**" is left associative like all others.
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
)

var levels = map[string]level{
	"or": levelOr, "and": levelAnd, "in": levelCompare, "==": levelCompare, "!=": levelCompare, "<": levelCompare,
	"<=": levelCompare, ">": levelCompare, ">=": levelCompare, "+": levelSum, "-": levelSum, "~": levelJoin,
	"*": levelProduct, "/": levelProduct, "//": levelProduct, "%": levelProduct, "**": levelPower,
}

// operator returns the next token as an infix operator; ok is false if it is not one.
func (p *parser) operator() (op string, l level, ok bool) {
	t := p.tokens[p.i]
	if t.kind == tokName && t.text == "not" && p.at(1, tokName, "in") {
		return "not in", levelCompare, true
	}
	if t.kind == tokSign || t.kind == tokName {
		l, ok = levels[t.text]
	}
	return t.text, l, ok
}

// condition parses an expression other than "a if b else c".
func (p *parser) condition() node { return p.infix(levelOr) }

// expression parses an expression, which may be "a if b else c".
func (p *parser) expression() node {
	p.enter()
	known := len(p.unknown)
	n := p.condition()
	for p.word("if") {
		t := &ternaryExpr{yes: n, test: p.condition()}
		if p.word("else") {
			t.no = p.expression()
		}
		n = node{n.line, t}
		p.unknown = p.unknown[:known] // both sides are branches
	}
	p.depth--
	return n
}

// infix parses operands joined by operators that bind at least as tightly as lowest.
func (p *parser) infix(lowest level) node {
	left := p.operand(lowest)
	for {
		op, l, ok := p.operator()
		if !ok || l < lowest {
			return left
		}
		line := p.peek().line
		switch {
		case l == levelCompare:
			left = node{line, p.comparison(left)}
		case op == "~":
			c := &concatExpr{parts: []node{left}}
			for p.sign("~") {
				c.parts = append(c.parts, p.infix(levelProduct))
			}
			left = node{line, c}
		default:
			p.next()
			right := p.infix(l + 1)
			if l <= levelAnd {
				left = node{line, &logicExpr{op == "or", left, right}}
			} else {
				left = node{line, &binaryExpr{op, left, right}}
			}
		}
	}
}

func (p *parser) operand(lowest level) node {
	if lowest > levelNot || !p.word("not") {
		return p.unary(true)
	}
	p.enter()
	n := node{p.line, &notExpr{p.infix(levelNot)}}
	p.depth--
	return n
}

// comparison parses a chain such as a < b <= c, which is true if every link is.
func (p *parser) comparison(first node) expr {
	c := &compareExpr{first: first}
	for {
		op, l, ok := p.operator()
		if !ok || l != levelCompare {
			return c
		}
		if p.next(); op == "not in" {
			p.next()
		}
		c.links = append(c.links, link{op, p.infix(levelSum)})
	}
}

// unary parses signs, a primary and its postfix. Filters apply to the outermost sign.
func (p *parser) unary(filters bool) node {
	line := p.peek().line
	minus := p.sign("-")
	if !minus && !p.sign("+") {
		return p.postfix(p.primary(), filters)
	}
	p.enter()
	n := node{line, &signExpr{minus, p.unary(false)}}
	p.depth--
	return p.postfix(n, filters)
}

// constants are the names with a fixed value.
var constants = map[string]value{
	"true": true, "True": true, "false": false, "False": false, "none": none{}, "None": none{},
}

func (p *parser) primary() node {
	t := p.next()
	var e expr
	switch t.kind {
	case tokName:
		if v, ok := constants[t.text]; ok {
			e = &literalExpr{v}
			break
		}
		for _, m := range p.macros {
			m.mentions[t.text] = true
		}
		e = &nameExpr{p.id(t.text)}
	case tokString:
		parts := []string{t.text}
		for p.peek().kind == tokString {
			parts = append(parts, p.next().text)
		}
		e = &literalExpr{strings.Join(parts, "")}
	case tokInt:
		e = &literalExpr{p.integer(t.text)}
	case tokFloat:
		e = &literalExpr{parseFloat(t.text)}
	case tokSign:
		e = p.bracket(t)
	}
	if e == nil {
		p.fail("expected an expression, got %s", t.describe())
	}
	return node{t.line, e}
}

// bracket parses a tuple or parenthesis, list or object after its opening sign, or returns nil.
func (p *parser) bracket(t token) expr {
	switch t.text {
	case "(":
		if p.sign(")") {
			return &tupleExpr{}
		}
		n := p.tuple(p.expression)
		p.expect(tokSign, ")")
		return n.expr
	case "[":
		l := &listExpr{}
		for p.more(len(l.items) == 0, true, "]") {
			l.items = append(l.items, p.expression())
		}
		return l
	case "{":
		d := &dictExpr{}
		for p.more(len(d.keys) == 0, true, "}") {
			d.keys = append(d.keys, p.expression())
			p.expect(tokSign, ":")
			d.values = append(d.values, p.expression())
		}
		return d
	}
	return nil
}

// integer returns the value of an integer literal.
func (p *parser) integer(text string) value {
	n, large := parseInteger(text, 0)
	if large {
		p.fail("the integer %s is beyond the limits of 64 bits, -2**63 and 2**63-1", firstBytes(text, 40))
	}
	return n
}

// tuple parses one expression, or a tuple of several with commas. A name in ends stops it.
func (p *parser) tuple(one func() node, ends ...string) node {
	var list []node
	line, comma := p.peek().line, false
	for {
		t := p.peek()
		if t.kind == tokPrintClose || t.kind == tokTagClose || p.at(0, tokSign, ")") ||
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
		return node{line, &tupleExpr{list}}
	}
	if len(list) == 0 {
		p.want("an expression")
	}
	return list[0]
}
