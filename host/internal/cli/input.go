package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// texts is a flag that may be given several times.
type texts []string

func (t *texts) String() string     { return strings.Join(*t, ", ") }
func (t *texts) Set(s string) error { *t = append(*t, s); return nil }

// readInputs reads --inputs: JSON, the name of a file, or "-" for standard input.
func (a *app) readInputs(arg string) (engine.Value, error) {
	text := strings.TrimSpace(arg)
	var err error
	switch {
	case text == "":
		return engine.Null, nil
	case text == "-":
		var data []byte
		data, err = io.ReadAll(a.in)
		text = string(data)
	case !strings.HasPrefix(text, "{"):
		var data []byte
		data, err = os.ReadFile(arg)
		text = string(data)
	}
	if err != nil {
		return engine.Null, fmt.Errorf("--inputs: %w", err)
	}
	v, err := engine.ParseJSONText(text)
	if err != nil {
		return engine.Null, fmt.Errorf("--inputs: %w", err)
	}
	if v.Kind() != engine.KindObject {
		return engine.Null, fmt.Errorf("--inputs: got a %s, want an object of fields", v.Kind())
	}
	return v, nil
}

// form returns the fields that a run needs: from the forms it is paused at, or from Begin.
func (s *session) form() engine.Value {
	if !s.state.Paused() {
		f, err := s.canvas.InputForm(engine.StartID)
		if err != nil {
			return engine.Null // a canvas that begins elsewhere has no form
		}
		return f
	}
	b := engine.NewObject(4)
	for _, id := range s.state.Waiting() {
		if c, _ := s.canvas.Component(id); !isForm(c) {
			continue
		}
		f, err := s.canvas.InputForm(id)
		if err != nil {
			continue
		}
		for name, field := range f.Fields() {
			b.Set(name, field)
		}
	}
	return b.Value()
}

func isForm(c engine.Component) bool {
	_, ok := c.(engine.Form)
	return ok
}

// complete converts inputs to the engine's form: it adds the defaults of the form when a run starts
// and turns paths of files into uploads.
func (w *world) complete(s *session, given engine.Value) (engine.Value, error) {
	form := s.form()
	b := engine.NewObject(form.Len())
	for name, v := range given.Fields() {
		field, declared := form.Lookup(name)
		wrapped, err := w.answer(field, v)
		if err != nil {
			return engine.Null, fmt.Errorf("input %s: %w", name, err)
		}
		if !declared && form.Len() > 0 && !s.state.Paused() {
			return engine.Null, fmt.Errorf("input %s: unknown field (the canvas has %s)", name,
				strings.Join(keys(form), ", "))
		}
		b.Set(name, wrapped)
	}
	if !s.state.Paused() {
		for name, field := range form.Fields() {
			if d := field.Get("value"); !d.IsNull() {
				if _, there := given.Lookup(name); !there {
					b.Set(name, engine.Object("type", field.Get("type"), "value", d))
				}
			}
		}
	}
	if b.Len() == 0 {
		return engine.Null, nil
	}
	return b.Value(), nil
}

// answer wraps a bare value as {"type", "value"}; a path for a file field becomes an upload.
func (w *world) answer(field, v engine.Value) (engine.Value, error) {
	inner, wrapped := v.Lookup("value")
	if v.Kind() != engine.KindObject || !wrapped {
		inner = v
	}
	kind := field.Get("type").Text()
	if strings.Contains(strings.ToLower(kind), "file") && inner.Kind() == engine.KindString {
		descriptor, err := w.uploads.Add(inner.Str())
		if err != nil {
			return engine.Null, err
		}
		inner = descriptor
	}
	if wrapped {
		return v.With("value", inner), nil
	}
	b := engine.NewObject(3)
	if kind != "" {
		b.Set("type", engine.String(kind))
	}
	return b.Set("value", inner).Value(), nil
}

// attach uploads the files of --file.
func (w *world) attach(paths []string) (engine.Value, error) {
	if len(paths) == 0 {
		return engine.Null, nil
	}
	list := engine.List()
	for _, p := range paths {
		descriptor, err := w.uploads.Add(p)
		if err != nil {
			return engine.Null, err
		}
		list = list.Append(descriptor)
	}
	return list, nil
}

func keys(v engine.Value) []string {
	var out []string
	for k := range v.Fields() {
		out = append(out, k)
	}
	return out
}

// firstLine reads the first line of a file, or of the standard input for "-". Secrets come this
// way: a flag would show them to all users of the machine.
func firstLine(stdin *bufio.Reader, file string) (string, error) {
	if file == "-" {
		line, err := stdin.ReadString('\n')
		if line == "" {
			return "", fmt.Errorf("standard input: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	text, err := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r"), err
}
