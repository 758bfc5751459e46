package template

import "github.com/easel-canvas/easel/engine"

// Template is a parsed template. It is immutable and may be rendered by many goroutines at once.
type Template struct {
	body   *body
	names  []string // every variable name of the text; nodes refer to them by index
	blocks map[string]*blockStatement
	loopID int
	length int
}

// Vars finds a variable by name; ok is false when there is none. It is asked at most once for each name that a
// render really reads. The Lookup method of an object is one. A stream must be read before; as it is, it is empty.
type Vars func(name string) (v engine.Value, ok bool)

// Texts is Vars for templates that see texts only: it gives each value with the text it reads as. In conditions
// and loops a value that counts as false (null, 0, false, [], {}) still does, whatever its text.
type Texts func(name string) (v engine.Value, text string, ok bool)

// Limits bound what one render may cost. In every field zero means the default.
type Limits struct {
	Depth  int // nested evaluations, such as macros that call themselves; 1000
	Steps  int // evaluated nodes, plus one for each element or 64 bytes that a filter or operator touches; 3 million
	Output int // bytes of the result and of any one text on the way to it; 16 MiB
	Range  int // numbers in one range(); 100000

	// Made is asked about each 64 KiB or more of texts that are made; its error ends the render.
	// nil allows any number that Steps does.
	Made func(n int64) error
}

func (l Limits) orDefault() Limits {
	set := func(field *int, standard int) {
		if *field <= 0 {
			*field = standard
		}
	}
	set(&l.Depth, 1000)
	set(&l.Steps, 3_000_000)
	set(&l.Output, 16<<20)
	set(&l.Range, 100_000)
	return l
}

// Parse compiles a template. The error is an *Error that wraps ErrSyntax.
func Parse(text string) (t *Template, err error) {
	p := newParser()
	defer caught(&err, &p.line)
	return p.parse(text), nil
}

// Render is the template with its variables filled in, within the default Limits. The error is an *Error; then
// the text is empty. A nil vars has no variables.
func (t *Template) Render(vars Vars) (string, error) { return t.RenderWithin(Limits{}, vars) }

// RenderTexts is RenderWithin for variables that are texts.
func (t *Template) RenderTexts(limits Limits, texts Texts) (text string, err error) {
	r := newRender(t, limits.orDefault(), nil)
	r.shown = texts
	defer caught(&err, &r.line)
	t.body.exec(r)
	return r.out.String(), nil
}

// RenderWithin is Render with limits of its own.
func (t *Template) RenderWithin(limits Limits, vars Vars) (text string, err error) {
	r := newRender(t, limits.orDefault(), vars)
	defer caught(&err, &r.line)
	t.body.exec(r)
	return r.out.String(), nil
}
