package template

import (
	"strings"
	"unicode/utf8"
)

// render is one evaluation of a template. It belongs to one goroutine.
type render struct {
	t          *Template
	vars       Vars
	shown      Texts
	limits     Limits
	tables     *tables
	steps      int   // left
	bytes      int64 // of texts made
	asked      int64 // of those, allowed by limits.Made
	depth      int
	line       int
	out        *strings.Builder
	captured   value   // text of the block whose filters are applied
	root       []value // variables of the template by name id, nil where not yet looked up
	scope      *scope  // nil at the root
	autoescape bool
}

// tables lists the functions by what they belong to. A render has them at hand because many of the functions look
// others up.
type tables struct {
	filters, tests, globals, strings, lists, tuples, dicts, numbers []callable
}

var builtin = tables{
	filters: filterTable[:], tests: testTable[:], globals: globalTable[:], strings: stringMethods[:],
	lists: listMethods[:], tuples: tupleMethods[:], dicts: dictMethods[:], numbers: numberMethods[:],
}

func newRender(t *Template, limits Limits, vars Vars) *render {
	r := &render{
		t: t, vars: vars, limits: limits, steps: limits.Steps, line: 1,
		tables: &builtin,
		out:    &strings.Builder{},
		root:   make([]value, len(t.names)),
	}
	r.out.Grow(min(t.length+t.length/4, limits.Output))
	return r
}

// eval is the way into every expression; it counts steps and depth.
func (r *render) eval(e expr) value {
	if r.steps--; r.steps < 0 {
		r.stop("the render needs more than %d steps", r.limits.Steps)
	}
	r.enter()
	v := e.eval(r)
	r.depth--
	return v
}

// enter goes one level deeper; the caller goes up again with r.depth--.
func (r *render) enter() {
	if r.depth++; r.depth > r.limits.Depth {
		r.stop("nested deeper than %d evaluations", r.limits.Depth)
	}
}

// spend counts n steps of work.
func (r *render) spend(n int) {
	if r.steps -= n; r.steps < 0 || n < 0 {
		r.stop("the render needs more than %d steps", r.limits.Steps)
	}
}

// scan counts the work of searching a text.
//
//go:noinline
func (r *render) scan(s string) { r.spend(len(s) / 64) }

// walk counts the work of looking at every character of a text.
//
//go:noinline
func (r *render) walk(s string) { r.spend(len(s) / 16) }

// made counts the work of making a text and checks its size.
//
//go:noinline
func (r *render) made(s string) string {
	r.reserve(len(s))
	return s
}

// reserve counts the work of making n bytes before they are made.
func (r *render) reserve(n int) {
	if n > r.limits.Output || n < 0 {
		r.tooLong("a text")
	}
	r.spend(n / 64)
	r.count(n)
}

// count asks whether the render may make n bytes more, each time that many have come together.
func (r *render) count(n int) {
	const often = 64 << 10
	if r.bytes += int64(n); r.limits.Made == nil || r.bytes-r.asked < often {
		return
	}
	if err := r.limits.Made(r.bytes - r.asked); err != nil {
		panic(&Error{Line: r.line, Reason: err.Error(), kind: err})
	}
	r.asked = r.bytes
}

// times counts the work of making n pieces of size bytes each.
func (r *render) times(n, size int) {
	if size > 0 && n > r.limits.Output/size {
		r.tooLong("a text")
	}
	r.spend(n * size / 64)
	r.count(n * size)
}

// length is the number of characters of s.
//
//go:noinline
func (r *render) length(s string) int {
	r.walk(s)
	return utf8.RuneCountInString(s)
}

// write appends to the current output.
func (r *render) write(s string) {
	r.reserve(len(s))
	if r.out.Len()+len(s) > r.limits.Output {
		r.tooLong("the result")
	}
	r.out.WriteString(s)
}

// capture gives the text that run writes.
func (r *render) capture(run func()) string {
	outer := r.out
	r.out = &strings.Builder{}
	run()
	s := r.out.String()
	r.out = outer
	return s
}

// markup gives a captured text the kind it has under the current escaping.
func (r *render) markup(s string) value {
	if r.autoescape {
		return safe(s)
	}
	return s
}
