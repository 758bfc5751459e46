package template

import (
	"fmt"
	"slices"
	"strings"
)

// postfix parses the attributes, items and calls after an expression, and filters, tests and calls
// of their results.
func (p *parser) postfix(n node, filters bool) node {
	for filtered := false; ; {
		line := p.peek().line
		switch {
		case p.at(0, tokSign, "("):
			n = node{line, &callExpr{n, p.arguments()}}
		case filters && p.at(0, tokSign, "|"):
			n, filtered = p.pipes(n), true
		case filters && p.word("is"):
			n, filtered = node{line, p.test(n)}, true
		case !filtered && p.sign("."):
			n = node{line, p.attribute(n)}
		case !filtered && p.sign("["):
			var keys []node
			for p.more(len(keys) == 0, false, "]") {
				keys = append(keys, p.subscript())
			}
			key := node{line, &tupleExpr{keys}}
			if len(keys) == 1 {
				key = keys[0]
			}
			n = node{line, &indexExpr{n, key}}
		default:
			return n
		}
	}
}

// attribute parses the name or index after a dot.
func (p *parser) attribute(owner node) expr {
	t := p.next()
	switch t.kind {
	case tokName:
		return &attrExpr{owner, t.text, t.text}
	case tokInt:
		return &indexExpr{owner, node{t.line, &literalExpr{p.integer(t.text)}}}
	}
	p.fail(`expected a name behind ".", got %s`, t.describe())
	return nil
}

// subscript parses an index, or a slice such as 1:5:2, in which every part is optional.
func (p *parser) subscript() node {
	s := &sliceExpr{}
	line, i := p.peek().line, 0
	for ; i < len(s.bounds); i++ {
		if !p.at(0, tokSign, ":") && !p.at(0, tokSign, "]") && !p.at(0, tokSign, ",") {
			s.bounds[i] = p.expression()
		}
		if !p.sign(":") {
			break
		}
	}
	if i > 0 {
		return node{line, s}
	}
	if s.bounds[0].expr == nil {
		p.want("an index")
	}
	return s.bounds[0]
}

// arguments parses the arguments of a call in their parentheses.
func (p *parser) arguments() *argumentList {
	p.expect(tokSign, "(")
	a := &argumentList{}
	for first := true; p.more(first, true, ")"); first = false {
		allowed := a.doubleStar.expr == nil
		switch t := p.peek(); {
		case p.sign("**"):
			a.doubleStar = p.expression()
		case p.sign("*"):
			allowed = allowed && a.star.expr == nil
			a.star = p.expression()
		case t.kind == tokName && p.at(1, tokSign, "="):
			p.i += 2
			a.names = append(a.names, t.text)
			a.named = append(a.named, p.expression())
		default:
			allowed = allowed && a.star.expr == nil && len(a.names) == 0
			a.plain = append(a.plain, p.expression())
		}
		if !allowed {
			p.fail("argument in the wrong place: plain ones come first, then name=value, * and **")
		}
	}
	return a
}

// pipes parses filters, each after a "|".
func (p *parser) pipes(n node) node {
	for p.sign("|") {
		n = p.filter(n)
	}
	return n
}

// filter parses the name of a filter and its arguments.
func (p *parser) filter(input node) node {
	line := p.peek().line
	f := &applied{what: "filter", input: input}
	p.find(f, builtin.filters)
	if p.at(0, tokSign, "(") {
		f.args = p.arguments()
	}
	return node{line, f}
}

// test parses the test after "is".
func (p *parser) test(input node) expr {
	t := &testExpr{applied: applied{what: "test", input: input}, negate: p.word("not")}
	p.find(&t.applied, builtin.tests)
	next := p.peek()
	switch {
	case next.kind == tokSign && next.text == "(":
		t.args = p.arguments()
	case p.at(0, tokName, "is"):
		p.fail(`tests cannot be chained, join them with "and"`)
	case next.kind == tokName && !slices.Contains([]string{"else", "or", "and"}, next.text),
		next.kind == tokString, next.kind == tokInt, next.kind == tokFloat,
		next.kind == tokSign && (next.text == "[" || next.text == "{"):
		t.args = &argumentList{plain: []node{p.postfix(p.primary(), false)}}
	}
	return t
}

// find parses the name of a filter or test, which may contain dots. An unknown one in a branch
// fails only if it is evaluated.
func (p *parser) find(a *applied, table []callable) {
	parts := []string{p.expectName()}
	for p.sign(".") {
		parts = append(parts, p.expectName())
	}
	a.name = strings.Join(parts, ".")
	if a.fn = findCallable(table, a.name); a.fn == nil && !p.lenient {
		reason := fmt.Sprintf("unknown %s %q", a.what, a.name)
		p.unknown = append(p.unknown, &Error{Line: p.line, Reason: reason, kind: ErrSyntax})
	}
}
