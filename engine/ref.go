package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Ref is one reference, parsed once: {node@output.path}, {sys.name}, {env.name.path}, with or
// without braces. The zero Ref refers to nothing.
type Ref struct {
	Expr   string   // as written, without braces: "Agent:A@content.0", "sys.query"
	Node   string   // component id, "" for a global
	Output string   // name of the output
	Path   []string // members below the output
	slot   int32    // where the node, or the global, stood when the canvas was loaded, plus one
}

// ParseRef reads a bare or braced expression. It returns the zero Ref for an empty text. It never
// fails: an expression can only be resolved within a canvas.
func ParseRef(s string) Ref {
	s = strings.TrimPrefix(strings.TrimSpace(s), "$")
	s = strings.Trim(strings.Trim(strings.Trim(s, "{"), "}"), " ")
	s = strings.Trim(strings.Trim(s, "{"), "}")
	r := Ref{Expr: s}
	if node, name, ok := strings.Cut(s, "@"); ok {
		r.Node = node
		var rest string
		r.Output, rest, _ = strings.Cut(name, ".")
		if rest != "" {
			r.Path = strings.Split(rest, ".")
		}
	}
	return r
}

// IsZero reports whether r refers to nothing.
func (r *Ref) IsZero() bool { return r.Expr == "" }

// String returns the expression in braces.
func (r *Ref) String() string { return "{" + r.Expr + "}" }

func (r *Ref) notFound() error {
	return fmt.Errorf("%w: Can't find variable: '%s'", ErrRef, brief(r.Expr))
}

// Text is a text with embedded references, cut into literal parts and references once.
//
// A reference keeps the blanks around it. Braces around it, ${...} and blanks inside double braces
// belong to it: "{{sys.query}}", "${sys.query}" and "{{ sys.query }}" all mean {sys.query}.
type Text struct {
	Source string
	parts  []textPart
	refs   []Ref // each expression once, in order of appearance
}

// textPart is literal text, or reference ref (an index into refs) when ref >= 0.
type textPart struct {
	lit string
	ref int
}

// ParseText cuts a text into literals and references.
func ParseText(s string) Text { return parseText(s, nil) }

// parseText is ParseText with short names of outputs.
func parseText(s string, short map[string]string) Text {
	t := Text{Source: s}
	from := 0
	for from <= len(s) {
		start, end, expr := findRef(s, from, short)
		if start < 0 {
			break
		}
		if start > from {
			t.parts = append(t.parts, textPart{lit: s[from:start], ref: -1})
		}
		t.parts = append(t.parts, textPart{ref: t.addRef(expr)})
		from = end
	}
	if from < len(s) {
		t.parts = append(t.parts, textPart{lit: s[from:], ref: -1})
	}
	return t
}

func (t *Text) addRef(expr string) int {
	for i := range t.refs {
		if t.refs[i].Expr == expr {
			return i
		}
	}
	t.refs = append(t.refs, ParseRef(expr))
	return len(t.refs) - 1
}

// Refs returns the references of the text, each expression once, in order of appearance.
func (t *Text) Refs() []Ref { return t.refs }

// Parts iterates over the text: for a literal ref is -1, else it is an index into Refs.
func (t *Text) Parts(yield func(lit string, ref int) bool) {
	for _, p := range t.parts {
		if !yield(p.lit, p.ref) {
			return
		}
	}
}

// FilledLen returns the length of the text that Fill returns.
func (t *Text) FilledLen(texts []string) int64 {
	size := int64(0)
	for _, p := range t.parts {
		if p.ref < 0 {
			size += int64(len(p.lit))
		} else {
			size += int64(len(texts[p.ref]))
		}
	}
	return size
}

// Fill returns the text with reference i of Refs replaced by texts[i]. Replacements are not scanned
// again.
func (t *Text) Fill(texts []string) string { return t.fill(texts, t.FilledLen(texts)) }

// fill is Fill for a result of about size bytes.
func (t *Text) fill(texts []string, size int64) string {
	if len(t.parts) == 1 && t.parts[0].ref < 0 {
		return t.parts[0].lit
	}
	var b strings.Builder
	b.Grow(int(size))
	for _, p := range t.parts {
		if p.ref < 0 {
			b.WriteString(p.lit)
		} else {
			b.WriteString(texts[p.ref])
		}
	}
	return b.String()
}

// findRef finds the next reference at or after from. The span includes the braces around it.
func findRef(s string, from int, short map[string]string) (start, end int, expr string) {
	for i := from; i < len(s); i++ {
		open := strings.IndexByte(s[i:], '{')
		if open < 0 {
			break
		}
		i += open
		n := refLength(s[i+1:])
		if n == 0 {
			n = shortLength(s[i+1:], short)
		}
		if n > 0 && i+1+n < len(s) && s[i+1+n] == '}' {
			expr = s[i+1 : i+1+n]
			start, end = widen(s, from, i, i+n+2)
			return start, end, expr
		}
		if start, end, expr := spaced(s, from, i); start >= 0 {
			return start, end, expr
		}
	}
	return -1, -1, ""
}

// spaced matches {{ ref }}: blanks are allowed only inside double braces. i is the position of a
// brace.
func spaced(s string, from, i int) (start, end int, expr string) {
	if i == from || s[i-1] != '{' {
		return -1, -1, ""
	}
	a := skipBlanks(s, i+1)
	n := refLength(s[a:])
	if n == 0 || a == i+1 && skipBlanks(s, a+n) == a+n {
		return -1, -1, ""
	}
	b := skipBlanks(s, a+n)
	if !strings.HasPrefix(s[b:], "}}") {
		return -1, -1, ""
	}
	start, end = widen(s, from, i-1, b+2)
	return start, end, s[a : a+n]
}

func skipBlanks(s string, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// widen extends s[start:end] by pairs of braces around it, and a $ before them.
func widen(s string, from, start, end int) (int, int) {
	for {
		a, b := start, skipBlanks(s, end)
		for a > from && s[a-1] == ' ' {
			a--
		}
		if a == from || s[a-1] != '{' || b >= len(s) || s[b] != '}' {
			break
		}
		start, end = a-1, b+1
	}
	if start > from && s[start-1] == '$' {
		start--
	}
	return start, end
}

// refLength returns the length of the reference at the start of s, 0 without one.
func refLength(s string) int {
	for _, prefix := range [...]string{"sys.", "env."} {
		if strings.HasPrefix(s, prefix) {
			n := span(s[len(prefix):], isNameByte)
			if n == 0 {
				return 0
			}
			return len(prefix) + n
		}
	}
	id := span(s, isIDByte)
	if id == 0 || id >= len(s) || s[id] != '@' {
		return 0
	}
	n := span(s[id+1:], isVarByte)
	if n == 0 {
		return 0
	}
	return id + 1 + n
}

// shortLength returns the length of the short name at the start of s, 0 without one.
func shortLength(s string, short map[string]string) int {
	if len(short) == 0 {
		return 0
	}
	n := span(s, isWordByte)
	if short[s[:n]] == "" {
		return 0
	}
	return n
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
func isIDByte(c byte) bool   { return isWordByte(c) || c == ':' }
func isNameByte(c byte) bool { return isWordByte(c) || c == '.' }
func isVarByte(c byte) bool  { return isWordByte(c) || c == '.' || c == '-' }

// Expr is a parameter that may hold a literal of any kind, one reference (bare or braced), or a
// text with references. The kind of a text depends on the canvas: "sys.query" is a reference only
// where such a variable exists.
type Expr struct {
	Literal Value
	ref     Ref
	text    Text
	whole   bool // a text that is nothing but one braced reference
}

// ParseExpr prepares a parameter value.
func ParseExpr(v Value) Expr { return parseExpr(v, ParseText) }

func parseExpr(v Value, parse func(string) Text) Expr {
	e := Expr{Literal: v}
	if v.Kind() != KindString || v.Str() == "" {
		return e
	}
	e.text = parse(v.Str())
	e.whole = len(e.text.parts) == 1 && e.text.parts[0].ref == 0
	if e.whole {
		e.ref = e.text.refs[0]
	} else if len(e.text.refs) == 0 {
		e.ref = ParseRef(v.Str())
	}
	return e
}

// IsEmpty reports whether the value is null or an empty text.
func (e *Expr) IsEmpty() bool {
	return e.Literal.IsNull() || e.Literal.Kind() == KindString && e.Literal.Str() == ""
}

// Refs returns the references that the value has in braces.
func (e *Expr) Refs() []Ref { return e.text.refs }

// Template returns the value as a text with references, without parts if it is not a string.
func (e *Expr) Template() *Text { return &e.text }

// Walk follows a path of member names and list indexes below v. Text is parsed as JSON, negative
// indexes count from the end, and a missing member is null, as is anything below a number, a
// boolean or a text that is not JSON.
func Walk(v Value, path []string) Value {
	for _, key := range path {
		if v.Kind() == KindString {
			parsed, err := ParseJSONText(v.Str())
			if err != nil {
				return Null
			}
			v = parsed
		}
		switch v.Kind() {
		case KindObject:
			v = v.Get(key)
		case KindList:
			i, err := strconv.Atoi(key)
			if err != nil {
				return Null
			}
			if i < 0 {
				i += v.Len()
			}
			v = v.At(i)
		default:
			return Null
		}
	}
	return v
}

// Put returns v with the value at path replaced; missing objects on the path are created. Lists are
// indexed; an index out of range, and any other kind on the path, is replaced by an object.
func Put(v Value, path []string, x Value) Value {
	if len(path) == 0 {
		return x
	}
	if v.Kind() == KindString {
		if parsed, err := ParseJSONText(v.Str()); err == nil && parsed.Kind() == KindObject {
			v = parsed
		}
	}
	if v.Kind() == KindList {
		i, err := strconv.Atoi(path[0])
		if i < 0 {
			i += v.Len()
		}
		if err == nil && i >= 0 && i < v.Len() {
			vals := append([]Value(nil), v.tree.vals...)
			vals[i] = Put(vals[i], path[1:], x)
			return listOf(vals)
		}
	}
	return v.With(path[0], Put(v.Get(path[0]), path[1:], x))
}
