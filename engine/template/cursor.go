package template

import "fmt"

// maxNesting bounds the nesting of brackets, tags and unary operators in a template.
const maxNesting = 150

// cursor is a position in the tokens of a template.
type cursor struct {
	tokens []token
	i      int
	line   int // of the token read last
	depth  int // of nested constructs
}

// fail aborts parsing with an error at the last token read.
func (c *cursor) fail(format string, args ...any) {
	panic(&Error{Line: c.line, Reason: fmt.Sprintf(format, args...), kind: ErrSyntax})
}

// want fails because another token was expected.
func (c *cursor) want(what string) {
	c.fail("expected %s, got %s", what, c.peek().describe())
}

// enter adds a level of nesting. The caller removes it with depth--.
func (c *cursor) enter() {
	if c.depth++; c.depth > maxNesting {
		c.fail("nested deeper than %d", maxNesting)
	}
}

// peek returns the next token without reading it.
func (c *cursor) peek() token {
	t := c.tokens[c.i]
	c.line = t.line
	return t
}

// next reads one token. It never moves past the last one, tokEnd.
func (c *cursor) next() token {
	t := c.peek()
	if t.kind != tokEnd {
		c.i++
	}
	return t
}

// at reports whether the token n places ahead is the given sign or name.
func (c *cursor) at(n int, kind tokenKind, text string) bool {
	t := c.tokens[min(c.i+n, len(c.tokens)-1)]
	return t.kind == kind && t.text == text
}

// sign and word consume the given sign or name if it is next.
func (c *cursor) sign(text string) bool { return c.take(tokSign, text) }
func (c *cursor) word(text string) bool { return c.take(tokName, text) }

func (c *cursor) take(kind tokenKind, text string) bool {
	if !c.at(0, kind, text) {
		return false
	}
	c.next()
	return true
}

// expect consumes the given sign or name, or fails.
func (c *cursor) expect(kind tokenKind, text string) {
	if !c.take(kind, text) {
		c.want(token{kind: kind, text: text}.describe())
	}
}

// close consumes the end of a tag.
func (c *cursor) close() { c.expect(tokTagClose, "") }

func (c *cursor) expectName() string {
	if c.peek().kind != tokName {
		c.want("a name")
	}
	return c.next().text
}

// more reports whether another element follows in a list that ends with the sign end. It consumes
// the comma before the element, or the end. trailing allows a comma before the end.
func (c *cursor) more(first, trailing bool, end string) bool {
	if c.sign(end) {
		return false
	}
	if !first {
		c.expect(tokSign, ",")
	}
	return first || !trailing || !c.sign(end)
}
