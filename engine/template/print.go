package template

import (
	"slices"
	"strconv"
	"strings"
)

// str is v as text, as {{ v }} prints it.
func (r *render) str(v value) string {
	switch v := v.(type) {
	case string:
		return v
	case safe:
		return string(v)
	case hollow:
		return string(v)
	case *undefined:
		return ""
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return r.repr(v)
}

// repr is v as it appears inside of a printed list.
func (r *render) repr(v value) string {
	p := &printer{r: r}
	p.value(v)
	return string(p.buf)
}

// printer writes values the way Python does.
type printer struct {
	r      *render
	buf    []byte
	sorted bool    // print objects in the order of their keys
	open   []value // the lists and objects being printed, to notice one that contains itself
}

func (p *printer) add(s string) {
	if len(p.buf)+len(s) > p.r.limits.Output {
		p.r.reserve(len(p.buf) + len(s))
	}
	p.buf = append(p.buf, s...)
}

func (p *printer) value(v value) {
	p.r.spend(1)
	switch v := v.(type) {
	case none:
		p.add("None")
	case bool:
		p.add(pythonBool(v))
	case int64:
		p.add(strconv.FormatInt(v, 10))
	case digits:
		p.add(string(v))
	case float64:
		p.add(formatFloat(v))
	case string:
		p.r.walk(v)
		p.add(quote(v))
	case hollow:
		p.add(quote(string(v)))
	case safe:
		p.add("Markup(" + quote(string(v)) + ")")
	case *undefined:
		p.add("Undefined")
	case *span:
		p.span(v)
	case *macroValue:
		p.add("<Macro " + quote(v.name) + ">")
	case *function:
		p.add("<function " + v.name + ">")
	case *loop:
		p.add("<LoopContext " + strconv.Itoa(v.index+1) + "/" + strconv.Itoa(v.length()) + ">")
	case *list, *tuple, *dict, *view, *namespace:
		p.container(v)
	default:
		p.add("<" + typeName(v) + " object>")
	}
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func (p *printer) span(s *span) {
	p.add("range(" + strconv.Itoa(s.start) + ", " + strconv.Itoa(s.stop))
	if s.step != 1 {
		p.add(", " + strconv.Itoa(s.step))
	}
	p.add(")")
}

func (p *printer) container(v value) {
	if slices.Contains(p.open, v) {
		p.again(v)
		return
	}
	p.r.enter()
	p.open = append(p.open, v)
	p.r.spend(len(p.open) / 16)
	switch v := v.(type) {
	case *list:
		p.items("[", v.all(), "]")
	case *tuple:
		end := ")"
		if len(v.items) == 1 {
			end = ",)"
		}
		p.items("(", v.items, end)
	case *dict:
		p.dict(v)
	case *view:
		p.add(v.name() + "(")
		p.items("[", p.r.collect(v), "]")
		p.add(")")
	case *namespace:
		p.add("<Namespace ")
		p.dict(v.members)
		p.add(">")
	}
	p.open = p.open[:len(p.open)-1]
	p.r.depth--
}

// again stands for a list or object inside of itself.
func (p *printer) again(v value) {
	switch v.(type) {
	case *list:
		p.add("[...]")
	case *tuple:
		p.add("(...)")
	default:
		p.add("{...}")
	}
}

func (p *printer) items(start string, items []value, end string) {
	p.add(start)
	for i, v := range items {
		if i > 0 {
			p.add(", ")
		}
		p.value(v)
	}
	p.add(end)
}

func (p *printer) dict(d *dict) {
	p.add("{")
	entries := d.all()
	if p.sorted {
		entries = p.r.sortedEntries(d, p.r.prettyLess)
	}
	for i, e := range entries {
		if i > 0 {
			p.add(", ")
		}
		p.value(e.key)
		p.add(": ")
		p.value(e.value)
	}
	p.add("}")
}

// quote is a string with quotes around it, and escapes for what cannot be seen.
func quote(s string) string {
	mark := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		mark = '"'
	}
	buf := make([]byte, 0, len(s)+2)
	buf = append(buf, mark)
	for _, c := range s {
		switch {
		case c == rune(mark) || c == '\\':
			buf = append(buf, '\\', byte(c))
		case c == '\n':
			buf = append(buf, `\n`...)
		case c == '\r':
			buf = append(buf, `\r`...)
		case c == '\t':
			buf = append(buf, `\t`...)
		case strconv.IsPrint(c):
			buf = append(buf, string(c)...)
		default:
			buf = appendEscape(buf, c)
		}
	}
	return string(append(buf, mark))
}

// appendEscape appends the shortest of \x, \u and \U that can hold c.
func appendEscape(dst []byte, c rune) []byte {
	switch {
	case c < 0x100:
		return appendHex(append(dst, `\x`...), c, 2)
	case c < 0x10000:
		return appendHex(append(dst, `\u`...), c, 4)
	}
	return appendHex(append(dst, `\U`...), c, 8)
}

func appendHex(dst []byte, c rune, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[c>>(4*i)&15])
	}
	return dst
}

// describe is v in the words of an error message.
func (r *render) describe(v value) string {
	name := typeName(v)
	switch v := v.(type) {
	case *undefined:
		return "an undefined value"
	case none:
		return name
	case bool, int64, float64:
		return "the " + name + " " + r.str(v)
	case string, safe, hollow:
		s, _ := asText(v)
		if len(s) > 40 {
			s = s[:offset(s, min(40, len(s)))] + "..."
		}
		return "the string " + strconv.Quote(s)
	}
	return "a value of type " + name
}
