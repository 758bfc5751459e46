package template

import (
	"fmt"
	"strings"
)

// postfix takes attributes, items and calls behind an expression.
func (p *parser) postfix(e expr) expr {
	for {
		line := p.peek().line
		switch {
		case p.sign("."):
			e = p.attribute(e, line)
		case p.sign("["):
			e = &indexExpr{line, e, p.subscripts()}
		case p.at(tokSign, "("):
			e = &callExpr{line, e, p.arguments()}
		default:
			return e
		}
	}
}

func (p *parser) attribute(e expr, line int) expr {
	switch t := p.next(); t.kind {
	case tokName:
		return &attrExpr{line, e, t.text}
	case tokInt:
		return &indexExpr{line, e, &literalExpr{p.integer(t.text)}}
	default:
		p.fail(`expected a name behind ".", got %s`, t.describe())
		return nil
	}
}

func (p *parser) subscripts() expr {
	var list []expr
	for !p.sign("]") {
		if len(list) > 0 {
			p.expectSign(",")
		}
		list = append(list, p.subscript())
	}
	if len(list) == 1 {
		return list[0]
	}
	return &tupleExpr{list}
}

// subscript takes an index or a slice such as 1:5:2 with any part left out.
func (p *parser) subscript() expr {
	var parts [3]expr
	n := 0
	for ; n < 3; n++ {
		if !p.at(tokSign, ":") && !p.at(tokSign, "]") && !p.at(tokSign, ",") {
			parts[n] = p.expression()
		}
		if !p.sign(":") {
			break
		}
	}
	if n == 0 {
		if parts[0] == nil {
			p.fail("expected an index, got %s", p.peek().describe())
		}
		return parts[0]
	}
	return &sliceExpr{parts[0], parts[1], parts[2]}
}

// arguments takes the parenthesised arguments of a call.
func (p *parser) arguments() *argumentList {
	p.expectSign("(")
	a := &argumentList{}
	for first := true; !p.sign(")"); first = false {
		if !first {
			p.expectSign(",")
			if p.sign(")") {
				break
			}
		}
		switch t := p.peek(); {
		case p.sign("**"):
			p.once(a.doubleStar == nil)
			a.doubleStar = p.expression()
		case p.sign("*"):
			p.once(a.star == nil && a.doubleStar == nil)
			a.star = p.expression()
		case t.kind == tokName && p.tokens[p.i+1].kind == tokSign && p.tokens[p.i+1].text == "=":
			p.once(a.doubleStar == nil)
			p.i += 2
			a.names = append(a.names, t.text)
			a.named = append(a.named, p.expression())
		default:
			p.once(a.star == nil && a.doubleStar == nil && len(a.names) == 0)
			a.plain = append(a.plain, p.expression())
		}
	}
	return a
}

func (p *parser) once(ok bool) {
	if !ok {
		p.fail("argument in the wrong place: plain ones come first, then name=value, * and **")
	}
}

// filters takes filters, tests and calls of their results.
func (p *parser) filters(e expr) expr {
	for {
		line := p.peek().line
		switch {
		case p.at(tokSign, "|"):
			e = p.pipes(e)
		case p.word("is"):
			e = p.test(e, line)
		case p.at(tokSign, "("):
			e = &callExpr{line, e, p.arguments()}
		default:
			return e
		}
	}
}

// pipes takes filters, each behind its "|".
func (p *parser) pipes(e expr) expr {
	for p.sign("|") {
		e = p.filter(e)
	}
	return e
}

// filter takes the name of a filter and its arguments.
func (p *parser) filter(e expr) expr {
	f := &filterExpr{line: p.peek().line, name: p.dotted(), input: e}
	if f.filter = findCallable(filterTable[:], f.name); f.filter == nil {
		p.notFound("filter", f.name)
	}
	if p.at(tokSign, "(") {
		f.args = p.arguments()
	}
	return f
}

// test takes what follows "is".
func (p *parser) test(e expr, line int) expr {
	negate := p.word("not")
	name := p.dotted()
	t := &testExpr{line: line, name: name, input: e, negate: negate, test: findCallable(testTable[:], name)}
	if t.test == nil {
		p.notFound("test", name)
	}
	switch next := p.peek(); next.kind {
	case tokName:
		switch next.text {
		case "else", "or", "and":
			return t
		case "is":
			p.fail(`tests cannot be chained, join them with "and"`)
		}
	case tokSign:
		if next.text == "(" {
			t.args = p.arguments()
			return t
		}
		if next.text != "[" && next.text != "{" {
			return t
		}
	case tokString, tokInt, tokFloat:
	default:
		return t
	}
	t.args = &argumentList{plain: []expr{p.postfix(p.primary())}}
	return t
}

// dotted takes a name that may contain dots.
func (p *parser) dotted() string {
	parts := []string{p.expectName()}
	for p.sign(".") {
		parts = append(parts, p.expectName())
	}
	return strings.Join(parts, ".")
}

// notFound notes an unknown filter or test. In a branch it does no harm until it is reached.
func (p *parser) notFound(what, name string) {
	if !p.lenient {
		p.unknown = append(p.unknown, &Error{Line: p.line, Reason: fmt.Sprintf("unknown %s %q", what, name), kind: ErrSyntax})
	}
}
