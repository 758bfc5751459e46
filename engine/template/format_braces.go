package template

import (
	"strconv"
	"strings"
)

// braces is the method "format" of strings: "{}" takes the next value, "{0}" and "{name}" a chosen one, followed by
// attributes, items, a conversion and a format.
func (r *render) braces(format value, a *args) value {
	s, _ := asText(format)
	f := &braceFormat{r: r, args: a}
	_, f.escape = format.(safe)
	return like(format, r.made(f.text(s, 0)))
}

type braceFormat struct {
	r      *render
	args   *args
	auto   int // values taken by "{}"
	manual bool
	escape bool
}

// maxFieldNesting is how deep fields may stand inside of formats.
const maxFieldNesting = 2

func (f *braceFormat) text(s string, depth int) string {
	var buf []byte
	for {
		k := strings.IndexAny(s, "{}")
		if k < 0 {
			return string(append(buf, s...))
		}
		buf = append(buf, s[:k]...)
		if k+1 < len(s) && s[k+1] == s[k] && depth == 0 {
			buf, s = append(buf, s[k]), s[k+2:]
			continue
		}
		end := fieldEnd(s, k)
		if s[k] == '}' || end < 0 || depth >= maxFieldNesting {
			f.r.fail("single %q in a format", s[k:k+1])
		}
		buf = append(buf, f.field(s[k+1:end], depth)...)
		f.r.reserve(len(buf))
		s = s[end+1:]
	}
}

// fieldEnd is the place of the brace that closes the one at place k, or -1.
func fieldEnd(s string, k int) int {
	depth := 0
	for i := k; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (f *braceFormat) field(s string, depth int) string {
	f.r.spend(1)
	path, spec := s, ""
	if k := strings.IndexByte(s, ':'); k >= 0 {
		path, spec = s[:k], s[k+1:]
	}
	path, conversion, converted := strings.Cut(path, "!")
	v := f.value(path)
	if converted {
		switch conversion {
		case "s":
			v = f.r.str(v)
		case "r", "a":
			v = f.r.repr(v)
		default:
			f.r.fail("unknown conversion %q in a format", conversion)
		}
	}
	if strings.IndexByte(spec, '{') >= 0 {
		spec = f.text(spec, depth+1)
	}
	text := ""
	if spec == "" {
		text = f.r.str(v)
	} else {
		text = f.r.format(v, f.r.parseSpec(spec))
	}
	if _, ok := v.(safe); !ok && f.escape {
		return string(f.r.escape(text))
	}
	return text
}

// value finds what a field names.
func (f *braceFormat) value(path string) value {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	v := f.first(path[:end])
	for path = path[end:]; path != ""; {
		if path[0] == '.' {
			end := strings.IndexAny(path[1:], ".[")
			if end < 0 {
				end = len(path) - 1
			}
			v = f.r.attribute(v, path[1:end+1])
			path = path[end+1:]
		} else {
			end := strings.IndexByte(path, ']')
			if path[0] != '[' || end < 0 {
				f.r.fail("malformed field %q in a format", path)
			}
			v = f.item(v, path[1:end])
			path = path[end+1:]
		}
	}
	return v
}

func (f *braceFormat) first(name string) value {
	n, err := strconv.Atoi(name)
	switch {
	case name == "":
		n = f.auto
		f.auto++
	case err == nil:
		f.manual = true
	default:
		for i, k := range f.args.names {
			if k == name {
				return f.args.named[i]
			}
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

func (f *braceFormat) item(v value, key string) value {
	if n, err := strconv.ParseInt(key, 10, 64); err == nil && n >= 0 {
		return f.r.item(v, n)
	}
	return f.r.item(v, key)
}
