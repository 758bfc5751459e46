package template

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// str returns v as {{ v }} prints it.
func str(r *render, v value) string {
	if s, ok := asText(v); ok {
		return s
	}
	switch v := v.(type) {
	case *undefined:
		return ""
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return repr(r, v)
}

// repr returns v as it is printed in a list.
func repr(r *render, v value) string {
	w := &writer{r: r}
	w.value(v)
	return string(w.buf)
}

// writer writes values as Python does, or as JSON that can be embedded in HTML.
type writer struct {
	r      *render
	buf    []byte
	json   bool
	pretty bool    // JSON with every element on a line
	indent string  // of pretty JSON
	sorted bool    // Python with sorted keys
	depth  int     // of nested containers
	open   []value // containers being written
}

func (w *writer) add(s string) {
	if len(w.buf)+len(s) > w.r.limits.Output {
		w.r.tooLong("a text")
	}
	w.buf = append(w.buf, s...)
}

func (w *writer) value(v value) {
	w.r.spend(1)
	switch v := v.(type) {
	case none, bool:
		w.add(w.constant(v))
	case int64, digits:
		w.add(decimal(v))
	case float64:
		w.add(w.float(v))
	case string, safe, hollow:
		w.text(v)
	case *dict:
		w.container(v)
	default:
		if _, ok := asSequence(v); ok {
			w.container(v)
			return
		}
		if w.json {
			w.r.needDefined(v)
			w.r.fail("%s cannot be written as JSON", describe(w.r, v))
		}
		w.opaque(v)
	}
}

func (w *writer) constant(v value) string {
	words := [...]string{"None", "False", "True"}
	if w.json {
		words = [...]string{"null", "false", "true"}
	}
	b, isBool := v.(bool)
	switch {
	case b:
		return words[2]
	case isBool:
		return words[1]
	}
	return words[0]
}

func (w *writer) float(f float64) string {
	s := formatFloat(f)
	if w.json && math.IsNaN(f) {
		return "NaN"
	}
	if w.json {
		return strings.Replace(s, "inf", "Infinity", 1)
	}
	return s
}

func (w *writer) text(v value) {
	s := w.r.needText(v)
	w.r.walk(s)
	switch {
	case w.json:
		w.jsonText(s)
	case isSafe(v):
		w.add("Markup(" + quote(s) + ")")
	default:
		w.add(quote(s))
	}
}

// opaque writes a value that has no literal in JSON.
func (w *writer) opaque(v value) {
	switch v := v.(type) {
	case *list, *namespace:
		w.container(v)
	case *undefined:
		w.add("Undefined")
	case *span:
		w.add("range(" + strconv.Itoa(v.start) + ", " + strconv.Itoa(v.stop))
		if v.step != 1 {
			w.add(", " + strconv.Itoa(v.step))
		}
		w.add(")")
	case *macroValue:
		w.add("<Macro " + quote(v.name) + ">")
	case *function:
		w.add("<function " + v.name + ">")
	case *loop:
		w.add("<LoopContext " + strconv.Itoa(v.index+1) + "/" + strconv.Itoa(v.length()) + ">")
	default:
		w.add("<" + typeName(v) + " object>")
	}
}

// container writes a value that holds others. Python abbreviates one that contains itself; JSON
// reaches the limit of nesting.
func (w *writer) container(v value) {
	if !w.json && slices.Contains(w.open, v) {
		mark := "{...}"
		if l, ok := v.(*list); ok {
			mark = [...]string{"[...]", "(...)", "...", "...", "..."}[l.kind]
		}
		w.add(mark)
		return
	}
	w.r.enter()
	w.open = append(w.open, v)
	w.r.spend(len(w.open) / 16)
	switch v := v.(type) {
	case *list:
		switch {
		case v.kind == plainList || w.json:
			w.items("[", v.all(), "]")
		case v.kind > tuple:
			w.items(typeName(v)+"([", v.items, "])")
		case len(v.items) == 1:
			w.items("(", v.items, ",)")
		default:
			w.items("(", v.items, ")")
		}
	case *dict:
		w.dict(v)
	case *namespace:
		w.add("<Namespace ")
		w.dict(v.members)
		w.add(">")
	}
	w.open = w.open[:len(w.open)-1]
	w.r.depth--
}

func (w *writer) items(start string, items []value, end string) {
	w.start(start)
	for i, v := range items {
		w.separate(i)
		w.value(v)
	}
	w.end(len(items), end)
}

func (w *writer) dict(d *dict) {
	entries := d.all()
	switch {
	case w.json:
		entries = sortedEntries(w.r, d, sortOrder)
	case w.sorted:
		entries = sortedEntries(w.r, d, keyOrder)
	}
	w.start("{")
	for i, e := range entries {
		w.separate(i)
		if w.json {
			w.key(e.key)
		} else {
			w.value(e.key)
		}
		w.add(": ")
		w.value(e.value)
	}
	w.end(len(entries), "}")
}

// keyOrder orders keys for pprint: by type, and strings and numbers by value.
func keyOrder(r *render, a, b value) int {
	_, textA := asText(a)
	_, textB := asText(b)
	if textA && textB || number(a) != nil && number(b) != nil {
		return sortOrder(r, a, b)
	}
	return strings.Compare(typeName(a), typeName(b))
}

// key writes a key of a JSON object, which is a string.
func (w *writer) key(k value) {
	switch k.(type) {
	case none, bool, int64, digits, float64:
		w.add(`"`)
		w.value(k)
		w.add(`"`)
		return
	}
	if _, ok := asText(k); !ok {
		w.r.fail("%s cannot be a key in JSON", describe(w.r, k))
	}
	w.text(k)
}

func (w *writer) start(mark string) {
	w.depth++
	w.add(mark)
}

// separate writes what stands before element i.
func (w *writer) separate(i int) {
	switch {
	case i > 0 && w.pretty:
		w.add(",")
	case i > 0:
		w.add(", ")
	}
	w.newline()
}

// end writes what stands behind n elements.
func (w *writer) end(n int, mark string) {
	if w.depth--; n > 0 {
		w.newline()
	}
	w.add(mark)
}

func (w *writer) newline() {
	if w.pretty {
		w.r.times(0, w.depth, len(w.indent))
		w.add("\n" + strings.Repeat(w.indent, w.depth))
	}
}

func (w *writer) jsonText(s string) {
	w.add(`"`)
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			w.buf = append(w.buf, '\\', byte(c))
		case c >= '\b' && c <= '\r' && c != '\v':
			w.buf = append(w.buf, '\\', "btn?fr"[c-'\b'])
		case c >= 0x10000:
			high, low := utf16.EncodeRune(c)
			w.buf = appendHex(appendHex(w.buf, `\u`, high, 4), `\u`, low, 4)
		case c < ' ' || c >= 0x7f || strings.ContainsRune("<>&'", c):
			w.buf = appendHex(w.buf, `\u`, c, 4)
		default:
			w.buf = append(w.buf, byte(c))
		}
	}
	w.add(`"`)
}

// quote returns a Python string literal.
func quote(s string) string {
	mark := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		mark = '"'
	}
	buf := make([]byte, 0, len(s)+2)
	buf = append(buf, mark)
	for _, c := range s {
		switch k := strings.IndexRune("\n\r\t", c); {
		case c == rune(mark) || c == '\\':
			buf = append(buf, '\\', byte(c))
		case k >= 0:
			buf = append(buf, '\\', "nrt"[k])
		case strconv.IsPrint(c):
			buf = append(buf, string(c)...)
		case c < 0x100:
			buf = appendHex(buf, `\x`, c, 2)
		case c < 0x10000:
			buf = appendHex(buf, `\u`, c, 4)
		default:
			buf = appendHex(buf, `\U`, c, 8)
		}
	}
	return string(append(buf, mark))
}

func appendHex(dst []byte, prefix string, c rune, digits int) []byte {
	dst = append(dst, prefix...)
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[c>>(4*i)&15])
	}
	return dst
}
