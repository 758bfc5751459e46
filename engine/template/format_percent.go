package template

import (
	"math"
	"strings"
	"unicode/utf8"
)

// percent is format % v: v is a tuple of values, an object for fields such as %(name)s, or a single value.
func (r *render) percent(format, v value) value {
	s, _ := asText(format)
	r.scan(s)
	p := &percentFormat{r: r, rest: s, of: v}
	_, p.escape = format.(safe)
	if t, ok := v.(*tuple); ok {
		p.args = t.items
	} else {
		p.args = []value{v}
	}
	p.run()
	return like(format, r.made(string(p.buf)))
}

type percentFormat struct {
	r      *render
	rest   string
	buf    []byte
	of     value
	args   []value
	next   int
	byName bool
	escape bool
}

func (p *percentFormat) run() {
	for {
		text, rest, found := strings.Cut(p.rest, "%")
		p.buf = append(p.buf, text...)
		if !found {
			break
		}
		p.rest = rest
		p.field()
		p.r.reserve(len(p.buf))
	}
	switch p.of.(type) {
	case *dict, *list:
		return
	}
	if p.next < len(p.args) && !p.byName {
		p.r.fail("the format has fields for %d values, got %d", p.next, len(p.args))
	}
}

func (p *percentFormat) take(set string) byte {
	if p.rest != "" && strings.IndexByte(set, p.rest[0]) >= 0 {
		c := p.rest[0]
		p.rest = p.rest[1:]
		return c
	}
	return 0
}

// value is the next value, or fails.
func (p *percentFormat) value() value {
	if p.next >= len(p.args) {
		p.r.fail("the format has more fields than values, got %d", len(p.args))
	}
	p.next++
	return p.args[p.next-1]
}

func (p *percentFormat) named() value {
	name, rest, ok := strings.Cut(p.rest, ")")
	d, isDict := p.of.(*dict)
	if !ok || !isDict {
		p.r.fail("the field %%(%s) needs an object", firstBytes(name, 40))
	}
	p.rest, p.byName = rest, true
	v := d.get(p.r, name)
	if v == nil {
		p.r.fail("there is no value for the field %%(%s)", firstBytes(name, 40))
	}
	return v
}

// number reads digits; -1 without.
//
//go:noinline
func (p *percentFormat) number() int {
	n, rest := p.r.digits(p.rest)
	p.rest = rest
	return n
}

// flags reads what may stand before the width of a field.
func (p *percentFormat) flags() formatSpec {
	f := formatSpec{fill: " ", align: '>', precision: -1}
	for c := p.take("-+ #0"); c != 0; c = p.take("-+ #0") {
		switch {
		case c == '-':
			f.align, f.fill = '<', " "
		case c == '+' || c == ' ' && f.sign == 0:
			f.sign = c
		case c == '#':
			f.alternate = true
		case c == '0' && f.align != '<':
			f.align, f.fill = '=', "0"
		}
	}
	return f
}

func (p *percentFormat) field() {
	var v value
	if p.take("(") != 0 {
		v = p.named()
	}
	f := p.flags()
	f.width = p.number()
	if p.take(".") != 0 {
		f.precision = max(p.number(), 0)
	}
	p.take("hlL")
	if p.take("%") != 0 {
		p.buf = append(p.buf, '%')
		return
	}
	f.verb = p.take("diouxXeEfFgGcrs")
	if f.verb == 0 {
		p.r.fail("the format has an unknown or unfinished field behind %%")
	}
	if v == nil {
		v = p.value()
	}
	p.buf = append(p.buf, p.format(v, f)...)
}

func (p *percentFormat) format(v value, f formatSpec) string {
	switch f.verb {
	case 's', 'r':
		return p.text(v, f)
	case 'c':
		if s, ok := asText(v); ok && utf8.RuneCountInString(s) == 1 {
			return p.text(v, f)
		}
	}
	p.r.needDefined(v)
	n := number(v)
	if n == nil {
		p.r.fail("%%%s needs a number, not %s", string(f.verb), p.r.describe(v))
	}
	if strings.IndexByte("diu", f.verb) >= 0 {
		if x, ok := n.(float64); ok {
			if math.IsInf(x, 0) || math.IsNaN(x) {
				p.r.fail("%s has no integer", p.r.describe(v))
			}
			n = fromFloat(x)
		}
		f.verb = 'd'
	}
	return p.r.formatNumber(n, f)
}

func (p *percentFormat) text(v value, f formatSpec) string {
	s := ""
	if f.verb == 's' || f.verb == 'c' {
		s = p.r.str(v)
		if p.escape {
			s = string(p.r.escape(v))
		}
	} else if s = p.r.repr(v); p.escape {
		s = string(p.r.escape(s))
	}
	if f.precision >= 0 && p.r.length(s) > f.precision {
		s = s[:offset(s, f.precision)]
	}
	if f.align == '=' {
		f.align, f.fill = '>', " "
	}
	return p.r.aligned("", s, f)
}
