package component

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// Canvas runs another canvas, as a step or as a tool of an agent.
//
// In: a query and the inputs that the other canvas asks for at its start. Out: what it said and the
// outputs of its last node. A form inside of it pauses the run. Each execution begins a new
// conversation.
type Canvas struct {
	engine.Common
	Canvas  string       `json:"canvas" doc:"id of the canvas; for a canvas in a file, the name of a file beside it" check:"nonempty"`
	Version string       `json:"version" doc:"id or title of the version that runs; empty is the published one, draft what is saved"`
	Query   engine.Expr  `json:"query" doc:"what the canvas is asked" default:"{sys.query}"`
	Inputs  engine.Value `json:"inputs" doc:"inputs of the canvas: name -> value or reference" label:"Inputs"`
	inputs  []canvasInput
}

// Needs names the port it acts through.
func (*Canvas) Needs() string { return "Canvases" }

type canvasInput struct {
	name  string
	value engine.Expr
}

var canvasSpec = engine.Spec{
	Name:     "Canvas",
	Category: engine.CategoryFlow, Icon: "box",
	Doc: "Runs another canvas as a step, or as a tool of an agent.",
	New: func() engine.Component { return &Canvas{} },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "what the canvas said"},
		{Name: "outputs", Type: "object", Doc: "outputs of its last node"},
	},
	Waits:    true,
	Thoughts: "Running another canvas.",
	Tool: &engine.ToolSpec{
		Function:    "canvas",
		Description: "Runs another canvas.",
		Args: []engine.Field{
			{Name: "query", Type: "string", Doc: "what the canvas is asked", Required: true},
			{Name: "inputs", Type: "object", Doc: "inputs of the canvas by name"},
		},
		Result: "content",
	},
}

// Init compiles the inputs.
func (c *Canvas) Init(s *engine.Setup) error {
	if k := c.Inputs.Kind(); k != engine.KindObject && k != engine.KindNull {
		return s.Fail("inputs", c.Inputs, "is a "+k.String()+"; an object of name -> value or reference is needed")
	}
	for name, v := range c.Inputs.Fields() {
		c.inputs = append(c.inputs, canvasInput{name, engine.ParseExpr(v)})
	}
	return nil
}

// References are those of the inputs.
func (c *Canvas) References() []engine.Ref {
	var refs []engine.Ref
	for i := range c.inputs {
		refs = append(refs, c.inputs[i].value.Refs()...)
	}
	return refs
}

// MaySuspend is true: there may be a form in the canvas.
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
		if err := engine.CheckStart(canvas, inputs); err != nil {
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

// given are the inputs: those of the params, and those that a model gave over them.
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

// Define describes the tool as the canvas is now: with what it asks for at its start. Inputs that
// the params give are not asked of the model.
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
