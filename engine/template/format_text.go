package template

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// percent implements format % v, where v is a tuple of values, an object for fields such as
// %(name)s, or a single value.
func percent(r *render, format, v value) value {
	p := &percentFormat{specReader: specReader{r, r.needText(format)}, of: v, text: str, args: []value{v}}
	r.scan(p.rest)
	if isSafe(format) {
		p.text = escape
	}
	if typeName(v) == "tuple" {
		p.args = v.(*list).items
	}
	return like(format, r.made(string(p.run())))
}

type percentFormat struct {
	specReader
	text func(*render, value) string // formats a value: str or escape
	of   value
	args []value
	next int // index of the next value, -1 after a named field
}

func (p *percentFormat) run() []byte {
	var buf []byte
	for {
		text, rest, found := strings.Cut(p.rest, "%")
		buf = append(buf, text...)
		if !found {
			break
		}
		p.rest = rest
		buf = append(buf, p.field()...)
		p.r.reserve(len(buf))
	}
	if _, unused := p.of.(*dict); unused || typeName(p.of) == "list" {
		return buf
	}
	if p.next >= 0 && p.next < len(p.args) {
		p.r.fail("the format has fields for %d values, got %d", p.next, len(p.args))
	}
	return buf
}

// field formats the field after a percent sign.
func (p *percentFormat) field() string {
	var v value
	if p.take("(") != 0 {
		v = p.named()
	}
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
	f.width = max(p.number(), 0)
	if p.take(".") != 0 {
		f.precision = max(p.number(), 0)
	}
	p.take("hlL")
	if p.take("%") != 0 {
		return "%"
	}
	if f.verb = p.take("diouxXeEfFgGcrs"); f.verb == 0 {
		p.r.fail("the format has an unknown or unfinished field behind %%")
	}
	if v == nil {
		if p.next < 0 || p.next >= len(p.args) {
			p.r.fail("the format has more fields than values, got %d", len(p.args))
		}
		v = p.args[p.next]
		p.next++
	}
	return p.format(v, f)
}

// named returns the value of a field such as %(name)s.
func (p *percentFormat) named() value {
	name, rest, ok := strings.Cut(p.rest, ")")
	d, isDict := p.of.(*dict)
	if !ok || !isDict {
		p.r.fail("the field %%(%s) needs an object", firstBytes(name, 40))
	}
	v := d.get(p.r, name)
	if v == nil {
		p.r.fail("there is no value for the field %%(%s)", firstBytes(name, 40))
	}
	p.rest, p.next = rest, -1
	return v
}

func (p *percentFormat) format(v value, f formatSpec) string {
	s, isText := asText(v)
	switch {
	case f.verb == 'r':
		s = p.text(p.r, repr(p.r, v))
	case f.verb == 's', f.verb == 'c' && isText && utf8.RuneCountInString(s) == 1:
		s = p.text(p.r, v)
	default:
		n := needNumber(p.r, v)
		if x, ok := n.(float64); ok && strings.IndexByte("diu", f.verb) >= 0 {
			if math.IsInf(x, 0) || math.IsNaN(x) {
				p.r.fail("%s has no integer", describe(p.r, v))
			}
			n = fromFloat(x)
		}
		if f.verb == 'i' || f.verb == 'u' {
			f.verb = 'd'
		}
		return formatNumber(p.r, n, f)
	}
	if f.align == '=' {
		f.align, f.fill = '>', " "
	}
	return formatText(p.r, s, f)
}

// braces implements the string method "format". A field is "{}" for the next value, or "{0}" or
// "{name}", optionally with a conversion and a format.
func braces(r *render, format value, a *args) value {
	f := &braceFormat{r: r, args: a, escape: isSafe(format)}
	return like(format, r.made(f.text(r.needText(format))))
}

type braceFormat struct {
	r      *render
	args   *args
	auto   int // number of values used by "{}"
	manual bool
	escape bool
}

// text returns s with its fields replaced.
func (f *braceFormat) text(s string) string {
	var buf []byte
	for {
		k := strings.IndexAny(s, "{}")
		if k < 0 {
			return string(append(buf, s...))
		}
		buf = append(buf, s[:k]...)
		if k+1 < len(s) && s[k+1] == s[k] {
			buf, s = append(buf, s[k]), s[k+2:]
			continue
		}
		field, rest, closed := strings.Cut(s[k+1:], "}")
		if s[k] == '}' || !closed {
			f.r.fail("single %q in a format", s[k:k+1])
		}
		buf = append(buf, f.field(field)...)
		f.r.reserve(len(buf))
		s = rest
	}
}

func (f *braceFormat) field(s string) string {
	f.r.spend(1)
	path, spec, _ := strings.Cut(s, ":")
	path, conversion, converted := strings.Cut(path, "!")
	v := f.value(path)
	switch {
	case conversion == "s":
		v = str(f.r, v)
	case conversion == "r" || conversion == "a":
		v = repr(f.r, v)
	case converted:
		f.r.fail("unknown conversion %q in a format", conversion)
	}
	text := ""
	if spec == "" {
		text = str(f.r, v)
	} else {
		text = format(f.r, v, parseSpec(f.r, spec))
	}
	if f.escape && !isSafe(v) {
		return escape(f.r, text)
	}
	return text
}

// value returns the argument with the given index or name, or the next one.
func (f *braceFormat) value(name string) value {
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		n = f.auto
		f.auto++
	case err == nil:
		f.manual = true
	default:
		if v := f.args.copy().take(name); v != nil {
			return v
		}
		f.r.fail("there is no value for the field %q", name)
	}
	if f.manual && f.auto > 0 {
		f.r.fail("a format numbers all its fields or none")
	}
	v := f.args.at(max(n, 0))
	if v == nil {
		f.r.fail("there is no value for field %d of the format", n)
	}
	return v
}
