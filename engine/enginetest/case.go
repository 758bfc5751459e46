package enginetest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// Case is one conformance case: a canvas, and runs with their inputs and expectations.
type Case struct {
	Name   string
	About  string // what the case proves
	Expect string // where the expectation comes from: exact, adjusted, written or recorded
	Why    string // the reason, when it is adjusted or written
	DSL    engine.Value
	Runs   []Run
}

// Run is one turn of a case. It starts from the state that the previous turn stored.
type Run struct {
	Kwargs    engine.Value // query, user_id, inputs, files, webhook_payload; a missing key was not passed
	Script    []Reply      // what the model answers
	Fallback  *Reply       // what it answers when the script is used up; nil is an error
	Cancel    *Cancellation
	Reset     Reset
	Fresh     bool          // start from the canvas of the case instead
	Retrieval engine.Value  // query text, or "*" -> {chunks, doc_aggs}
	Blobs     engine.Value  // file id -> content, or {"text"} that is given as it is
	Tools     []OutsideCall // what tools, MCP servers and web requests of Invoke answer
	Servers   engine.Value  // MCP server -> its tools, each {name, description, parameters}
	Canvases  engine.Value  // canvas id -> version -> document, of canvases that run inside
	Start     engine.Value  // document with the state in the middle of which the run begins; null for none
	Rerun     bool          // from Start, as a part of another run that is repeated
	Pins      engine.Value  // outputs by node that replace running it
	Until     string        // the node at which the run stops
	Seed      uint64        // of random choices; 0 is 1
	Debug     *Debug

	// Want is the expectation: an object with some of load_error, events, error, llm_calls,
	// llm_calls_unordered, tool_calls, searches, tool_trace, saved_memory, debug_outputs and
	// dsl_after.
	Want engine.Value
}

// Cancellation is the moment at which a run is canceled.
type Cancellation struct {
	Before bool               // before it starts
	After  engine.CancelAfter // else: when this event has been handed out
}

// Reset lists the parts of the state that are emptied before a run.
type Reset string

// The resets that a run may request.
const (
	ResetNothing    Reset = ""
	ResetAll        Reset = "all"
	ResetKeepMemory Reset = "mem" // history, retrieval and memory stay
)

// Debug runs one component alone instead of the canvas.
type Debug struct {
	Component string
	Params    engine.Value
}

// wanted are the members of a run that hold expectations, in the order they are written.
var wanted = [...]string{
	"load_error", "events", "error", "llm_calls", "llm_calls_unordered", "tool_calls", "searches", "tool_trace",
	"saved_memory", "debug_outputs", "dsl_after",
}

// ParseCase reads a case file.
func ParseCase(data []byte) (*Case, error) {
	v, err := engine.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("case: %w", err)
	}
	return ReadCase(v)
}

// ReadCase reads a parsed case. The error names a missing or unknown member.
func ReadCase(v engine.Value) (*Case, error) {
	c := &Case{
		Name: v.Get("name").Str(), About: v.Get("about").Str(), Expect: v.Get("expect").Str(),
		Why: v.Get("why").Str(), DSL: v.Get("dsl"),
	}
	if c.Name == "" {
		return nil, fmt.Errorf("case: name is missing")
	}
	if c.DSL.Kind() != engine.KindObject {
		return nil, fmt.Errorf("case %q: dsl is a %s; expected an object", c.Name, c.DSL.Kind())
	}
	for i, r := range v.Get("runs").Elements() {
		run, err := readRun(r)
		if err != nil {
			return nil, fmt.Errorf("case %q: run %d: %w", c.Name, i+1, err)
		}
		c.Runs = append(c.Runs, run)
	}
	if len(c.Runs) == 0 {
		return nil, fmt.Errorf("case %q: runs is empty; expected at least one run", c.Name)
	}
	return c, nil
}

func readRun(v engine.Value) (Run, error) {
	r := Run{
		Kwargs: v.Get("kwargs"), Fresh: v.Get("fresh").True(),
		Retrieval: v.Get("retrieval"), Blobs: v.Get("blobs"), Servers: v.Get("servers"), Canvases: v.Get("canvases"),
		Start: v.Get("start"), Rerun: v.Get("rerun").True(), Pins: v.Get("pins"), Until: v.Get("until").Str(),
	}
	if err := r.readPart(v); err != nil {
		return r, err
	}
	for i, call := range v.Get("tools").Elements() {
		c, err := readOutsideCall(call)
		if err != nil {
			return r, fmt.Errorf("tools[%d]: %w", i, err)
		}
		r.Tools = append(r.Tools, c)
	}
	for i, reply := range v.Get("llm_script").Elements() {
		x, err := readReply(reply)
		if err != nil {
			return r, fmt.Errorf("llm_script[%d]: %w", i, err)
		}
		r.Script = append(r.Script, x)
	}
	if f, ok := v.Lookup("fallback"); ok && !f.IsNull() {
		x, err := readReply(f)
		if err != nil {
			return r, fmt.Errorf("fallback: %w", err)
		}
		r.Fallback = &x
	}
	if err := r.readCancel(v.Get("cancel")); err != nil {
		return r, err
	}
	switch reset := v.Get("reset_before"); {
	case reset.Str() == string(ResetKeepMemory):
		r.Reset = ResetKeepMemory
	case reset.Truthy():
		r.Reset = ResetAll
	}
	if d := v.Get("debug"); !d.IsNull() {
		r.Debug = &Debug{Component: d.Get("component_id").Str(), Params: d.Get("params")}
	}
	want := engine.NewObject(len(wanted))
	for _, name := range wanted {
		if x, ok := v.Lookup(name); ok {
			want.Set(name, x)
		}
	}
	r.Want = want.Value()
	return r, nil
}

// readPart reads the seed and checks the members of a run that begins or ends in the middle: one
// that was ignored would make it another run.
func (r *Run) readPart(v engine.Value) (err error) {
	for _, m := range [...]struct {
		name string
		kind engine.Kind
	}{
		{"start", engine.KindObject},
		{"pins", engine.KindObject},
		{"canvases", engine.KindObject},
		{"servers", engine.KindObject},
		{"rerun", engine.KindBool},
		{"until", engine.KindString},
		{"seed", engine.KindString},
	} {
		if x := v.Get(m.name); !x.IsNull() && x.Kind() != m.kind {
			return fmt.Errorf("%s is of type %s; expected %s", m.name, x.Kind(), m.kind)
		}
	}
	if r.Rerun && r.Start.IsNull() {
		return errors.New("rerun needs start")
	}
	if seed := v.Get("seed").Str(); seed != "" {
		if r.Seed, err = strconv.ParseUint(seed, 16, 64); err != nil {
			return fmt.Errorf("seed %q is not a hexadecimal number of 64 bits", seed)
		}
	}
	return nil
}

func (r *Run) readCancel(v engine.Value) error {
	switch {
	case v.IsNull():
		return nil
	case v.Str() == "before":
		r.Cancel = &Cancellation{Before: true}
		return nil
	}
	after := v.Get("after_event")
	if after.Get("event").Str() == "" {
		return fmt.Errorf(`cancel: %s: expected "before" or {"after_event": {"event", "component_id", "nth"}}`,
			v.JSON())
	}
	nth, _ := after.Get("nth").Int()
	r.Cancel = &Cancellation{After: engine.CancelAfter{
		Event: engine.EventType(after.Get("event").Str()), Node: after.Get("component_id").Str(), Nth: int(nth),
	}}
	return nil
}

// Input returns the run's arguments as the engine takes them.
func (r *Run) Input() engine.Input {
	return engine.Input{
		Query: r.Kwargs.Get("query"), UserID: r.Kwargs.Get("user_id").Text(), Inputs: r.Kwargs.Get("inputs"),
		Files: r.Kwargs.Get("files"), Webhook: r.Kwargs.Get("webhook_payload"),
	}
}

// Value returns the case as it is written to a file.
func (c *Case) Value() engine.Value {
	b := engine.NewObject(8)
	b.Set("name", engine.String(c.Name)).Set("about", engine.String(c.About)).Set("expect", engine.String(c.Expect))
	if c.Why != "" {
		b.Set("why", engine.String(c.Why))
	}
	runs := make([]engine.Value, len(c.Runs))
	for i := range c.Runs {
		runs[i] = c.Runs[i].value()
	}
	return b.Set("dsl", c.DSL).Set("runs", engine.List(runs...)).Value()
}

func (r *Run) value() engine.Value {
	b := engine.NewObject(12)
	b.Set("kwargs", r.Kwargs)
	if len(r.Script) > 0 {
		script := make([]engine.Value, len(r.Script))
		for i := range r.Script {
			script[i] = r.Script[i].value()
		}
		b.Set("llm_script", engine.List(script...))
	}
	if r.Fallback != nil {
		b.Set("fallback", r.Fallback.value())
	}
	if r.Fresh {
		b.Set("fresh", engine.Bool(true))
	}
	r.setCancel(b)
	switch r.Reset {
	case ResetAll:
		b.Set("reset_before", engine.Bool(true))
	case ResetKeepMemory:
		b.Set("reset_before", engine.String(string(ResetKeepMemory)))
	}
	for _, m := range [...]struct {
		name  string
		value engine.Value
	}{
		{"retrieval", r.Retrieval},
		{"blobs", r.Blobs},
		{"tools", r.tools()},
		{"servers", r.Servers},
		{"canvases", r.Canvases},
		{"start", r.Start},
		{"pins", r.Pins},
	} {
		if !m.value.IsNull() {
			b.Set(m.name, m.value)
		}
	}
	if r.Rerun {
		b.Set("rerun", engine.Bool(true))
	}
	if r.Until != "" {
		b.Set("until", engine.String(r.Until))
	}
	if r.Seed != 0 {
		b.Set("seed", engine.String(strconv.FormatUint(r.Seed, 16)))
	}
	if d := r.Debug; d != nil {
		b.Set("debug", engine.Object("component_id", d.Component, "params", d.Params))
	}
	for name, x := range r.Want.Fields() {
		b.Set(name, x)
	}
	return b.Value()
}

// tools returns the answers of tools as they are written; null without any.
func (r *Run) tools() engine.Value {
	if len(r.Tools) == 0 {
		return engine.Null
	}
	list := make([]engine.Value, len(r.Tools))
	for i := range r.Tools {
		list[i] = r.Tools[i].value()
	}
	return engine.List(list...)
}

func (r *Run) setCancel(b *engine.ObjectBuilder) {
	switch {
	case r.Cancel == nil:
	case r.Cancel.Before:
		b.Set("cancel", engine.String("before"))
	default:
		a := r.Cancel.After
		after := engine.NewObject(3).Set("event", engine.String(string(a.Event)))
		if a.Node != "" {
			after.Set("component_id", engine.String(a.Node))
		}
		if a.Nth > 0 {
			after.Set("nth", engine.Int(int64(a.Nth)))
		}
		b.Set("cancel", engine.Object("after_event", after.Value()))
	}
}
