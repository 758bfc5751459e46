package contract

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Entry describes how a plugin without the messages of the contract, such as any Extism plugin, is
// called through one of its exports.
type Entry struct {
	Export        string
	Input, Output Form   // empty is FormText
	Tool          string // of a plugin with the forms of MCP: the name of the tool
}

// Form is the form of the input and output of an [Entry].
type Form string

// The forms.
const (
	// FormText is the text of the member [EntryInput] of the arguments, or else of the params; and
	// the text of the output [EntryOutput].
	FormText Form = "text"
	// FormJSON is an object of the params, overridden by the arguments; and an object with the
	// outputs, or any value of the output [EntryOutput] when the manifest declares that.
	FormJSON Form = "json"
	// FormBytes is FormText with the bytes in base64.
	FormBytes Form = "bytes"
	// FormMCP is a call of an MCP tool, {"request": {name, arguments}, "context"}, and its result,
	// see [readToolResult].
	FormMCP Form = "mcp"
	// FormMCP1 is the call of a tool in the older form {"params": {name, arguments}}; input only.
	FormMCP1 Form = "mcp1"
)

// The names of the param, or argument, and of the output of an entry of the form text or bytes.
const (
	EntryInput  = "input"
	EntryOutput = "output"
)

const invokeExport = "easel_invoke"

// CommandExport is the export of a WASI program. As the export of an [Entry] it makes the plugin a
// command: the input is its standard input, the output its standard output, and a status other than
// 0 is an error.
const CommandExport = "_start"

// Command reports whether a component is a WASI program.
func (m *Manifest) Command() bool { return m.Entry != nil && m.Entry.Export == CommandExport }

// HasCommand reports whether a component of a file is a WASI program.
func (m *Manifest) HasCommand() bool { return slices.ContainsFunc(m.Nodes(), (*Manifest).Command) }

// Export returns the function that runs the plugin.
func (m *Manifest) Export() string {
	if m.Entry != nil {
		return m.Entry.Export
	}
	if m.Invoke != "" {
		return m.Invoke
	}
	return invokeExport
}

// Message returns the input of a call.
func (m *Manifest) Message(c CallInfo, params, arguments engine.Value) ([]byte, error) {
	c.Component = m.Component
	if m.Entry == nil {
		return c.Input(params, arguments).AppendJSON(nil), nil
	}
	switch m.Entry.Input {
	case FormJSON:
		return joined(params, arguments).AppendJSON(nil), nil
	case FormMCP, FormMCP1:
		return m.Entry.toolCall(c, joined(params, arguments)).AppendJSON(nil), nil
	}
	v := arguments.Get(EntryInput)
	if v.IsNull() {
		v = params.Get(EntryInput)
	}
	if !v.IsNull() && v.Kind() != engine.KindString {
		return nil, Errorf(InvalidArgument, "%s: want string, got %s", EntryInput, typeName(v))
	}
	if m.Entry.Input != FormBytes {
		return []byte(v.Str()), nil
	}
	raw, err := base64.StdEncoding.DecodeString(v.Str())
	if err != nil {
		return nil, Errorf(InvalidArgument, "%s: want bytes in base64: %v", EntryInput, err)
	}
	return raw, nil
}

// joined returns an object of the params, overridden by the arguments.
func joined(params, arguments engine.Value) engine.Value {
	in := engine.Object()
	for _, v := range []engine.Value{params, arguments} {
		for i := range v.Len() {
			in = in.With(v.Key(i), v.At(i))
		}
	}
	return in
}

// ReadOutput reads the output of the plugin. It fails with the errors of ReadAnswer.
func (m *Manifest) ReadOutput(raw []byte) (Answer, error) {
	if m.Entry == nil {
		return m.ReadAnswer(string(raw))
	}
	switch m.Entry.Output {
	case FormJSON:
		v, err := parseOutput(string(raw))
		if err != nil {
			return Answer{}, err
		}
		if _, whole := m.Outputs.Property(EntryOutput); whole || v.Kind() != engine.KindObject {
			v = engine.Object(EntryOutput, v)
		}
		return m.accept(engine.Object("outputs", v))
	case FormMCP:
		v, err := parseOutput(string(raw))
		if err != nil {
			return Answer{}, err
		}
		outputs, err := readToolResult(v)
		if err != nil {
			return Answer{}, err
		}
		return m.accept(engine.Object("outputs", outputs))
	case FormBytes:
		raw = base64.StdEncoding.AppendEncode(nil, raw)
	}
	text := engine.String(strings.ToValidUTF8(string(raw), "\uFFFD"))
	return m.accept(engine.Object("outputs", engine.Object(EntryOutput, text)))
}

// checkEntry returns an error if the entry of a manifest is invalid.
func (m *Manifest) checkEntry() *Error {
	e := m.Entry
	if e == nil {
		return nil
	}
	if len(m.Params.Branches()) > 0 {
		return Errorf(BadManifest, "entry: a plugin with branches needs easel_invoke")
	}
	if e.Export == "" || len(e.Export) > 255 || strings.HasPrefix(e.Export, "_") && !m.Command() {
		return Errorf(BadManifest, "entry.export %q: want the name of an exported function", short(e.Export))
	}
	if m.Command() {
		if err := m.checkCommand(); err != nil {
			return err
		}
	}
	switch e.Input {
	case "", FormText, FormJSON, FormBytes:
	case FormMCP, FormMCP1:
		if e.Tool == "" {
			return Errorf(BadManifest, "entry.tool is missing; name the tool that is called")
		}
	default:
		return Errorf(BadManifest, "entry.input %q: want text, json, bytes, mcp or mcp1", short(string(e.Input)))
	}
	switch e.Output {
	case "", FormText, FormJSON, FormBytes, FormMCP:
		return nil
	}
	return Errorf(BadManifest, "entry.output %q: want text, json, bytes or mcp", short(string(e.Output)))
}

// checkCommand returns an error for a program that would keep state, since each call of it gets an
// instance, or that would exchange messages of MCP.
func (m *Manifest) checkCommand() *Error {
	if m.State != "" && m.State != StateNone {
		return Errorf(BadManifest, "state %q: a command has no state between calls", short(string(m.State)))
	}
	for _, form := range []Form{m.Entry.Input, m.Entry.Output} {
		if form == FormMCP || form == FormMCP1 {
			return Errorf(BadManifest, "entry: a command takes and returns text, json or bytes, not %s", form)
		}
	}
	return nil
}

func readEntry(o *object) *Entry {
	return &Entry{
		Export: o.text("export"), Input: Form(o.text("input")), Output: Form(o.text("output")), Tool: o.text("tool"),
	}
}

func (e *Entry) value() engine.Value {
	if e == nil {
		return engine.Null
	}
	w := newWriter()
	w.b.Set("export", engine.String(e.Export))
	w.text("input", string(e.Input))
	w.text("output", string(e.Output))
	w.text("tool", e.Tool)
	return w.b.Value()
}
