package httptool

import (
	"strconv"
	"strings"
)

// filters maps the filters of guest/filter.ts to their number of arguments.
var filters = map[string]int{
	"eq": 1, "ne": 1, "not": 0, "and": 1, "gt": 1, "contains": 1, "starts": 1,
	"number": 0, "add": 1, "times": 1, "min": 1, "max": 1, "date": 0,
	"text": 0, "trim": 0, "line": 0, "lower": 0, "upper": 0, "cut": 1, "replace": 2, "split": 1, "json": 0,
	"param": 1, "prefix": 1, "suffix": 1, "between": 2,
	"html": 0, "strip": 0, "select": 1, "readable": 0, "markdown": 0,
	"list": 0, "first": 0, "last": 0, "at": 1, "count": 0, "limit": 1, "join": 1, "values": 0, "map": 1, "sort": 1,
	"where": 2, "rows": 1,
}

// condition checks a template, or a list of templates that all have to hold.
func (c *checker) condition(place string, v any) {
	switch v := v.(type) {
	case nil, string:
		c.value(place, v)
	case []any:
		for i, e := range v {
			if _, ok := e.(string); !ok {
				c.fail(place+"["+strconv.Itoa(i)+"]", "is not a template; use a string such as {params.name}")
			}
			c.value(place+"["+strconv.Itoa(i)+"]", e)
		}
	default:
		c.fail(place, "is neither a template nor a list of templates")
	}
}

// template checks the expressions of a string.
func (c *checker) template(place, text string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' && text[i] != '}' {
			continue
		}
		if i+1 < len(text) && text[i+1] == text[i] {
			i++
			continue
		}
		if text[i] == '}' {
			c.fail(place, "} without {; write }} for a brace")
			return
		}
		end := closing(text, i+1)
		if end < 0 {
			c.fail(place, "{ without }; write {{ for a brace")
			return
		}
		e := expr{c: c, place: place, s: text[i+1 : end]}
		e.check()
		i = end
	}
}

// closing returns the end of the expression that starts at i.
func closing(s string, i int) int {
	quoted := false
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}

// expr checks one expression; guest/expr.ts implements the same grammar.
type expr struct {
	c     *checker
	place string
	s     string
	i     int
}

func (e *expr) fail(format string, args ...any) {
	e.c.fail(e.place, "{%s}: "+format, append([]any{e.s}, args...)...)
	e.i = len(e.s)
}

func (e *expr) check() {
	e.operand()
	for e.take("??") {
		e.operand()
	}
	for e.take("|") {
		name := e.word()
		given := 0
		for e.take(":") {
			e.operand()
			given++
		}
		if wanted, ok := filters[name]; !ok {
			e.fail("there is no filter %q; use one of %s", name, list(filters))
		} else if given != wanted {
			e.fail("filter %s takes %d arguments, not %d", name, wanted, given)
		}
	}
	if e.space(); e.i < len(e.s) {
		e.fail("not understood at %q", e.s[e.i:])
	}
}

func (e *expr) space() {
	for e.i < len(e.s) && e.s[e.i] <= ' ' {
		e.i++
	}
}

func (e *expr) take(token string) bool {
	e.space()
	if !strings.HasPrefix(e.s[e.i:], token) {
		return false
	}
	e.i += len(token)
	return true
}

func (e *expr) word() string {
	e.space()
	from := e.i
	for e.i < len(e.s) && e.s[e.i] > ' ' && !strings.ContainsRune("|:?'", rune(e.s[e.i])) {
		e.i++
	}
	return e.s[from:e.i]
}

func (e *expr) operand() {
	if e.take("'") {
		end := strings.IndexByte(e.s[e.i:], '\'')
		if end < 0 {
			e.fail("' without an end")
			return
		}
		e.i += end + 1
		return
	}
	word := e.word()
	switch {
	case word == "":
		e.fail("a path, 'text' or number is missing")
		return
	case word == "true" || word == "false":
		return
	case word[0] == '-' || word[0] >= '0' && word[0] <= '9':
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			e.fail("%q is not a number", word)
		}
		return
	}
	e.path(strings.Split(word, "."))
}

// path checks that the first name of a path exists.
func (e *expr) path(path []string) {
	root := path[0]
	if !e.c.names[root] {
		e.fail("there is no %q here; there are %s", root, list(e.c.names))
		return
	}
	second := ""
	if len(path) > 1 {
		second = path[1]
	}
	switch root {
	case "args":
		if _, ok := e.c.about.Arguments.Properties[second]; !ok {
			e.fail("%q is not among the arguments of the manifest (%s)", second, list(e.c.about.Arguments.Properties))
		}
	case "params":
		if _, ok := e.c.about.Params.Properties[second]; !ok {
			e.fail("%q is not among the params of the manifest (%s)", second, list(e.c.about.Params.Properties))
		}
	case "secret":
		if _, ok := e.c.about.Permissions.Secrets[second]; !ok {
			secrets := list(e.c.about.Permissions.Secrets)
			e.fail("%q is not among permissions.secrets of the manifest (%s)", second, secrets)
		}
	}
}
