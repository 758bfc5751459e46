package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// ExpectRecorded is the Expect of a case made by recording.
const ExpectRecorded = "recorded"

// Record plays a canvas with the Player's Ports and makes a case of it: the runs with the answers
// of the ports, and the observation as the expectation. Model, Retriever, Files, Tools, MCP and
// HTTP can be recorded; for a canvas that needs other real ports, Record returns the case and an
// error that lists the differences when it is played without them. In the case, the values of the
// Player's Secrets are replaced by their names.
func (p *Player) Record(ctx context.Context, name, about string, dsl engine.Value, runs []Run) (*Case, error) {
	c := &Case{Name: name, About: about, Expect: ExpectRecorded, DSL: dsl, Runs: runs}
	s, err := p.begin(c)
	if err != nil {
		return nil, err
	}
	s.recorded = slices.Clone(runs)
	observed, err := s.play(ctx, c)
	if err != nil {
		return nil, err
	}
	made := Record(name, about, dsl, s.recorded, observed)
	if p.Secrets != nil {
		if made, err = ReadCase(p.Secrets.clean(made.Value())); err != nil {
			return nil, err
		}
	}
	again := &Player{Registry: p.Registry, Concurrency: p.Concurrency}
	replayed, err := again.Play(ctx, made)
	if err != nil {
		return made, err
	}
	if diffs := Compare(made.Value(), replayed); len(diffs) > 0 {
		return made, fmt.Errorf("case %q: played without the real ports it differs, first: %s", name, diffs[0])
	}
	return made, nil
}

// Record makes a case of a canvas, the inputs of its runs and the observation. Times, ids and
// hidden members are left out, message pieces are joined, and the text of errors is not compared.
func Record(name, about string, dsl engine.Value, runs []Run, observed engine.Value) *Case {
	c := &Case{Name: name, About: about, Expect: ExpectRecorded, DSL: dsl, Runs: slices.Clone(runs)}
	for i := range c.Runs {
		c.Runs[i].Want = expectation(observed.Get("runs").At(i))
	}
	return c
}

// anyError is the expectation of an error with any text.
var anyError = engine.Object("$contains", engine.List())

func expectation(seen engine.Value) engine.Value {
	b := engine.NewObject(8)
	if seen.Get("load_error").Truthy() {
		return b.Set("load_error", anyError).Value()
	}
	if events, ok := seen.Lookup("events"); ok {
		b.Set("events", expectedEvents(events))
	}
	if seen.Get("error").Truthy() {
		b.Set("error", anyError)
	}
	if calls, ok := seen.Lookup("llm_calls"); ok {
		b.Set("llm_calls", expectedCalls(calls))
	}
	for _, k := range [...]string{"tool_calls", "searches"} {
		if calls, ok := seen.Lookup(k); ok {
			b.Set(k, calls)
		}
	}
	if trace := flatTrace(seen.Get("tool_trace")); len(trace) > 0 {
		b.Set("tool_trace", engine.List(trace...))
	}
	for _, k := range [...]string{"saved_memory", "debug_outputs"} {
		if v, ok := seen.Lookup(k); ok {
			b.Set(k, withoutHidden(v))
		}
	}
	if after, ok := seen.Lookup("dsl_after"); ok {
		b.Set("dsl_after", expectedStored(Reduce(after)))
	}
	return b.Value()
}

// expectedCalls returns model calls without stop words, which are not compared.
func expectedCalls(calls engine.Value) engine.Value {
	list := engine.List()
	for c := range elements(calls) {
		list = list.Append(c.With("gen_conf", c.Get("gen_conf").Without("stop")))
	}
	return list
}

func expectedEvents(events engine.Value) engine.Value {
	list := engine.List()
	for _, f := range fold(events) {
		data := engine.NewObject(8)
		switch {
		case f.mark != "":
			data.Set("content", engine.String("")).Set(f.mark, engine.Bool(true))
		case f.event == "message":
			data.Set("content", f.content)
			if len(f.sound) > 0 {
				data.Set("audio_binary", engine.String(strings.Join(f.sound, "")))
			}
		default:
			for k, v := range f.data.Fields() {
				if slices.Contains(freeFields, k) || strings.HasPrefix(k, "_") {
					continue
				}
				if k == "error" && v.Truthy() {
					v = anyError
				}
				data.Set(k, withoutHidden(v))
			}
		}
		list = list.Append(engine.Object("event", f.event, "data", data.Value()))
	}
	return list
}

func expectedStored(after engine.Value) engine.Value {
	globals := after.Get("globals")
	for _, name := range freeGlobals {
		globals = globals.Without(name)
	}
	outs := engine.NewObject(after.Get("component_outputs").Len())
	for id, o := range after.Get("component_outputs").Fields() {
		outs.Set(id, withoutHidden(o))
	}
	return after.With("globals", globals).With("history", history(after.Get("history"))).With("component_outputs",
		outs.Value())
}

// withoutHidden returns an object without the members that start with _.
func withoutHidden(v engine.Value) engine.Value {
	for k := range v.Fields() {
		if strings.HasPrefix(k, "_") {
			v = v.Without(k)
		}
	}
	return v
}
