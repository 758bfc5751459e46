package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/easel-canvas/easel/engine/stable"
)

// jsonFloats are the floats that Python writes differently in JSON.
var jsonFloats = strings.NewReplacer("inf", "Infinity", "nan", "NaN")

// str returns v as {{ v }} prints it.
func str(r *render, v value) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case *undefined:
		return ""
	}
	if s, ok := asText(v); ok {
		return s
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
	pretty bool    // JSON with one element per line
	indent string  // indentation of pretty JSON
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
	case none:
		w.word("None", "null")
	case bool:
		if v {
			w.word("True", "true")
		} else {
			w.word("False", "false")
		}
	case int64, digits:
		w.add(decimal(v))
	case float64:
		s := formatFloat(v)
		if w.json {
			s = jsonFloats.Replace(s)
		}
		w.add(s)
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

// word adds the Python or the JSON form of a constant.
func (w *writer) word(python, json string) {
	if w.json {
		python = json
	}
	w.add(python)
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
		text := fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step)
		w.add(strings.Replace(text, ", 1)", ")", 1))
	case *function:
		w.add("<function " + v.name + ">")
	default:
		w.add("<" + typeName(v) + " object>")
	}
}

// container writes a value that contains others. Python abbreviates one that contains itself; JSON
// fails at the nesting limit.
func (w *writer) container(v value) {
	if !w.json && slices.Contains(w.open, v) {
		if _, ok := v.(*list); ok {
			w.add("[...]")
		} else {
			w.add("{...}")
		}
		return
	}
	w.r.enter()
	w.open = append(w.open, v)
	w.r.spend(len(w.open) / 16)
	switch v := v.(type) {
	case *list:
		marks := [2]string{"[", "]"}
		switch {
		case w.json || v.kind == plainList:
		case v.kind > tuple:
			marks = [2]string{typeName(v) + "([", "])"}
		case len(v.items) == 1:
			marks = [2]string{"(", ",)"}
		default:
			marks = [2]string{"(", ")"}
		}
		items := v.all()
		w.elements(marks, len(items), func(i int) { w.value(items[i]) })
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

func (w *writer) dict(d *dict) {
	entries := d.all()
	if w.json || w.sorted {
		entries = slices.Clone(entries)
		w.r.spend(len(entries))
		stable.Sort(entries, func(a, b entry) int { return sortOrder(w.r, a.key, b.key) })
	}
	w.elements([2]string{"{", "}"}, len(entries), func(i int) {
		w.key(entries[i].key)
		w.add(": ")
		w.value(entries[i].value)
	})
}

// key writes a key. In JSON it is a string.
func (w *writer) key(k value) {
	_, isText := asText(k)
	if w.json && !isText {
		if number(k) == nil && !isNone(k) {
			w.r.fail("%s cannot be a key in JSON", describe(w.r, k))
		}
		w.add(`"`)
		defer w.add(`"`)
	}
	w.value(k)
}

// elements writes the n elements of a container between its marks.
func (w *writer) elements(marks [2]string, n int, write func(i int)) {
	w.depth++
	w.add(marks[0])
	for i := range n {
		if i > 0 && w.pretty {
			w.add(",")
		} else if i > 0 {
			w.add(", ")
		}
		w.newline()
		write(i)
	}
	if w.depth--; n > 0 {
		w.newline()
	}
	w.add(marks[1])
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
