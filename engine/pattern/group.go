package pattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// group parses a group after its bracket; nil without error for flags.
func (p *parser) group() (*node, error) {
	outer := p.flags
	n := &node{}
	switch {
	case !p.take("?"):
	case p.take(":"):
	case p.take("="):
		n.kind = nodeAhead
	case p.take("!"):
		n.kind, n.negated = nodeAhead, true
	case p.take("#"):
		end := strings.IndexByte(p.expr[p.pos:], ')')
		if end < 0 {
			return nil, errors.New("missing ) of a comment")
		}
		p.pos += end + 1
		return nil, nil
	case p.take("P<"):
		name, _, found := strings.Cut(p.expr[p.pos:], ">")
		if !found || name == "" {
			return nil, errors.New("group name without >")
		}
		p.pos += len(name) + 1
	case p.take("<="), p.take("<!"):
		return nil, errors.New("look-behind is not supported")
	case p.take("P="), p.take("("), p.take(">"):
		return nil, errors.New("back references, conditional and atomic groups are not supported")
	default:
		if ended, err := p.setFlags(); err != nil || ended {
			return nil, err
		}
	}
	inner, err := p.choice()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, errors.New("missing )")
	}
	p.flags = outer
	if n.list = []*node{inner}; n.kind == nodeSequence {
		return inner, nil
	}
	return n, nil
}

// setFlags parses flags such as i in (?i) or (?i-s:...), and reports whether the bracket ends with
// them.
func (p *parser) setFlags() (ended bool, err error) {
	on := true
	for p.more() {
		switch r := p.next(); r {
		case 'i':
			p.flags.fold = on
		case 'm':
			p.flags.lines = on
		case 's':
			p.flags.all = on
		case 'u': // Unicode is the only way
		case '-':
			on = false
		case ':':
			return false, nil
		case ')':
			return true, nil
		default:
			return false, fmt.Errorf("unknown group (?%c", r)
		}
	}
	return false, errors.New("missing )")
}

// class parses a set after its bracket.
func (p *parser) class() (*node, error) {
	s := &set{negated: p.take("^"), fold: p.flags.fold}
	for first := true; ; first = false {
		if !p.more() {
			return nil, errors.New("missing ]")
		}
		if !first && p.take("]") {
			return &node{kind: nodeSet, set: s}, nil
		}
		low, kind, err := p.member()
		if err != nil {
			return nil, err
		}
		if rest := p.expr[p.pos:]; len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			if kind != 0 {
				s.kinds += string(kind)
			} else {
				s.ranges = append(s.ranges, low, low)
			}
			continue
		}
		p.pos++
		high, kindOfEnd, err := p.member()
		if err != nil {
			return nil, err
		}
		if kind != 0 || kindOfEnd != 0 || high < low {
			return nil, errors.New("bad range in [ ]")
		}
		s.ranges = append(s.ranges, low, high)
	}
}

// member parses a rune of a set, or the letter of a kind of runes.
func (p *parser) member() (r rune, kind byte, err error) {
	if r = p.next(); r != '\\' {
		return r, 0, nil
	}
	if !p.more() {
		return 0, 0, errEscape
	}
	if c := p.expr[p.pos]; strings.IndexByte("dDwWsS", c) >= 0 {
		p.pos++
		return 0, c, nil
	}
	if p.take("b") {
		return '\b', 0, nil
	}
	r, err = p.literal()
	return r, 0, err
}

var errEscape = errors.New(`\ at the end`)

// escape parses an escape sequence outside of sets, after the backslash.
func (p *parser) escape() (*node, error) {
	if !p.more() {
		return nil, errEscape
	}
	switch c := p.expr[p.pos]; {
	case strings.IndexByte("dDwWsS", c) >= 0:
		p.pos++
		return &node{kind: nodeSet, set: &set{kinds: string(c)}}, nil
	case strings.IndexByte("AZbB", c) >= 0:
		p.pos++
		return &node{kind: nodeAssert, assert: c}, nil
	case c >= '1' && c <= '9':
		return nil, errors.New("back references are not supported")
	}
	r, err := p.literal()
	if err != nil {
		return nil, err
	}
	return &node{kind: nodeSet, set: single(r, p.flags.fold)}, nil
}

// literal parses the rune of an escape.
func (p *parser) literal() (rune, error) {
	switch r := p.next(); {
	case r == 'x':
		return p.code(2)
	case r == 'u':
		return p.code(4)
	case r == 'U':
		return p.code(8)
	case r == '0':
		return 0, nil
	case strings.ContainsRune("nrtfva", r):
		return map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a'}[r], nil
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return 0, fmt.Errorf(`unknown escape \%c`, r)
	default:
		return r, nil
	}
}

// code parses a rune that is written as hexadecimal digits.
func (p *parser) code(digits int) (rune, error) {
	if rest := p.expr[p.pos:]; len(rest) >= digits {
		if n, err := strconv.ParseUint(rest[:digits], 16, 31); err == nil && n <= 0x10ffff {
			p.pos += digits
			return rune(n), nil
		}
	}
	return 0, fmt.Errorf("escape without %d hexadecimal digits", digits)
}
