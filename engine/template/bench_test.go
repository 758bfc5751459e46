package template

import (
	"strconv"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/engine"
)

// report returns a template of about 100 KB with 1000 variables, and the literals between them.
func report(b *testing.B) (t *Template, pieces []string, vars engine.Value) {
	var text strings.Builder
	object := engine.NewObject(1000)
	for i := range 1000 {
		piece := strings.Repeat("lorem ipsum ", 7) + "\n"
		name := "value_" + strconv.Itoa(i)
		text.WriteString(piece + "{{ " + name + " }}")
		pieces = append(pieces, piece)
		object.Set(name, engine.String("value of "+name))
	}
	t, err := Parse(text.String())
	if err != nil {
		b.Fatal(err)
	}
	return t, pieces, object.Value()
}

func BenchmarkRender(b *testing.B) {
	t, _, vars := report(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Render(vars.Lookup); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin is the baseline of BenchmarkRender: the same output by plain concatenation.
func BenchmarkJoin(b *testing.B) {
	_, pieces, vars := report(b)
	var names []string
	for i := range pieces {
		names = append(names, "value_"+strconv.Itoa(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		parts := make([]string, 0, 2*len(pieces))
		for i, piece := range pieces {
			v, _ := vars.Lookup(names[i])
			parts = append(parts, piece, v.Str())
		}
		_ = strings.Join(parts, "")
	}
}

func BenchmarkParse(b *testing.B) {
	_, pieces, _ := report(b)
	text := strings.Join(pieces, "{{ a.b|default('c') }}")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	t, err := Parse(`{% set ns = namespace(s=0) %}` +
		`{% for i in range(10000) %}{% set ns.s = ns.s + i %}{% endfor %}{{ ns.s }}`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := t.Render(nil); err != nil {
			b.Fatal(err)
		}
	}
}
