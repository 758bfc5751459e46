package ragflow

import (
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// What the visitors of an embedding page see of a canvas and its runs. Members stay where clients
// expect them, and are empty.

// bareCanvas keeps of a canvas what a page shows around a conversation: title, picture, and the
// greeting and form of its first node.
func bareCanvas(v app.Canvas, doc engine.Value) app.Canvas {
	params := engine.NewObject(4)
	for name, value := range engine.StartParams(doc).Fields() {
		switch name {
		case "mode", "prologue", "enablePrologue", "inputs":
			params.Set(name, value)
		}
	}
	kind := doc.Get("components").Get(engine.StartID).Get("obj").Get("component_name")
	begin := engine.Object("obj", engine.Object("component_name", kind, "params", params.Value()),
		"downstream", engine.List(), "upstream", engine.List())
	return app.Canvas{
		ID: v.ID, Title: v.Title, Avatar: v.Avatar, Category: v.Category,
		CreateTime: v.CreateTime, UpdateTime: v.UpdateTime,
		DSL: engine.Object("components", engine.Object(engine.StartID, begin)).AppendJSON(nil),
	}
}

// bareEvent keeps of an event what was said to the visitor and asked of them. Nodes are named, so
// that a page can show progress, without what went in and came out.
func bareEvent(kind engine.EventType, e engine.Value) engine.Value {
	d := e.Get("data")
	if kind == engine.EventUserInputs {
		return e.With("data", bareForm(d))
	}
	if isSpoken(kind) {
		return e
	}
	keep := []string{"created_at"}
	out := engine.NewObject(9).Set("inputs", engine.Object())
	switch kind {
	case engine.EventNodeStarted:
		keep = append(keep, "component_id", "component_name", "component_type")
		out.Set("thoughts", engine.String(""))
	case engine.EventNodeFinished:
		keep = append(keep, "component_id", "component_name", "component_type", "elapsed_time")
		out.Set("outputs", engine.Object())
		if out.Set("error", engine.Null); d.Get("error").Truthy() {
			out.Set("error", engine.String(bareError))
		}
	case engine.EventWorkflowStarted:
	case engine.EventWorkflowFinished:
		keep = append(keep, "elapsed_time")
		out.Set("outputs", engine.Object())
		if text := d.Get("outputs"); text.Kind() == engine.KindString {
			out.Set("outputs", text) // the run was canceled
		}
	}
	for _, name := range keep {
		if v, ok := d.Lookup(name); ok {
			out.Set(name, v)
		}
	}
	return e.With("data", out.Value())
}

// bareForm returns the fields of a form that a visitor may answer. An approval requires a principal
// of the host, and shows the arguments of a tool.
func bareForm(form engine.Value) engine.Value {
	if form.Get("visitors_approve").True() {
		return form
	}
	closed := map[string]bool{}
	for name, field := range form.Get("inputs").Fields() {
		if !field.Get("approval").IsNull() {
			closed[name], closed[name+engine.ArgumentsSuffix] = true, true
		}
	}
	if len(closed) == 0 {
		return form
	}
	fields := engine.NewObject(4)
	for name, field := range form.Get("inputs").Fields() {
		if !closed[name] {
			fields.Set(name, field)
		}
	}
	return form.With("inputs", fields.Value()).With("tips", engine.String(bareApproval))
}

// bareApproval is shown to a visitor while an approval is pending.
const bareApproval = "Waiting for the approval of the owner."

// bareError replaces errors of nodes and runs.
const bareError = "the agent failed"

// bareEnd keeps of a failed run only its code: an error names addresses and what was sent there.
func bareEnd(end app.End) app.End {
	if end.Error == "" {
		return end
	}
	end.Error = bareError
	if end.Code != "" {
		end.Error += " (" + end.Code + ")"
	}
	return end
}

// failEmbedded answers an error; for an embedded page without the text of one that was not written
// for an answer: it quotes the canvas.
func failEmbedded(r *api.Request, f *api.Failure, err error) {
	var written *api.Failure
	quotes := f.Kind == api.KindBadRequest || f.Kind == api.KindInternal
	if r.Who.Embeds && quotes && !errors.As(err, &written) {
		f.Message = bareError
	}
	envelope.Fail(r, f, err)
}

// bareTrace keeps of a trace which tools ran, and for how long.
func bareTrace(trace engine.Value) engine.Value {
	var out []engine.Value
	for _, node := range trace.Elements() {
		var entries []engine.Value
		for _, e := range node.Get("trace").Elements() {
			entries = append(entries, e.With("arguments", engine.Object()).With("result", engine.String("")))
		}
		out = append(out, node.With("trace", engine.List(entries...)))
	}
	return engine.List(out...)
}
