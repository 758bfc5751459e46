package template

import (
	"fmt"
	"slices"
)

// maxNesting bounds how deep brackets, tags and unary operators may nest in a template.
const maxNesting = 150

// parser builds the tree of one template by recursive descent. It fails with a panic, see caught.
type parser struct {
	tokens  []token
	i       int
	line    int
	depth   int
	ids     map[string]int
	names   []string
	blocks  map[string]*blockStatement
	macros  []*macro // being parsed, outermost first
	lenient bool     // inside a branch: an unknown filter fails only when it is reached
	unknown []*Error // unknown filters and tests outside of branches
}

func newParser() *parser {
	return &parser{line: 1, ids: map[string]int{}, blocks: map[string]*blockStatement{}}
}

// maxSource bounds the text of a template in bytes.
const maxSource = 4 << 20

func (p *parser) parse(text string) *Template {
	if len(text) > maxSource {
		p.fail("the template is longer than %d bytes", maxSource)
	}
	p.tokens = lex(text)
	b := p.body()
	if p.peek().kind != tokEnd {
		p.fail("unexpected tag %q", p.tokens[p.i+1].text)
	}
	if len(p.unknown) > 0 {
		panic(p.unknown[0])
	}
	loopID := p.id("loop")
	return &Template{body: b, names: p.names, blocks: p.blocks, loopID: loopID, length: len(text)}
}

// fail ends the parsing, at the token read last.
//
//go:noinline
func (p *parser) fail(format string, args ...any) {
	panic(&Error{Line: p.line, Reason: fmt.Sprintf(format, args...), kind: ErrSyntax})
}

// id is the index of a variable name.
func (p *parser) id(name string) int {
	i, ok := p.ids[name]
	if !ok {
		i = len(p.names)
		p.ids[name] = i
		p.names = append(p.names, name)
	}
	return i
}

// peek gives the next token without taking it.
//
//go:noinline
func (p *parser) peek() token {
	t := p.tokens[p.i]
	p.line = t.line
	return t
}

// next takes one token; the last one, tokEnd, is never passed.
//
//go:noinline
func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEnd {
		p.i++
	}
	return t
}

// at reports whether the next token is this sign or name.
//
//go:noinline
func (p *parser) at(kind tokenKind, text string) bool {
	t := p.tokens[p.i]
	return t.kind == kind && t.text == text
}

// sign takes the given sign if it is next.
//
//go:noinline
func (p *parser) sign(text string) bool { return p.take(tokSign, text) }

// word takes the given name if it is next.
//
//go:noinline
func (p *parser) word(text string) bool { return p.take(tokName, text) }

//go:noinline
func (p *parser) take(kind tokenKind, text string) bool {
	if !p.at(kind, text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectSign(text string) {
	if !p.sign(text) {
		p.fail("expected %q, got %s", text, p.peek().describe())
	}
}

func (p *parser) expectName() string {
	t := p.next()
	if t.kind != tokName {
		p.fail("expected a name, got %s", t.describe())
	}
	return t.text
}

// close takes the end of a tag.
func (p *parser) close() {
	if t := p.next(); t.kind != tokTagClose {
		p.fail(`expected "%%}", got %s`, t.describe())
	}
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("nested deeper than %d", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

// body takes statements up to a tag with one of the given names, which stays; without names, up to the end.
func (p *parser) body(ends ...string) *body {
	p.enter()
	defer p.leave()
	b := &body{}
	for {
		switch t := p.peek(); t.kind {
		case tokEnd:
			if len(ends) > 0 {
				p.fail("the template ends, expected {%% %s %%}", ends[len(ends)-1])
			}
			return b
		case tokText:
			p.next()
			b.list = append(b.list, &textStatement{t.text})
		case tokPrint:
			p.next()
			b.list = append(b.list, &printStatement{t.line, []expr{p.tuple(true)}})
			if t := p.next(); t.kind != tokPrintClose {
				p.fail(`expected "}}", got %s`, t.describe())
			}
		case tokTag:
			name := p.tokens[p.i+1]
			if name.kind != tokName {
				p.line = name.line
				p.fail("expected the name of a tag, got %s", name.describe())
			}
			if slices.Contains(ends, name.text) {
				return b
			}
			p.i += 2
			if s := p.statement(name); s != nil {
				b.list = append(b.list, s)
			}
		default:
			p.fail("unexpected %s", t.describe())
		}
	}
}

// until takes a body and the tag that ends it; the rest of that tag stays. It gives the name of the tag.
func (p *parser) until(ends ...string) (*body, string) {
	b := p.body(ends...)
	p.next()
	return b, p.next().text
}

// scoped takes a body with a scope of its own and its plain end tag.
func (p *parser) scoped(end string) *body {
	b, _ := p.strictly(end)
	p.close()
	return b
}

// strictly is until for a body in which unknown filters matter again, even inside a branch.
func (p *parser) strictly(ends ...string) (*body, string) {
	lenient := p.lenient
	p.lenient = false
	defer func() { p.lenient = lenient }()
	return p.until(ends...)
}

// mentions notes that a macro body uses one of the special names.
func (p *parser) mentions(name string) {
	for _, m := range p.macros {
		switch name {
		case "caller":
			m.usesCaller = true
		case "varargs":
			m.usesVarargs = true
		case "kwargs":
			m.usesKwargs = true
		}
	}
}
