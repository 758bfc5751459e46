package pattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type nodeKind uint8

const (
	nodeSequence nodeKind = iota
	nodeSet
	nodeAssert
	nodeAhead
	nodeChoice
	nodeRepeat
)

// node is a part of an expression.
type node struct {
	kind     nodeKind
	list     []*node
	set      *set
	assert   byte
	negated  bool // of nodeAhead
	min, max int  // of nodeRepeat; max is -1 for no limit
	lazy     bool
}

const (
	maxDepth  = 200  // of groups
	maxRepeat = 1000 // of a counted repeat
)

// flags hold the state of (?ims).
type flags struct{ fold, lines, all bool }

type parser struct {
	expr  string
	pos   int
	depth int
	flags flags
}

func (p *parser) parse() (*node, error) {
	n, err := p.choice()
	if err == nil && p.pos < len(p.expr) {
		err = errors.New("unbalanced )")
	}
	return n, err
}

// peek returns the next rune, 0 at the end.
func (p *parser) peek() rune {
	if p.pos == len(p.expr) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(p.expr[p.pos:])
	return r
}

func (p *parser) next() rune {
	r, size := utf8.DecodeRuneInString(p.expr[p.pos:])
	p.pos += size
	return r
}

// take skips a text if it comes next.
func (p *parser) take(text string) bool {
	found := strings.HasPrefix(p.expr[p.pos:], text)
	if found {
		p.pos += len(text)
	}
	return found
}

func (p *parser) more() bool { return p.pos < len(p.expr) }

// choice parses the alternatives between |.
func (p *parser) choice() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("groups nest deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	var list []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		if list = append(list, n); !p.take("|") {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return &node{kind: nodeChoice, list: list}, nil
}

func (p *parser) sequence() (*node, error) {
	n := &node{}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		if item == nil { // flags
			continue
		}
		if item, err = p.quantified(item); err != nil {
			return nil, err
		}
		n.list = append(n.list, item)
	}
	return n, nil
}

// item parses a rune, a set, an assertion or a group.
func (p *parser) item() (*node, error) {
	switch r := p.next(); r {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '.':
		s := &set{negated: true}
		if !p.flags.all {
			s.ranges = []rune{'\n', '\n'}
		}
		return &node{kind: nodeSet, set: s}, nil
	case '^', '$':
		assert := byte(r)
		if p.flags.lines {
			assert = map[rune]byte{'^': 'm', '$': 'M'}[r]
		}
		return &node{kind: nodeAssert, assert: assert}, nil
	case '*', '+', '?':
		return nil, fmt.Errorf("nothing to repeat before %c", r)
	default:
		return &node{kind: nodeSet, set: single(r, p.flags.fold)}, nil
	}
}

// quantified parses the quantifier of an item.
func (p *parser) quantified(item *node) (*node, error) {
	from, to := 1, 1
	switch {
	case p.take("*"):
		from, to = 0, -1
	case p.take("+"):
		from, to = 1, -1
	case p.take("?"):
		from, to = 0, 1
	default:
		var found bool
		var err error
		if from, to, found, err = p.counts(); err != nil || !found {
			return item, err
		}
	}
	n := &node{kind: nodeRepeat, list: []*node{item}, min: from, max: to, lazy: p.take("?")}
	before := p.pos
	if _, _, counted, _ := p.counts(); counted || p.more() && strings.ContainsRune("*+?", p.peek()) {
		p.pos = before
		return nil, errors.New("multiple repeat")
	}
	return n, nil
}

// counts parses {n}, {n,}, {,m} or {n,m}. Other braces are text.
func (p *parser) counts() (from, to int, found bool, err error) {
	rest := p.expr[p.pos:]
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return 0, 0, false, nil
	}
	low, high, ranged := strings.Cut(rest[1:end], ",")
	if !isNumber(low) || !isNumber(high) || low == "" && !ranged || rest[1:end] == "," {
		return 0, 0, false, nil
	}
	if from, err = number(low, 0); err != nil {
		return 0, 0, false, err
	}
	to = from
	if ranged {
		if to, err = number(high, -1); err != nil {
			return 0, 0, false, err
		}
	}
	if to >= 0 && to < from {
		return 0, 0, false, fmt.Errorf("repeat {%s} counts down", rest[1:end])
	}
	p.pos += end + 1
	return from, to, true, nil
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// number returns a count of a repeat, or otherwise if it is omitted.
func number(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxRepeat {
		return 0, fmt.Errorf("repeat of more than %d", maxRepeat)
	}
	return n, nil
}
