package template

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// FuzzTemplate renders arbitrary input: the result is a string within the limits or an *Error, and
// the same on the second render.
func FuzzTemplate(f *testing.F) {
	for _, line := range recordings(f, "jinja.jsonl") {
		c, err := engine.ParseJSON(line)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.Get("template").Str())
	}
	for _, text := range hostile {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	vars, err := engine.ParseJSONText(`{"a":1,"b":2.5,"s":"text","xs":[3,1,2],"d":{"k":{"n":null}},"t":true,"h":"<b>"}`)
	if err != nil {
		f.Fatal(err)
	}
	limits := Limits{Steps: 20000, Output: 1 << 16, Range: 1000, Depth: 200}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := Parse(text)
		if err != nil {
			check(t, err)
			return
		}
		out, err := tmpl.RenderWithin(limits, vars.Lookup)
		if err != nil {
			check(t, err)
			return
		}
		if len(out) > limits.Output {
			t.Fatalf("%d bytes", len(out))
		}
		again, err := tmpl.RenderWithin(limits, vars.Lookup)
		if err != nil || again != out {
			t.Fatalf("first %q, then %q, %v", out, again, err)
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Fatalf("invalid text %q", out)
		}
	})
}

func check(t *testing.T, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Line < 1 || strings.Contains(e.Reason, "internal error") {
		t.Fatal(err)
	}
}
