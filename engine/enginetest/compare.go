package enginetest

import (
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Compare lists the differences between a case and an observation of it, both in the form of files.
// No difference means the case passes.
func Compare(c, observed engine.Value) []string {
	var d differences
	if observed.Get("name").Str() != c.Get("name").Str() {
		d.add("name: expected %s, saw %s", short(c.Get("name")), short(observed.Get("name")))
	}
	kinds := componentKinds(c.Get("dsl"))
	want, seen := c.Get("runs"), observed.Get("runs")
	if want.Len() != seen.Len() {
		d.add("expected %d runs, saw %d", want.Len(), seen.Len())
	}
	for i := range min(want.Len(), seen.Len()) {
		d.run(want.At(i), seen.At(i), kinds, fmt.Sprintf("run %d", i+1))
	}
	return d
}

// componentKinds returns the component name of each node.
func componentKinds(dsl engine.Value) map[string]string {
	kinds := map[string]string{}
	for id, entry := range dsl.Get("components").Fields() {
		kinds[id] = entry.Get("obj").Get("component_name").Str()
	}
	return kinds
}

func (d *differences) run(want, seen engine.Value, kinds map[string]string, where string) {
	if want.Get("load_error").Truthy() || seen.Get("load_error").Truthy() {
		d.failure(want.Get("load_error"), seen.Get("load_error"), where+": load_error")
		return
	}
	if calls, ok := want.Lookup("tool_calls"); ok || len(want.Get("tools").Slice()) > 0 {
		d.toolCalls(calls, seen.Get("tool_calls"), where)
	}
	if searches, ok := want.Lookup("searches"); ok {
		d.toolCalls(searches, seen.Get("searches"), where)
	}
	if events, ok := want.Lookup("events"); ok {
		d.events(events, seen.Get("events"), where)
	}
	d.failure(want.Get("error"), seen.Get("error"), where+": error")
	d.calls(want.Get("llm_calls"), seen.Get("llm_calls"), want.Get("llm_calls_unordered").Truthy(), where)
	d.traces(want.Get("tool_trace"), seen.Get("tool_trace"), where)
	if saved, ok := want.Lookup("saved_memory"); ok {
		d.value(saved, savedMemory(seen.Get("saved_memory")), where+": saved_memory")
	}
	if outputs, ok := want.Lookup("debug_outputs"); ok {
		d.outputs(outputs, seen.Get("debug_outputs"), "", where+": debug_outputs")
	}
	if after, ok := want.Lookup("dsl_after"); ok {
		d.stored(after, seen.Get("dsl_after"), kinds, where+": dsl_after")
	}
}

// savedMemory keeps the members that are compared.
func savedMemory(v engine.Value) engine.Value {
	out := engine.List()
	for _, m := range v.Elements() {
		b := engine.NewObject(3)
		for _, k := range [...]string{"memory_ids", "user_input", "agent_response"} {
			b.Set(k, m.Get(k))
		}
		out = out.Append(b.Value())
	}
	return out
}

// freeGlobals may be there without being expected.
var freeGlobals = []string{"sys.history", "sys.date"}

// stored compares a stored canvas, whole or reduced, with the reduced one of the case.
func (d *differences) stored(want, seen engine.Value, kinds map[string]string, where string) {
	seen = Reduce(seen)
	waiting := texts(want.Get("waiting"))
	if got := texts(seen.Get("waiting")); !sameSet(waiting, got) {
		d.add("%s.waiting: expected %v, saw %v", where, waiting, got)
	}
	path := texts(seen.Get("path"))
	for len(path) > want.Get("path").Len() && slices.Contains(waiting, path[len(path)-1]) {
		path = path[:len(path)-1]
	}
	d.value(want.Get("path"), sameKind(seen.Get("path"), engine.Strings(path...)), where+".path")
	d.value(history(want.Get("history")), history(seen.Get("history")), where+".history")
	if globals := want.Get("globals"); !globals.IsNull() {
		d.value(globals, withoutFree(seen.Get("globals"), globals), where+".globals")
	}
	d.value(orEmptyList(want.Get("memory")), orEmptyList(seen.Get("memory")), where+".memory")
	if retrieval := want.Get("retrieval"); !ignored(retrieval) {
		d.value(orEmptyList(retrieval), orEmptyList(seen.Get("retrieval")), where+".retrieval")
	}
	wantOuts, seenOuts := want.Get("component_outputs"), seen.Get("component_outputs")
	for id, w := range wantOuts.Fields() {
		d.outputs(w, seenOuts.Get(id), kinds[id], where+".component_outputs."+id)
	}
	for id, s := range seenOuts.Fields() {
		if _, expected := wantOuts.Lookup(id); !expected {
			d.outputs(engine.Object(), s, kinds[id], where+".component_outputs."+id)
		}
	}
}

// sameKind returns the list read from a value, or the value itself if it is not a list.
func sameKind(v, list engine.Value) engine.Value {
	if v.IsNull() || v.Kind() == engine.KindList {
		return list
	}
	return v
}

func withoutFree(seen, want engine.Value) engine.Value {
	if seen.IsNull() {
		return engine.Object()
	}
	for _, name := range freeGlobals {
		if _, expected := want.Lookup(name); !expected {
			seen = seen.Without(name)
		}
	}
	return seen
}

func orEmptyList(v engine.Value) engine.Value {
	if !v.Truthy() {
		return engine.List()
	}
	return v
}

func texts(v engine.Value) []string {
	list := make([]string, 0, v.Len())
	for _, e := range v.Elements() {
		list = append(list, e.Text())
	}
	return list
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// history brings entries, lists or objects, to [role, text]; no content reads as an empty text.
func history(v engine.Value) engine.Value {
	out := engine.List()
	for _, e := range v.Elements() {
		role, content := e.At(0), e.At(1)
		if e.Kind() == engine.KindObject {
			role, content = e.Get("role"), e.Get("content")
		}
		if content.Kind() == engine.KindObject && !isMatcher(content) {
			content = content.Get("content")
		}
		if content.IsNull() {
			content = engine.String("")
		}
		out = out.Append(engine.List(role, content))
	}
	return out
}

// Reduce reduces a stored canvas to the compared parts: {path, waiting, history, globals,
// retrieval, memory, component_outputs: {id: {name: value}}}. A reduced one is returned unchanged.
func Reduce(dsl engine.Value) engine.Value {
	components, whole := dsl.Lookup("components")
	if _, reduced := dsl.Lookup("component_outputs"); reduced || !whole {
		return dsl
	}
	b := engine.NewObject(8)
	for _, k := range [...]string{"path", "waiting", "history", "globals", "retrieval", "memory"} {
		if v, ok := dsl.Lookup(k); ok {
			b.Set(k, v)
		}
	}
	all := engine.NewObject(components.Len())
	for id, entry := range components.Fields() {
		outs := entry.Get("obj").Get("params").Get("outputs")
		values := engine.NewObject(outs.Len())
		for name, o := range outs.Fields() {
			values.Set(name, declaredValue(o))
		}
		all.Set(id, values.Value())
	}
	return b.Set("component_outputs", all.Value()).Value()
}

// declaredValue returns the value of a declared output, {type, value}, or the bare value.
func declaredValue(o engine.Value) engine.Value {
	_, hasValue := o.Lookup("value")
	_, hasType := o.Lookup("type")
	if hasValue || hasType {
		return o.Get("value")
	}
	return o
}
