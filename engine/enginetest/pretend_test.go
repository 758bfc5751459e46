package enginetest_test

import (
	"fmt"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// This file makes observations out of expectations, and damages them.

// example returns a value that fits an expectation.
func example(v engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindList:
		out := engine.List()
		for _, e := range v.Elements() {
			out = out.Append(example(e))
		}
		return out
	case engine.KindObject:
		if v.Len() > 0 && strings.HasPrefix(v.Key(0), "$") {
			return exampleOf(v)
		}
		b := engine.NewObject(v.Len())
		for k, e := range v.Fields() {
			b.Set(k, example(e))
		}
		return b.Value()
	}
	return v
}

func exampleOf(m engine.Value) engine.Value {
	if m.Get("$ignore").True() {
		return engine.Null
	}
	if j, ok := m.Lookup("$json"); ok {
		return engine.String(example(j).Text())
	}
	text := m.Get("$starts").Text()
	for _, w := range m.Get("$contains").Elements() {
		if !contains(text, w.Text()) {
			text += " " + w.Text()
		}
	}
	if text == "" && m.Get("$present").True() {
		text = "something"
	}
	return engine.String(text)
}

func orText(v engine.Value, text string) engine.Value {
	if v.Truthy() {
		return v
	}
	return engine.String(text)
}

// pretend returns an observation that fits the case, written the way an engine might: in pieces,
// with stamps, extra fields and nulls.
func pretend(c engine.Value) engine.Value {
	runs := engine.List()
	for _, r := range c.Get("runs").Elements() {
		runs = runs.Append(pretendRun(r))
	}
	return engine.Object("name", c.Get("name"), "runs", runs)
}

func pretendRun(r engine.Value) engine.Value {
	if e := r.Get("load_error"); e.Truthy() {
		return engine.Object("load_error", orText(example(e), "bad").Text()+" !")
	}
	b := engine.NewObject(8)
	events := engine.List()
	for _, e := range r.Get("events").Elements() {
		for _, x := range pretendEvent(e) {
			events = events.Append(x)
		}
	}
	b.Set("events", events)
	if e := r.Get("error"); e.Truthy() && !e.Get("$ignore").True() {
		b.Set("error", orText(example(e), "x"))
	}
	if calls, ok := r.Lookup("llm_calls"); ok {
		list := engine.List()
		for _, call := range calls.Elements() {
			list = list.Append(pretendCall(call))
		}
		b.Set("llm_calls", list)
	}
	if trace, ok := r.Lookup("tool_trace"); ok {
		list := engine.List()
		for _, t := range trace.Elements() {
			list = list.Append(engine.Object("component_id", t.Get("component_id"),
				"trace", engine.List(t, engine.Object("tool_name", "reflection", "path", "x"))))
		}
		b.Set("tool_trace", list)
	}
	for _, k := range [...]string{"saved_memory", "debug_outputs"} {
		if v, ok := r.Lookup(k); ok {
			b.Set(k, example(v))
		}
	}
	if after, ok := r.Lookup("dsl_after"); ok {
		b.Set("dsl_after", pretendStored(example(after)))
	}
	return b.Value()
}

func pretendEvent(e engine.Value) []engine.Value {
	want := e.Get("data")
	data := example(want)
	switch e.Get("event").Str() {
	case "node_finished":
		failed := engine.Null
		if want.Get("error").Truthy() {
			failed = orText(data.Get("error"), "x")
		}
		data = data.With("error", failed).With("elapsed_time", engine.Float(0.1))
		if outs := data.Get("outputs"); outs.Kind() == engine.KindObject {
			data = data.With("outputs", outs.With("_elapsed_time", engine.Float(0.1)))
		}
	case "node_started":
		data = data.With("inputs", engine.Null).With("thoughts", engine.String("x")).With("created_at", engine.Int(1))
	case "message":
		if text := data.Get("content").Str(); len(text) > 3 && !data.Get("audio_binary").Truthy() {
			cut := len(string([]rune(text)[:2]))
			var pieces []engine.Value
			for _, p := range [...]string{text[:cut], text[cut:], ""} {
				pieces = append(pieces, engine.Object("event", "message", "data", engine.Object("content", p)))
			}
			return pieces
		}
	}
	return []engine.Value{engine.Object("event", e.Get("event"), "message_id", "m", "task_id", "t", "created_at", 1,
		"data", data)}
}

func pretendCall(c engine.Value) engine.Value {
	messages := engine.List()
	for _, m := range c.Get("messages").Elements() {
		messages = messages.Append(engine.Object("role", m.Get("role"), "content", example(m.Get("content"))))
	}
	system := example(c.Get("system")).Text()
	for _, w := range c.Get("mentions").Elements() {
		if !strings.Contains(system, w.Text()) {
			system += "\n" + w.Text()
		}
	}
	return engine.Object("kind", c.Get("kind"), "system", system, "messages", messages, "gen_conf", c.Get("gen_conf"))
}

func pretendStored(d engine.Value) engine.Value {
	path := d.Get("path")
	for _, w := range d.Get("waiting").Elements() {
		path = path.Append(w)
	}
	history := engine.List()
	for _, h := range d.Get("history").Elements() {
		content := h.At(1)
		if h.At(0).Str() == "assistant" {
			content = engine.Object("content", content, "_elapsed_time", 1)
		}
		history = history.Append(engine.List(h.At(0), content))
	}
	d = d.With("path", path).With("history", history)
	if g := d.Get("globals"); g.Truthy() {
		d = d.With("globals", g.With("sys.history", engine.Strings("user: x")))
	}
	return d
}

// mutations yields damaged observations with what was done to them. Each must be noticed.
func mutations(c, observed engine.Value) iter.Seq2[string, engine.Value] {
	return func(yield func(string, engine.Value) bool) {
		for i, r := range observed.Get("runs").Elements() {
			want := c.Get("runs").At(i)
			replace := func(what string, run engine.Value) bool {
				return yield(fmt.Sprintf("run %d: %s", i+1, what),
					observed.With("runs", setAt(observed.Get("runs"), i, run)))
			}
			if r.Get("load_error").Truthy() {
				if !replace("load error gone", engine.Object("events", engine.List())) {
					return
				}
				continue
			}
			for _, damage := range [...]func(want, r engine.Value, replace func(string, engine.Value) bool) bool{
				damageOrder, damageMessage, damageNode, damageStored, damageCalls,
			} {
				if !damage(want, r, replace) {
					return
				}
			}
		}
	}
}

func setAt(list engine.Value, at int, v engine.Value) engine.Value {
	out := engine.List()
	for i, e := range list.Elements() {
		if i == at {
			e = v
		}
		out = out.Append(e)
	}
	return out
}

func dropAt(list engine.Value, at int) engine.Value {
	out := engine.List()
	for i, e := range list.Elements() {
		if i != at {
			out = out.Append(e)
		}
	}
	return out
}

func insertAt(list engine.Value, at int, v engine.Value) engine.Value {
	out := engine.List()
	for i, e := range list.Elements() {
		if i == at {
			out = out.Append(v)
		}
		out = out.Append(e)
	}
	if at >= list.Len() {
		out = out.Append(v)
	}
	return out
}

// needed lists the events whose loss must be noticed.
func needed(want, events engine.Value) []int {
	optional := map[string]bool{}
	for _, e := range want.Get("events").Elements() {
		if e.Get("optional").True() {
			optional[e.Get("event").Str()] = true
		}
	}
	var list []int
	for i, e := range events.Elements() {
		d := e.Get("data")
		silent := e.Get("event").Str() == "message" && !d.Get("content").Truthy() &&
			!d.Get("start_to_think").Truthy() && !d.Get("end_to_think").Truthy()
		if !silent && !optional[e.Get("event").Str()] {
			list = append(list, i)
		}
	}
	return list
}

func damageOrder(want, r engine.Value, replace func(string, engine.Value) bool) bool {
	events := r.Get("events")
	need := needed(want, events)
	is := map[int]bool{}
	for _, j := range need {
		is[j] = true
	}
	if n := len(need); n > 0 {
		for _, j := range [...]int{need[0], need[n/2], need[n-1]} {
			if !replace(fmt.Sprintf("event %d dropped", j), r.With("events", dropAt(events, j))) {
				return false
			}
		}
	}
	label := func(e engine.Value) string {
		return e.Get("event").Text() + " " + e.Get("data").Get("component_id").Text()
	}
	for j := range events.Len() - 1 {
		a, b := events.At(j), events.At(j+1)
		if is[j] && is[j+1] && label(a) != label(b) {
			if !replace(fmt.Sprintf("events %d and %d swapped", j, j+1),
				r.With("events", setAt(setAt(events, j, b), j+1, a))) {
				return false
			}
			break
		}
	}
	ghost := engine.Object("event", "node_started", "data",
		engine.Object("component_id", "ghost", "component_type", "Message", "component_name", "g"))
	return events.Len() == 0 || replace("event added", r.With("events", insertAt(events, 1, ghost)))
}

func damageMessage(want, r engine.Value, replace func(string, engine.Value) bool) bool {
	for _, e := range want.Get("events").Elements() {
		// A text that is only matched by its words may grow.
		if c := e.Get("data").Get("content"); e.Get("event").Str() == "message" && c.Kind() == engine.KindObject {
			return true
		}
	}
	events := r.Get("events")
	for j, e := range events.Elements() {
		d := e.Get("data")
		if e.Get("event").Str() == "message" && d.Get("content").Truthy() {
			louder := e.With("data", d.With("content", engine.String(d.Get("content").Str()+"?")))
			return replace("content changed", r.With("events", setAt(events, j, louder)))
		}
	}
	return true
}

func damageNode(_, r engine.Value, replace func(string, engine.Value) bool) bool {
	events := r.Get("events")
	for j, e := range events.Elements() {
		if e.Get("event").Str() != "node_finished" {
			continue
		}
		d := e.Get("data")
		flipped := engine.String("boom")
		if d.Get("error").Truthy() {
			flipped = engine.Null
		}
		damages := []struct {
			what string
			data engine.Value
		}{
			{"error flipped", d.With("error", flipped)},
			{"component id changed", d.With("component_id", engine.String(d.Get("component_id").Str()+"x"))},
			{"unknown field", d.With("surprise", engine.Int(1))},
		}
		if outs := d.Get("outputs"); outs.Kind() == engine.KindObject {
			damages = append(damages, struct {
				what string
				data engine.Value
			}{"output added", d.With("outputs", outs.With("surprise", engine.Int(1)))})
		}
		for _, x := range damages {
			if !replace(x.what, r.With("events", setAt(events, j, e.With("data", x.data)))) {
				return false
			}
		}
		break
	}
	return true
}

func damageStored(want, r engine.Value, replace func(string, engine.Value) bool) bool {
	after, ok := r.Lookup("dsl_after")
	if !ok {
		return true
	}
	ghost := engine.String("ghost")
	path, history := after.Get("path"), after.Get("history")
	damages := []struct {
		what  string
		apply bool
		after engine.Value
	}{
		{"path longer", true, after.With("path", path.Append(ghost))},
		{"path shorter", want.Get("dsl_after").Get("path").Len() > 0, after.With("path", dropAt(path, 0))},
		{"history longer", true, after.With("history", history.Append(engine.List(engine.String("user"), ghost)))},
		{"waiting changed", true, after.With("waiting", engine.List(ghost))},
		{
			"global changed",
			want.Get("dsl_after").Get("globals").Get("sys.conversation_turns").Kind() == engine.KindNumber,
			after.With("globals", after.Get("globals").With("sys.conversation_turns", engine.Int(77))),
		},
	}
	for _, x := range damages {
		if x.apply && !replace(x.what, r.With("dsl_after", x.after)) {
			return false
		}
	}
	return true
}

func damageCalls(want, r engine.Value, replace func(string, engine.Value) bool) bool {
	calls := r.Get("llm_calls")
	if n := calls.Len(); n > 0 {
		if !replace("model call dropped", r.With("llm_calls", dropAt(calls, n-1))) {
			return false
		}
		for j, c := range want.Get("llm_calls").Elements() {
			if _, ok := c.Lookup("messages"); ok {
				longer := calls.At(j).Get("messages").Append(engine.Object("role", "assistant", "content", "ghost"))
				if !replace("prompt changed", r.With("llm_calls",
					setAt(calls, j, calls.At(j).With("messages", longer)))) {
					return false
				}
				break
			}
		}
	}
	return r.Get("tool_trace").Len() == 0 || replace("trace gone", r.With("tool_trace", engine.List()))
}
