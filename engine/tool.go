package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// BoundTool is a component compiled as a tool of another one, such as a search an agent may call.
type BoundTool struct {
	Name string // the tool's own name in the canvas
	Spec *Spec
	node *node
	err  error // its params are wrong; reported to the model when it calls
}

// BindTool compiles a component as a tool of this node. kind is its component name, name its name
// in the canvas. A tool with invalid params, or that does not exist here, still binds: calling it
// fails.
func (s *Setup) BindTool(kind, name string, params Value) (*BoundTool, error) {
	spec, err := s.Registry.Lookup(kind)
	if err != nil {
		return nil, s.Fail("tools", String(kind), err.Error())
	}
	if name == "" {
		name = spec.Name
	}
	t := &BoundTool{Name: name, Spec: spec}
	n := &node{
		index: s.owner.index, id: s.NodeID + toolArrow + idSegment(name), name: name,
		spec: spec, parent: noNode, item: noNode, params: params, isTool: true, short: s.owner.short,
	}
	if problems := n.compile(s.Registry); len(problems) > 0 {
		t.err = problems[0]
	}
	t.node = n
	s.owner.tools = append(s.owner.tools, n)
	s.owner.refs = append(s.owner.refs, n.refs...)
	s.owner.resets = append(s.owner.resets, n.resets...)
	return t, nil
}

// Component returns the compiled component.
func (t *BoundTool) Component() Component { return t.node.comp }

// Err returns the reason why the tool cannot run, or nil. A tool that is missing may run later,
// because each call checks again.
func (t *BoundTool) Err() error {
	if t.err == nil && t.Spec.Missing != "" {
		return fmt.Errorf("%s: %w: %s", t.Spec.Name, ErrNoPort, t.Spec.Missing)
	}
	return t.err
}

// Description returns the canvas's description of the tool, or else the component's.
func (t *BoundTool) Description() string {
	if t.node.common.Description != "" {
		return t.node.common.Description
	}
	if t.Spec.Tool != nil {
		return t.Spec.Tool.Description
	}
	return t.Spec.Doc
}

// ToolAnswer is the answer of a tool to an agent.
type ToolAnswer struct {
	Result Value // what the model reads
	// Files are those that the tool made, each {name, mime_type, size} with its location: doc_id of
	// a stored file, or url.
	Files []Value
}

// Value returns the answer as an object; ReadToolAnswer is its inverse.
func (a *ToolAnswer) Value() Value {
	v := Object("result", a.Result)
	if len(a.Files) > 0 {
		v = v.With("files", listOf(a.Files))
	}
	return v
}

// ReadToolAnswer reads an answer from its Value.
func ReadToolAnswer(v Value) ToolAnswer {
	a := ToolAnswer{Result: v.Get("result")}
	if files := v.Get("files"); files.Len() > 0 {
		a.Files = files.Slice()
	}
	return a
}

// StoredFile returns the descriptor of a file that a tool made, by its stored location.
func StoredFile(location Value, name, mimeType string, size int) Value {
	v := Object("name", name, "mime_type", mimeType, "size", size)
	for key, member := range location.Fields() {
		v = v.With(key, member)
	}
	return v
}

// CallTool runs a tool with arguments from a model, and logs it under the name offered to the
// model. A failure inside the tool is returned as an error whose text is meant for the model.
func (c *Call) CallTool(ctx context.Context, t *BoundTool, exposed string, args Value) (ToolAnswer, error) {
	done := c.traceTool(t.Name, exposed, args)
	if t.err != nil {
		done(String(t.err.Error()), t.err)
		return ToolAnswer{}, t.err
	}
	sub := newCall(c.run, t.node)
	sub.st = c.st
	sub.args, sub.isTool, sub.parent = args, true, &c.CallOutputs
	if b, ok := ctx.Value(parallelKey{}).(*parallelStep); ok {
		sub.slot, sub.found = b.slot, &b.found
	}
	sub.inScope(ctx)
	err := c.run.redactError(c.run.attempt(ctx, sub))
	result := c.run.redact(sub.toolResult(t.Spec))
	if err != nil {
		done(String(err.Error()), err)
		return ToolAnswer{}, err
	}
	done(result, nil)
	answer := ToolAnswer{Result: result}
	if t.Spec.Tool != nil && t.Spec.Tool.Files != "" {
		files, _ := sub.Written(t.Spec.Tool.Files)
		answer.Files = c.run.redact(files).Slice()
	}
	return answer, nil
}

func (c *Call) toolResult(spec *Spec) Value {
	if spec.Tool == nil {
		return Null
	}
	if v, ok := c.Written(spec.Tool.Result); ok && !v.IsNull() {
		return v
	}
	v, _ := c.Written("content")
	return v
}

// TraceTool logs the start of a tool; the returned function logs its end. Tools that are not
// components (MCP) use it too.
func (c *Call) TraceTool(exposed string, args Value) func(result Value, err error) {
	return c.traceTool(exposed, exposed, args)
}

// traceTool is TraceTool for a tool that has another name in the canvas; "" is a step of the agent
// itself.
func (c *Call) traceTool(tool, exposed string, args Value) func(result Value, err error) {
	start := c.run.clock.Now()
	b := NewObject(8)
	b.Set("component_id", String(c.root().id)).Set("path", String(c.tracePath()))
	if tool != "" {
		b.Set("tool", String(idSegment(tool)))
	}
	b.Set("tool_name", String(exposed)).Set("arguments", args)
	started := b.Value()
	c.Log(EventToolStarted, started)
	return func(result Value, err error) {
		finished := c.timed(started.With("result", result), start)
		if err != nil {
			finished = finished.With("error", String(err.Error()))
		}
		c.Log(EventToolFinished, finished)
	}
}

// TraceStep logs a step of an agent other than a tool call: analyze_task, reflection, ...
func (c *Call) TraceStep(name string, args, result Value) {
	if tape := c.root().tape; tape != nil && tape.replaying() {
		return // it was logged before the execution was suspended
	}
	c.traceTool("", name, args)(result, nil)
}

// TraceEntry returns a finished tool call, the data of its event, as a trace shows it. Its path
// ends in the tool: Agent-->Sub_Agent-->Tool.
func TraceEntry(call Value) Value {
	path := call.Get("path").Str()
	if tool := call.Get("tool").Str(); tool != "" {
		path += toolArrow + tool
	}
	return Object("path", path, "tool_name", call.Get("tool_name"), "arguments", call.Get("arguments"),
		"result", call.Get("result"), "elapsed_time", call.Get("elapsed_time"))
}

// toolArrow separates an agent and its tool in ids and paths.
const toolArrow = "-->"

// idSegment returns the name of a tool as its id has it.
func idSegment(name string) string { return strings.ReplaceAll(name, " ", "_") }

// tracePath returns the display name of the node in the canvas and, after arrows, the agents below
// it.
func (c *execution) tracePath() string {
	root := c.root()
	path := root.node.name + strings.TrimPrefix(c.id, root.id)
	if around := c.run.opt.around; around != nil {
		path = around.tracePath() + toolArrow + path
	}
	return path
}

func seconds(d time.Duration) Value { return Float(float64(d.Microseconds()) / 1e6) }
