package component

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// Canvas runs another canvas, as a step or as a tool of an agent.
//
// In: a query and the inputs of the other canvas's form at its start. Out: its answer and the
// outputs of its last node. A form inside of it pauses the run. Each execution starts a new
// session.
type Canvas struct {
	engine.Common
	Canvas  string       `json:"canvas" label:"Canvas" doc:"the canvas to run" shape:"id of the canvas; for a canvas in a file, the name of a file in the same folder" widget:"canvas" check:"nonempty"`
	Version string       `json:"version" label:"Version" doc:"the published version if empty" shape:"id or title of a version, or draft" widget:"select" offer:"=Published|draft=Saved draft"`
	Query   engine.Expr  `json:"query" label:"Message" doc:"what the canvas is asked" default:"{sys.query}"`
	Inputs  engine.Value `json:"inputs" label:"Inputs" doc:"values for the fields of its start" shape:"name -> value or reference" widget:"pairs"`
	inputs  []canvasInput
}

// Needs returns the port it uses.
func (*Canvas) Needs() string { return "Canvases" }

type canvasInput struct {
	name  string
	value engine.Expr
}

var canvasSpec = engine.Spec{
	Name:  "Canvas",
	Title: "Run another canvas", Search: []string{"subflow", "workflow", "call", "子流程"},
	Category: engine.CategoryFlow, Icon: "box",
	Doc: "Runs another canvas as a step, or as a tool of an agent.",
	New: func() engine.Component { return &Canvas{} },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "answer of the canvas"},
		{Name: "outputs", Type: "object", Doc: "outputs of its last node"},
	},
	Waits:    true,
	Thoughts: "Running another canvas.",
	Tool: &engine.ToolSpec{
		Function:    "canvas",
		Description: "Runs another canvas.",
		Args: []engine.Field{
			{Name: "query", Type: "string", Doc: "the message for the canvas", Required: true},
			{Name: "inputs", Type: "object", Doc: "inputs of the canvas by name"},
		},
		Result: "content",
	},
}

// Init compiles the inputs.
func (c *Canvas) Init(s *engine.Setup) error {
	if k := c.Inputs.Kind(); k != engine.KindObject && k != engine.KindNull {
		return s.Fail("inputs", c.Inputs, "is a "+k.String()+"; expected an object of name -> value or reference")
	}
	for name, v := range c.Inputs.Fields() {
		c.inputs = append(c.inputs, canvasInput{name, s.Expr(v)})
	}
	return nil
}

// References returns those of the inputs.
func (c *Canvas) References() []engine.Ref {
	var refs []engine.Ref
	for i := range c.inputs {
		refs = append(refs, c.inputs[i].value.Refs()...)
	}
	return refs
}

// Names returns the canvas.
func (c *Canvas) Names() []engine.Named {
	return []engine.Named{{Kind: engine.NamedCanvas, Name: c.Canvas, Param: "canvas"}}
}

// MaySuspend returns true: the canvas may contain a form.
func (c *Canvas) MaySuspend() bool { return true }

// Run runs the canvas.
func (c *Canvas) Run(ctx context.Context, call *engine.Call) error {
	canvas, err := call.FindCanvas(ctx, c.Canvas, c.Version)
	if err != nil {
		return err
	}
	query, _, err := call.Arg(ctx, "query", &c.Query)
	if err != nil {
		return err
	}
	inputs, err := c.given(ctx, call)
	if err != nil {
		return err
	}
	if _, resumed := call.Resumed(); !resumed {
		if err := engine.CheckStart(canvas.Canvas, inputs); err != nil {
			return fmt.Errorf("canvas %q: %w", c.Canvas, err)
		}
	}
	result, err := call.RunCanvas(ctx, engine.SubRun{
		Canvas: canvas, ID: c.Canvas,
		Input: engine.Input{Query: query, Inputs: inputs, UserID: call.RunInfo().UserID},
	})
	if err != nil {
		return err
	}
	call.Out("content", engine.String(result.Said))
	call.Out("outputs", result.Outputs)
	return nil
}

// given returns the inputs: those of the params, overridden by those of a model.
func (c *Canvas) given(ctx context.Context, call *engine.Call) (engine.Value, error) {
	b := engine.NewObject(len(c.inputs))
	for i := range c.inputs {
		v, err := call.Eval(ctx, &c.inputs[i].value)
		if err != nil {
			return engine.Null, err
		}
		b.Set(c.inputs[i].name, v)
	}
	for name, v := range call.Args().Get("inputs").Fields() {
		b.Set(name, v)
	}
	if !call.IsTool() && b.Len() > 0 {
		call.In("inputs", b.Value())
	}
	return b.Value(), nil
}

// Define describes the tool from the current form of the canvas, without the inputs that the params
// set.
func (c *Canvas) Define(ctx context.Context, call *engine.Call, def engine.ToolDef) engine.ToolDef {
	canvas, err := call.FindCanvas(ctx, c.Canvas, c.Version)
	if err != nil {
		warn(call, "Canvas "+c.Canvas, err)
		return def
	}
	schema := canvas.StartSchema()
	for name, p := range schema.Get("properties").Fields() {
		if _, fixed := c.Inputs.Lookup(name); !fixed {
			at := []string{"properties", "inputs", "properties", name}
			def.Parameters = engine.Put(def.Parameters, at, p)
		}
	}
	if schema.Get("required").Len() > 0 && len(c.inputs) == 0 {
		at := []string{"properties", "inputs", "required"}
		def.Parameters = engine.Put(def.Parameters, at, schema.Get("required"))
		def.Parameters = def.Parameters.With("required", engine.Strings("query", "inputs"))
	}
	return def
}

var (
	_ engine.Component   = (*Canvas)(nil)
	_ engine.Initializer = (*Canvas)(nil)
	_ engine.Referrer    = (*Canvas)(nil)
	_ engine.Suspender   = (*Canvas)(nil)
)
