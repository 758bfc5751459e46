package template

import "github.com/easel-canvas/easel/engine"

// Template is a parsed template. It is immutable and may be rendered by many goroutines at once.
type Template struct {
	body   body
	names  []string // of the variables; nodes refer to them by index
	loopID int      // index of the name "loop"
	size   int      // of the source, in bytes
}

// Vars returns the value of a variable; ok is false if it is not defined. A render calls it at most
// once per name and only for names that it evaluates. The Lookup method of an object is a Vars. A
// stream must be read before the render; an unread one is empty.
type Vars func(name string) (v engine.Value, ok bool)

// Texts is Vars for templates that see every value as a string. In conditions and loops a false
// value (null, 0, false, [], {}) stays false, whatever its string is.
type Texts func(name string) (v engine.Value, text string, ok bool)

// Parse compiles a template. The error is an *Error that wraps ErrSyntax.
func Parse(text string) (t *Template, err error) {
	p := &parser{cursor: cursor{line: 1}, ids: map[string]int{}, blocks: map[string]bool{}}
	defer caught(&err, &p.line)
	return p.parse(text), nil
}

// Render renders the template within the default Limits. An error is an *Error, and the string is
// empty then. vars may be nil.
func (t *Template) Render(vars Vars) (string, error) { return t.RenderWithin(Limits{}, vars) }

// RenderTexts is RenderWithin for variables that are strings.
func (t *Template) RenderTexts(limits Limits, texts Texts) (string, error) {
	return t.render(newRender(t, limits, nil, texts))
}

// RenderWithin is Render with other limits.
func (t *Template) RenderWithin(limits Limits, vars Vars) (string, error) {
	return t.render(newRender(t, limits, vars, nil))
}

func (t *Template) render(r *render) (text string, err error) {
	defer caught(&err, &r.line)
	t.body.exec(r)
	return r.out.String(), nil
}
