package template

import (
	"math"
	"strings"
	"unicode/utf16"
)

func filterTojson(r *render, v value, a *args) value {
	w := &jsonWriter{r: r}
	if indent := a.at(0); !isNone(indent) {
		w.pretty = true
		if s, ok := asText(indent); ok {
			w.indent = s
		} else {
			n := max(0, r.needInt(indent))
			r.reserve(n)
			w.indent = strings.Repeat(" ", n)
		}
	}
	w.value(v)
	return safe(r.made(string(w.buf)))
}

// jsonWriter writes JSON that may stand inside of HTML: names sorted, everything outside of ASCII escaped.
type jsonWriter struct {
	r      *render
	buf    []byte
	pretty bool
	indent string
	depth  int
}

func (w *jsonWriter) add(s string) { w.buf = append(w.buf, s...) }

func (w *jsonWriter) value(v value) {
	w.r.spend(1)
	if len(w.buf) > w.r.limits.Output {
		w.r.reserve(len(w.buf))
	}
	switch v := v.(type) {
	case none:
		w.add("null")
	case bool:
		w.add(jsonBool(v))
	case int64, digits:
		w.add(w.r.str(v))
	case float64:
		w.add(jsonFloat(v))
	case string:
		w.text(v)
	case safe:
		w.text(string(v))
	case hollow:
		w.text(string(v))
	case *list:
		w.list(v.all())
	case *tuple:
		w.list(v.items)
	case *dict:
		w.dict(v)
	default:
		w.r.needDefined(v)
		w.r.fail("%s cannot be written as JSON", w.r.describe(v))
	}
}

func jsonBool(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func jsonFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	return formatFloat(f)
}

// open, comma and end write what goes around and between elements.
func (w *jsonWriter) open(mark string) {
	w.r.enter()
	w.depth++
	w.add(mark)
}

func (w *jsonWriter) comma(first bool) {
	switch {
	case w.pretty && !first:
		w.add(",")
	case !first:
		w.add(", ")
	}
	w.newline()
}

func (w *jsonWriter) newline() {
	if !w.pretty {
		return
	}
	w.add("\n")
	w.r.times(w.depth, len(w.indent))
	for range w.depth {
		w.add(w.indent)
	}
}

func (w *jsonWriter) end(empty bool, mark string) {
	w.r.depth--
	w.depth--
	if !empty {
		w.newline()
	}
	w.add(mark)
}

func (w *jsonWriter) list(items []value) {
	w.open("[")
	for i, v := range items {
		w.comma(i == 0)
		w.value(v)
	}
	w.end(len(items) == 0, "]")
}

func (w *jsonWriter) dict(d *dict) {
	entries := w.r.sortedEntries(d, w.r.less)
	w.open("{")
	for i, e := range entries {
		w.comma(i == 0)
		w.key(e.key)
		w.add(": ")
		w.value(e.value)
	}
	w.end(len(entries) == 0, "}")
}

func (w *jsonWriter) key(k value) {
	switch k := k.(type) {
	case string:
		w.text(k)
	case safe:
		w.text(string(k))
	case hollow:
		w.text(string(k))
	case none:
		w.add(`"null"`)
	case bool:
		w.add(`"` + jsonBool(k) + `"`)
	case int64, digits:
		w.add(`"` + w.r.str(k) + `"`)
	case float64:
		w.add(`"` + jsonFloat(k) + `"`)
	default:
		w.r.fail("%s cannot be a key in JSON", w.r.describe(k))
	}
}

func (w *jsonWriter) text(s string) {
	w.r.walk(s)
	w.add(`"`)
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			w.buf = append(w.buf, '\\', byte(c))
		case c >= '\b' && c <= '\r' && c != '\v':
			w.buf = append(w.buf, '\\', "btn?fr"[c-'\b'])
		case c < ' ' || c >= 0x7f && c < 0x10000 || strings.ContainsRune("<>&'", c):
			w.escape(c)
		case c >= 0x10000:
			high, low := utf16.EncodeRune(c)
			w.escape(high)
			w.escape(low)
		default:
			w.buf = append(w.buf, byte(c))
		}
	}
	w.add(`"`)
}

func (w *jsonWriter) escape(c rune) { w.buf = appendHex(append(w.buf, `\u`...), c, 4) }
