package template

import (
	"strings"
	"unicode/utf8"
)

// prettyWidth is the length of a line that "pprint" tries to keep.
const prettyWidth = 80

func filterPprint(r *render, v value, _ *args) value {
	p := &prettyPrinter{r: r}
	p.value(v, 0, 0)
	return r.made(string(p.buf))
}

// prettyPrinter prints lists and objects over several lines where one is too short. Keys are sorted.
type prettyPrinter struct {
	r   *render
	buf []byte
}

// value prints v; indent is where it begins and behind is the room needed after it on its last line.
func (p *prettyPrinter) value(v value, indent, behind int) {
	p.r.enter()
	defer func() { p.r.depth-- }()
	v = p.ordered(v)
	flat := p.r.repr(v)
	if utf8.RuneCountInString(flat) <= prettyWidth-indent-behind {
		p.buf = append(p.buf, flat...)
		return
	}
	switch v := v.(type) {
	case *list:
		p.items("[", v.all(), "]", indent, behind)
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		p.items("(", v.items, end, indent, behind)
	case *dict:
		p.dict(v, indent, behind)
	case string:
		p.text(v, indent, behind)
	default:
		p.buf = append(p.buf, flat...)
	}
}

// ordered gives an object with sorted keys, also inside of lists and objects.
func (p *prettyPrinter) ordered(v value) value {
	p.r.enter()
	defer func() { p.r.depth-- }()
	each := func(items []value) []value {
		out := make([]value, len(items))
		for i, x := range items {
			p.r.spend(1)
			out[i] = p.ordered(x)
		}
		return out
	}
	switch v := v.(type) {
	case *list:
		return newList(each(v.all()))
	case *tuple:
		return &tuple{items: each(v.items)}
	case *dict:
		d := newDict(v.size())
		for _, e := range p.sorted(v) {
			d.set(p.r, e.key, p.ordered(e.value))
		}
		return d
	}
	return v
}

func (p *prettyPrinter) sorted(d *dict) []entry {
	return p.r.sortedEntries(d, func(a, b value) bool {
		_, textA := asText(a)
		_, textB := asText(b)
		if textA == textB && (textA || number(a) != nil && number(b) != nil) {
			return p.r.less(a, b)
		}
		return typeName(a) < typeName(b)
	})
}

func (p *prettyPrinter) items(start string, items []value, end string, indent, behind int) {
	p.buf = append(p.buf, start...)
	for i, v := range items {
		room := 1 // the comma
		if i > 0 {
			p.newline(indent + 1)
		}
		if i == len(items)-1 {
			room = behind + len(end)
		}
		p.value(v, indent+1, room)
		if i < len(items)-1 {
			p.buf = append(p.buf, ',')
		}
	}
	p.buf = append(p.buf, end...)
}

func (p *prettyPrinter) dict(d *dict, indent, behind int) {
	p.buf = append(p.buf, '{')
	entries := p.sorted(d)
	for i, e := range entries {
		key := p.r.repr(e.key)
		room := 1
		if i > 0 {
			p.newline(indent + 1)
		}
		if i == len(entries)-1 {
			room = behind + 1
		}
		p.buf = append(append(p.buf, key...), ": "...)
		p.value(e.value, indent+3+utf8.RuneCountInString(key), room)
		if i < len(entries)-1 {
			p.buf = append(p.buf, ',')
		}
	}
	p.buf = append(p.buf, '}')
}

func (p *prettyPrinter) newline(indent int) {
	p.r.reserve(len(p.buf) + indent)
	p.buf = append(append(p.buf, '\n'), strings.Repeat(" ", indent)...)
}

// text prints a long string in pieces, cut behind blanks and line ends.
func (p *prettyPrinter) text(s string, indent, behind int) {
	var pieces []string
	outer := len(p.buf) == 0 // at the top the pieces get parentheses
	if outer {
		indent++
		behind++
	}
	width := prettyWidth - indent
	for _, line := range lines(s, true) {
		piece := ""
		for _, word := range strings.SplitAfter(line, " ") {
			if piece != "" && utf8.RuneCountInString(quote(piece+word)) > width-behind {
				pieces = append(pieces, quote(piece))
				piece = ""
			}
			p.r.scan(piece)
			piece += word
		}
		pieces = append(pieces, quote(piece))
	}
	if outer && len(pieces) > 1 {
		p.buf = append(p.buf, '(')
	}
	for i, piece := range pieces {
		if i > 0 {
			p.newline(indent)
		}
		p.buf = append(p.buf, piece...)
	}
	if outer && len(pieces) > 1 {
		p.buf = append(p.buf, ')')
	}
}
