package main

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// run is one run of a canvas.
type run struct {
	b    *bridge
	id   uint32
	ctx  context.Context // ends when the run is cancelled or over
	stop context.CancelFunc
	out  outbox

	notes   noteOrder
	held    *held
	options engine.Options
	head    head
	known   map[string]engine.Value // variables as last reported
	outputs engine.Value            // outputs of workflow_finished
	usage   engine.Value
}

// head are the members that all events of a run have; the bridge's own events borrow them.
type head struct {
	mu   sync.Mutex
	text []byte // `,"message_id":...,"task_id":...,"created_at":...`
}

// play runs the canvas to its end and returns the payload of done.
func (r *run) play(text string) (ok bool, answer []byte) {
	var err error
	defer func() {
		if err != nil {
			ok, answer = false, failureOf(err)
		}
	}()
	defer rescue(&err)
	s, err := readStart(text)
	if err != nil {
		return
	}
	h, free, err := r.b.borrow(s.canvas)
	if err != nil {
		return
	}
	defer free()
	r.held = h
	r.options = s.options(r)
	if err = s.prepare(h); err != nil {
		return
	}
	if s.debug.Kind() == engine.KindObject {
		ok, answer = true, r.debug(s)
		return
	}
	began, failed := r.consume(s.events(r))
	if failed != nil && !began && codeOf(failed, engine.CodeRunFailed) != engine.CodeCanceled {
		err = failed // the engine could not begin
		return
	}
	return true, r.ended(failed)
}

// consume sends the events of a run. began is false if there were none.
func (r *run) consume(events iter.Seq2[*engine.Event, error]) (began bool, failed error) {
	for e, err := range events {
		if err != nil {
			return began, err
		}
		began = true
		r.take(e)
		breathe()
	}
	return began, nil
}

// take sends one event.
func (r *run) take(e *engine.Event) {
	switch e.Type {
	case engine.EventResult, engine.EventCheckpoint, engine.EventSnapshot:
		return
	}
	r.out.add(func(b []byte) []byte { return appendNumbered(b, e) })
	if e.Note > 0 {
		r.notes.passed(e.Note)
	}
	switch e.Type {
	case engine.EventWorkflowStarted:
		r.head.set(e)
		r.variables()
	case engine.EventNodeFinished, engine.EventUserInputs:
		r.variables()
	case engine.EventWorkflowFinished:
		r.variables()
		data := e.Data()
		r.outputs, r.usage = data.Get("outputs"), data.Get("usage")
	}
}

// ended returns the payload of done.
func (r *run) ended(failed error) []byte {
	b := engine.NewObject(5)
	status := engine.StatusSucceeded
	switch {
	case failed != nil && codeOf(failed, engine.CodeRunFailed) == engine.CodeCanceled:
		status = engine.StatusCanceled
		r.outputs = engine.String(engine.CanceledText)
	case failed != nil:
		status = engine.StatusFailed
	case r.held.state.Paused():
		status = engine.StatusPaused
	}
	b.Set("status", engine.String(string(status)))
	if !r.outputs.IsNull() {
		b.Set("outputs", r.outputs)
	}
	switch status {
	case engine.StatusPaused:
		b.Set("waiting", engine.Strings(r.held.state.Waiting()...))
	case engine.StatusFailed:
		b.Set("error", describe(failed, engine.CodeRunFailed))
	}
	if !r.usage.IsNull() {
		b.Set("usage", r.usage)
	}
	return b.Value().AppendJSON(nil)
}

// debug runs one node alone. The engine emits no events for it, so the bridge emits those that a
// view needs.
func (r *run) debug(s *startMessage) []byte {
	node, values := s.debug.Get("node").Str(), s.debug.Get("params")
	clock := r.options.Ports.Clock
	began := clock.Now()
	r.head.make(r.options.Ports.IDs.NewID(), r.options.TaskID, began)
	r.tell(engine.EventWorkflowStarted, engine.NewObject(1).Set("inputs", engine.Null))
	thoughts := ""
	if _, spec := r.held.canvas.Component(node); spec != nil {
		thoughts = spec.Thoughts
	}
	r.tell(engine.EventNodeStarted, withNode(engine.NewObject(6).Set("inputs", engine.Null).Set("created_at",
		engine.Int(began.Unix())), r.held.canvas, node).
		Set("thoughts", engine.String(thoughts)))
	outs, err := r.held.canvas.Debug(r.ctx, r.held.canvas.State(), node, values, r.options)
	now := clock.Now()
	problem := engine.Null
	if err != nil {
		problem = engine.String(err.Error())
		var failed *engine.NodeError
		if errors.As(err, &failed) {
			problem = engine.String(failed.Err.Error())
		}
	}
	elapsed, at := engine.Float(now.Sub(began).Seconds()), engine.Float(float64(now.UnixMicro())/1e6)
	r.tell(engine.EventNodeFinished, withNode(engine.NewObject(8).Set("inputs", values).Set("outputs", outs),
		r.held.canvas, node).
		Set("error", problem).Set("elapsed_time", elapsed).Set("created_at", at))
	r.tell(engine.EventWorkflowFinished, engine.NewObject(4).Set("inputs", engine.Null).Set("outputs", outs).
		Set("elapsed_time", elapsed).Set("created_at", at))
	r.outputs = outs
	return r.ended(err)
}

// withNode adds the members that name a node.
func withNode(b *engine.ObjectBuilder, c *engine.Canvas, id string) *engine.ObjectBuilder {
	kind, name := "", ""
	if _, spec := c.Component(id); spec != nil {
		kind = spec.Name
	}
	for _, n := range c.Document().Get("graph").Get("nodes").Elements() {
		if n.Get("id").Str() == id {
			name = n.Get("data").Get("name").Str()
		}
	}
	return b.Set("component_id", engine.String(id)).Set("component_name", engine.String(name)).
		Set("component_type", engine.String(kind))
}
