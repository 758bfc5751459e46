package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,1e9,-0],"b":"\u00e9\ud83d\ude00\n","c":null}`, `[[[[]]]]`, `"\ud800"`,
		`01`, `{"a":1,"a":2}`, "\"\xff\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := engine.ParseJSON(data)
		if err != nil {
			return
		}
		out := v.AppendJSON(nil)
		require.True(t, json.Valid(out), "%q became %q", data, out)
		again, err := engine.ParseJSON(out)
		require.NoError(t, err)
		require.True(t, engine.Equal(v, again), "%q became %q", data, out)
		require.Equal(t, string(out), string(again.AppendJSON(nil)))
		require.True(t, json.Valid(data) || bytes.ContainsFunc(data, func(r rune) bool { return r == 0xFFFD }),
			"%q was accepted", data)
	})
}

// FuzzJSONReserving compares the parser with and without a bound, and what it allocates with what
// it reserves.
func FuzzJSONReserving(f *testing.F) {
	for _, s := range shapes(2000) {
		f.Add([]byte(s), int64(1000))
		f.Add([]byte(s[:len(s)/2]), int64(1<<20))
	}
	f.Add([]byte(`[[,,,,],{"a":[}]`), int64(1<<20))
	f.Add([]byte(`["\\\","\"",{"a":":"[[["}]`), int64(1<<20))
	f.Fuzz(func(t *testing.T, data []byte, most int64) {
		text, full := string(data), errors.New("full")
		var reserved int64
		var got engine.Value
		var err error
		used := allocated(func() {
			got, err = engine.ParseJSONReserving(text, func(n int64) error {
				if n > most-reserved {
					return full
				}
				reserved += n
				return nil
			})
		})
		// The rest covers small allocations, the error, and other goroutines of the test.
		require.LessOrEqual(t, used, 2*reserved+64<<10)
		if errors.Is(err, full) {
			return
		}
		want, wantErr := engine.ParseJSONText(text)
		require.Equal(t, wantErr, err)
		require.True(t, engine.Equal(want, got))
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"Hi {sys.query}!", "{{a@b.c}} ${env.x} {{ sys.y }}", "{ sys.q }", "{{{{a@b}}}",
		"{a:b_c@d-e}", "}{",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := engine.ParseText(s)
		length := 0
		for lit, ref := range text.Parts {
			if ref >= 0 {
				expr := text.Refs()[ref].Expr
				require.True(t, strings.Contains(s, expr), "%q is not in %q", expr, s)
				length += len(expr)
				continue
			}
			require.Contains(t, s, lit)
			length += len(lit)
		}
		require.LessOrEqual(t, length, len(s))
		r := engine.ParseRef(s)
		engine.Walk(engine.String(s), r.Path)
		engine.Put(engine.Null, r.Path, engine.Int(1))
	})
}

func FuzzCanvas(f *testing.F) {
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range files {
		if i%8 != 0 {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		doc, err := engine.ParseJSON(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc.Get("dsl").AppendJSON(nil))
	}
	f.Add(sketch.Bytes(`begin Begin -> a`, `a Message {"content":"{sys.query}"} -> begin`))
	for _, name := range []string{"canvas.json", "pipeline.json"} {
		f.Add(drawnFixture(f, name).Get("drawn").AppendJSON(nil))
	}
	reg, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		engine.Validate(reg, data)
		c, err := engine.Load(reg, data)
		if err != nil {
			return
		}
		saved := c.Save(c.State())
		again, err := engine.Load(reg, saved)
		require.NoError(t, err, "saved: %s", saved)
		require.Equal(t, string(saved), string(again.Save(again.State())))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		st := c.State()
		for _, err := range c.Run(ctx, st, engine.Input{Query: engine.String("hello")}, engine.Options{MaxSteps: 100}) {
			if err != nil {
				break
			}
		}
		_, err = engine.Load(reg, c.Save(st))
		require.NoError(t, err)
	})
}

// FuzzRunLog reads logs that were damaged or made up.
func FuzzRunLog(f *testing.F) {
	c := load(f, `begin Begin -> it`, `it Each {"items_ref":"sys.query"}`, `ii Item -> s ^ it`,
		`s Text {"script":"ok"} ^ it`)
	var snapshot, delta []byte
	for e, err := range c.Run(f.Context(), c.State(), engine.Input{Query: engine.Strings("a", "b")},
		engine.Options{Checkpoints: true}) {
		if err != nil {
			f.Fatal(err)
		}
		switch {
		case e.Type == engine.EventSnapshot && snapshot == nil:
			snapshot = e.Clone().JSON
		case e.Type == engine.EventCheckpoint:
			delta = e.Clone().JSON
		}
	}
	f.Add(snapshot, delta)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if _, err := engine.ParseJSON(a); err != nil {
			return
		}
		st, err := c.StateAt([]*engine.Event{
			{Seq: 1, Type: engine.EventSnapshot, JSON: a}, {Seq: 2, Type: engine.EventCheckpoint, JSON: b},
		}, 0)
		if err != nil || !st.Unfinished() {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for _, err := range c.Continue(ctx, st, engine.Options{MaxSteps: 100}) {
			if err != nil {
				break
			}
		}
	})
}
