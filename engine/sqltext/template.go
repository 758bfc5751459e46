package sqltext

import "strings"

// Hole stands for a reference in a template.
const Hole = "\x00"

// Segment is a part of a template: SQL, or the content of a string that is to be bound as a value.
type Segment struct {
	Text  string // with a Hole for each reference
	Bound bool   // Text is a value, without quotes and escapes
}

// Template cuts a statement at the strings that contain holes. A string counts if it is quoted as
// SQL does and has no prefix such as E or X: holes elsewhere remain in segments of SQL.
func Template(s string, d Dialect) []Segment {
	var list []Segment
	begin := 0
	for i := 0; i < len(s); {
		n := Skip(s[i:], d)
		quote := s[i]
		if quote != '\'' && (quote != '"' || d != MySQL) {
			i += n
			continue
		}
		for i+n < len(s) && s[i+n] == quote { // a doubled quote continues the string
			n += Skip(s[i+n:], d)
		}
		token := s[i : i+n]
		if !strings.Contains(token, Hole) || !bindable(s[:i], token, d) {
			i += n
			continue
		}
		before, after := s[begin:i], ""
		if word, rest, ok := typeWord(before, d); ok {
			before, after = rest+"CAST(", " AS "+word+")"
		}
		list = append(list, Segment{Text: before}, Segment{Text: unquoted(token, d), Bound: true})
		i += n
		begin = i
		s = s[:i] + after + s[i:]
		i += len(after)
	}
	return append(list, Segment{Text: s[begin:]})
}

// bindable reports whether a string is complete, has no prefix, which would be part of it, and no
// NUL character.
func bindable(before, token string, d Dialect) bool {
	if len(token) < 2 || token[len(token)-1] != token[0] || d == MySQL && strings.Contains(token, `\0`) {
		return false
	}
	if before == "" {
		return true
	}
	last := before[len(before)-1]
	return !wordByte(last, false) && last != '&'
}

// typeWord returns the type that a string literal is written with, such as DATE '2026-01-31', as
// CAST names it, and the text before it. A placeholder cannot follow it.
func typeWord(before string, d Dialect) (name, rest string, ok bool) {
	trimmed := strings.TrimRight(before, " \t\r\n")
	start := len(trimmed)
	for start > 0 && wordByte(trimmed[start-1], false) {
		start--
	}
	name = strings.ToUpper(trimmed[start:])
	switch {
	case name == "DATE" || name == "TIME":
		ok = d != SQLite
	case name == "TIMESTAMP" && d == MySQL:
		name, ok = "DATETIME", true
	case name == "TIMESTAMP" || name == "TIMESTAMPTZ" || name == "INTERVAL":
		ok = d == PostgreSQL
	}
	return name, trimmed[:start], ok
}

// unquoted returns the content of a string.
func unquoted(token string, d Dialect) string {
	quote := token[0]
	var b strings.Builder
	for i := 1; i < len(token)-1; i++ {
		c := token[i]
		switch {
		case c == quote: // the first of two
			i++
		case c == '\\' && d == MySQL && i+1 < len(token)-1:
			i++
			c = token[i]
			switch at := strings.IndexByte("bnrtZ", c); {
			case at >= 0:
				c = "\b\n\r\t\x1a"[at]
			case c == '%' || c == '_': // escapes of LIKE
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
