package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Canvases finds canvases that other canvases run as nodes and tools.
type Canvases interface {
	// Canvas returns a canvas that this run may use: its published version, or the version that is
	// named. Errors name the missing canvas or version.
	Canvas(ctx context.Context, q CanvasQuery) (SubCanvas, error)
}

// CanvasQuery names a canvas.
type CanvasQuery struct {
	ID      string
	Version string // its id or title; "" is the published one
	// Resumed means that the canvas continues after a form, on the document that was stored with
	// the run; Rights come from the SubCanvas with which it began.
	Resumed bool
	Rights  string
}

// SubCanvas is a canvas that another one runs.
type SubCanvas struct {
	*Canvas
	// Reach has the objects that the canvas may use by name; nil means those of the outer run.
	Reach *Reach
	// Rights name the rights of the canvas for the port. They are stored while it waits
	// for a form.
	Rights string
}

// Reach holds the ports by which a canvas reaches the objects that it names.
type Reach struct {
	Retriever Retriever
	Memory    Memory
	Canvases  Canvases
	// Enter returns the context in which the canvas runs, by which further ports, such as Secrets,
	// know its rights; nil keeps that of the outer run.
	Enter func(context.Context) context.Context
}

// maxCanvasDepth is the deepest nesting of canvases that run inside each other.
const maxCanvasDepth = 8

// SubRun is a canvas that a node runs.
type SubRun struct {
	Canvas SubCanvas
	ID     string // what ports know the canvas by
	Input  Input
}

// SubResult is the result of a canvas that a node ran.
type SubResult struct {
	Said    string // its messages
	Outputs Value  // of its last node
}

// RunCanvas runs a canvas as part of this execution: with the ports, limits and cancel of the run,
// and its events in the log under the path of this node. A form inside is a *Suspension, with which
// the execution must end; when it runs again, the canvas continues at the form, with the same
// document.
func (c *Call) RunCanvas(ctx context.Context, sub SubRun) (SubResult, error) {
	var result SubResult
	depth := 1
	for around := c.run.opt.around; around != nil; around = around.run.opt.around {
		depth++
	}
	if depth > maxCanvasDepth {
		return result, fmt.Errorf("%w: more than %d canvases inside each other", ErrLimit, maxCanvasDepth)
	}
	st, err := c.subState(&sub)
	if err != nil {
		return result, err
	}
	opt := c.subOptions(sub.ID)
	if r := sub.Canvas.Reach; r != nil {
		opt.Ports.Retriever, opt.Ports.Memory, opt.Ports.Canvases = r.Retriever, r.Memory, r.Canvases
		if r.Enter != nil {
			ctx = r.Enter(ctx)
		}
	}
	if c.slot.rest() { // its nodes take slots
		defer c.waitForSlot(ctx, c.slot, time.Time{}) //nolint:errcheck // without one, ctx has ended
	}
	var form Value
	for e, err := range sub.Canvas.Run(ctx, st, sub.Input, opt) {
		if err != nil {
			return result, fmt.Errorf("canvas %q: %w", sub.ID, err)
		}
		switch e.Type {
		case EventMessage:
			if e.Facts != nil {
				result.Said += e.Facts.Message.Text
			}
		case EventUserInputs:
			form = e.Data()
		case EventWorkflowFinished:
			result.Outputs = e.Data().Get("outputs")
		}
		c.logInner(e)
	}
	if !form.IsNull() {
		return result, c.suspendWith(&sub, st, form)
	}
	return result, nil
}

// subState returns a fresh state of the canvas, or that in which it waited, with the answers as
// inputs.
func (c *Call) subState(sub *SubRun) (*State, error) {
	saved, waited := c.Resumed()
	if !waited {
		st := sub.Canvas.State()
		st.Reset(false)
		return st, nil
	}
	canvas, err := LoadValue(sub.Canvas.registry, saved.Get("document"))
	if err != nil {
		return nil, err
	}
	sub.Canvas.Canvas, sub.Input.Query = canvas, Null
	prefix, answers := c.fieldPrefix(), NewObject(4)
	for name, v := range c.run.in.Inputs.Fields() {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			answers.Set(own, v)
		}
	}
	sub.Input.Inputs, sub.Input.Files, sub.Input.Visitor = answers.Value(), Null, c.run.in.Visitor
	return canvas.State(), nil
}

// fieldPrefix begins the names of the fields of this execution's forms, so that two of them differ.
func (c *Call) fieldPrefix() string { return c.root().id + c.scope + "/" }

// suspendWith returns the suspension of an execution whose canvas waits for a form.
func (c *Call) suspendWith(sub *SubRun, st *State, form Value) error {
	document, err := ParseJSON(sub.Canvas.Save(st))
	if err != nil {
		return err
	}
	fields := NewObject(form.Get("inputs").Len())
	for name, field := range form.Get("inputs").Fields() {
		fields.Set(c.fieldPrefix()+name, field)
	}
	state := Object("document", document)
	if sub.Canvas.Rights != "" {
		state = state.With(rightsKey, String(sub.Canvas.Rights))
	}
	return &Suspension{Fields: fields.Value(), Tips: form.Get("tips").Str(), State: state}
}

// rightsKey is the member of a suspension with the rights of the canvas.
const rightsKey = "rights"

// subOptions returns the options of a run inside of this execution.
func (c *Call) subOptions(id string) Options {
	outer := &c.run.opt
	opt := Options{
		Ports: outer.Ports, TaskID: outer.TaskID, CanvasID: id, TenantID: outer.TenantID, Principal: outer.Principal,
		Concurrency: outer.Concurrency, MaxSteps: outer.MaxSteps, Limits: outer.Limits,
		Prices: outer.Prices, assumed: outer.assumed, Approval: outer.Approval,
		Seed: mix(outer.Seed^mix(uint64(c.root().step))) | 1, Internal: true, Exchanges: outer.Exchanges, around: c,
	}
	opt.Ports.IDs = &innerIDs{IDs: outer.Ports.IDs, first: c.Key()}
	return opt
}

// innerIDs derives the message id of a nested run from the execution, so that its outside effects
// have the same keys after a takeover.
type innerIDs struct {
	IDs
	first string
}

// NewID returns the first id, and then the following ones.
func (i *innerIDs) NewID() string {
	if id := i.first; id != "" {
		i.first = ""
		return id
	}
	return i.IDs.NewID()
}

// logInner logs an event of the nested canvas: entries of agents, models and limits unchanged,
// others as an event of this node, with the path of ids to the inner node.
func (c *Call) logInner(e *Event) {
	switch e.Type {
	case EventUsage, EventQueued, EventToolStarted, EventToolFinished, EventLimitReached, EventProgress, EventWarning,
		EventExchange:
		data := e.Data().Without("index_path") // of a body inside, not of this node
		if inner := data.Get("component_id"); !inner.IsNull() {
			path := c.innerPath(data.Get("inner"), inner.Str())
			data = data.With("component_id", String(c.root().id)).With("inner", path)
		}
		if e.Type == EventUsage {
			s := c.run.spending.shared()
			s.mu.Lock()
			data = data.With("run", c.run.spending.run.used.Value())
			s.mu.Unlock()
		}
		c.Log(e.Type, data)
	case EventInner:
		data := e.Data()
		path := c.innerPath(data.Get("inner"), data.Get("component_id").Str())
		c.Log(EventInner, data.With("component_id", String(c.root().id)).With("inner", path))
	default:
		c.Log(EventInner, Object(
			"component_id", c.root().id, "path", c.tracePath(), "inner", c.innerPath(Null, e.Node),
			"event", string(e.Type), "data", e.Data()))
	}
}

// innerPath returns the ids of the nodes on the way to a node inside: those of the canvases
// between, and its own.
func (c *Call) innerPath(further Value, node string) Value {
	list := List()
	if node != "" {
		list = list.Append(String(node))
	}
	for _, id := range further.Elements() {
		list = list.Append(id)
	}
	return list
}

// countInner bounds the executions of all runs inside of a run together.
func (r *run) countInner(n int) error {
	if r.opt.around == nil || r.opt.item != nil {
		return nil
	}
	s := r.spending.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inner += n; s.inner > r.opt.MaxSteps {
		return fmt.Errorf("%w: more than %d executions in canvases inside of the run; "+
			"raise the option MaxSteps (--max-steps) if it is not a cycle", ErrLimit, r.opt.MaxSteps)
	}
	return nil
}

// FindCanvas requests a canvas from the port, for this execution.
func (c *Call) FindCanvas(ctx context.Context, id, version string) (SubCanvas, error) {
	port := c.run.opt.Ports.Canvases
	if port == nil {
		return SubCanvas{}, fmt.Errorf("canvas %q: %w: canvases inside of others need a host", id, ErrNoPort)
	}
	q := CanvasQuery{ID: id, Version: version}
	if saved, waited := c.Resumed(); waited {
		q.Resumed, q.Rights = true, saved.Get(rightsKey).Str()
	}
	x := ask(c.run, &c.execution, "canvas", func() Value { return Object("canvas", id, "version", version) })
	canvas, err := port.Canvas(ctx, q)
	if err != nil {
		x.end(Null, err)
	} else {
		x.end(Object("dsl", canvas.Document()), nil)
	}
	if err == nil && canvas.pipeline {
		err = errors.New("an ingestion pipeline runs on a file, not inside another canvas")
	}
	if err != nil {
		return SubCanvas{}, fmt.Errorf("canvas %q: %w", id, err)
	}
	return canvas, nil
}

// errInputs means that a canvas cannot accept its inputs.
var errInputs = errors.New("inputs do not fit the form of the canvas")

// StartSchema returns the JSON Schema of a canvas's start form.
func (c *Canvas) StartSchema() Value {
	form, err := c.InputForm(StartID)
	if err != nil {
		return Object("type", "object")
	}
	properties, required := NewObject(form.Len()), List()
	for name, field := range form.Fields() {
		p := Object("description", field.Get("name").Text())
		if kind := fieldKind(field.Get("type").Text()); kind != "" {
			p = p.With("type", String(kind))
		}
		if options := field.Get("options"); options.Len() > 0 {
			p = p.With("enum", options)
		}
		properties.Set(name, p)
		if !field.Get("optional").True() && field.Get("value").IsNull() {
			required = required.Append(String(name))
		}
	}
	return Object("type", "object", "properties", properties.Value(), "required", required)
}

// fieldKind returns the type in JSON Schema of a field of a form; "" for one that takes anything.
func fieldKind(field string) string {
	switch strings.ToLower(field) {
	case "line", "paragraph", "options", "select", "string", "text":
		return "string"
	case "integer":
		return "integer"
	case "number":
		return "number"
	case "boolean", "switch":
		return "boolean"
	case "object":
		return "object"
	}
	return ""
}

// CheckStart returns nil if inputs match the canvas's start form.
func CheckStart(c *Canvas, inputs Value) error {
	plain := NewObject(inputs.Len())
	for name := range inputs.Fields() {
		plain.Set(name, answer(inputs, name))
	}
	if err := CheckSchema("inputs", plain.Value(), c.StartSchema()); err != nil {
		return fmt.Errorf("%w: %w", errInputs, err)
	}
	return nil
}
