package wattest

import (
	"fmt"
	"strconv"
	"strings"
)

// node is a word, a string or a list of the source.
type node struct {
	line  int
	text  string // word, or the bytes of a string
	str   bool
	items []node
	list  bool
}

// word returns the text of item i if it is a word.
func (n node) word(i int) string {
	if i < len(n.items) && !n.items[i].list && !n.items[i].str {
		return n.items[i].text
	}
	return ""
}

func (n node) is(head string) bool { return n.list && n.word(0) == head }

type token struct {
	line int
	text string
	str  bool
}

func scan(text string) []token {
	var out []token
	line := 1
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t':
			i++
		case c == ';':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '(' || c == ')':
			out = append(out, token{line: line, text: string(c)})
			i++
		case c == '"':
			s, n := scanString(text[i+1:])
			out = append(out, token{line: line, text: s, str: true})
			i += n + 1
		default:
			n := strings.IndexAny(text[i:], " \t\n();\"")
			if n < 0 {
				n = len(text) - i
			}
			out = append(out, token{line: line, text: text[i : i+n]})
			i += n
		}
	}
	return out
}

// scanString reads up to the closing quote. \hh is a byte, \n a line end, any other escaped
// character stands for itself.
func scanString(text string) (string, int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), i + 1
		case c == '\\' && i+2 < len(text):
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), len(text)
}

type parser struct {
	tokens []token
	pos    int
}

func (p *parser) list() (node, error) {
	if p.pos >= len(p.tokens) || p.tokens[p.pos].text != "(" || p.tokens[p.pos].str {
		return node{}, fmt.Errorf("wattest: want an opening parenthesis")
	}
	n := node{line: p.tokens[p.pos].line, list: true}
	for p.pos++; p.pos < len(p.tokens); p.pos++ {
		t := p.tokens[p.pos]
		switch {
		case t.str:
			n.items = append(n.items, node{line: t.line, text: t.text, str: true})
		case t.text == ")":
			return n, nil
		case t.text == "(":
			sub, err := p.list()
			if err != nil {
				return node{}, err
			}
			n.items = append(n.items, sub)
		default:
			n.items = append(n.items, node{line: t.line, text: t.text})
		}
	}
	return node{}, fmt.Errorf("wattest: line %d: list is not closed", n.line)
}
