package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// run is a run on this host with its open spans.
type run struct {
	ctx   context.Context
	span  trace.Span
	nodes map[string]open // by execution
	used  time.Time
}

// open is a span with the context for those below it.
type open struct {
	ctx    context.Context
	span   trace.Span
	queued float64 // seconds in queues
}

// idle is the time without events after which a run counts as moved to another host.
const idle = time.Hour

// Parent implements runs.Config.Parent.
func (t *Tracer) Parent(ctx context.Context) string {
	if t == nil {
		return ""
	}
	return parentOf(ctx)
}

// Watch implements runs.Config.Watch. Repeated entries were spans of the previous host.
func (t *Tracer) Watch(j *runs.Job, e runlog.Record, again bool) {
	if t == nil || again {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[j.ID]
	if r == nil {
		r = t.begin(j)
	}
	r.used = time.Now()
	switch kind := engine.EventType(e.Kind); kind {
	case engine.EventNodeStarted, engine.EventNodeFinished, engine.EventToolFinished, engine.EventQueued:
		t.step(r, kind, e)
	case runs.KindTakeover:
		r.span.SetAttributes(attribute.Bool("easel.run.taken_over", true))
	}
}

// begin opens the span of a run; mu is held.
func (t *Tracer) begin(j *runs.Job) *run {
	for id, r := range t.runs {
		if time.Since(r.used) > idle {
			r.close(codes.Unset)
			delete(t.runs, id)
		}
	}
	ctx, span := t.tracer.Start(under(context.Background(), j.Parent), "run", trace.WithAttributes(
		attribute.String("easel.run.id", j.ID), attribute.String("easel.canvas.id", j.Canvas),
		attribute.String("easel.tenant.id", j.Tenant), attribute.String("easel.run.source", j.Source)))
	r := &run{ctx: ctx, span: span, nodes: map[string]open{}}
	t.runs[j.ID] = r
	return r
}

// step opens or ends the span of a node, or creates that of a tool call; mu is held.
func (t *Tracer) step(r *run, kind engine.EventType, e runlog.Record) {
	f, execution := runs.Facts(e), runs.Execution(e)
	switch kind {
	case engine.EventNodeStarted:
		ctx, span := t.tracer.Start(r.ctx, "node "+f.Component, trace.WithAttributes(
			attribute.String("easel.node.id", f.Node), attribute.String("easel.component", f.Component)))
		r.nodes[execution] = open{ctx: ctx, span: span}
	case engine.EventNodeFinished:
		r.end(execution, f.Failed)
	case engine.EventQueued:
		if n, ok := r.nodes[execution]; ok {
			seconds, _ := f.Data.Get("elapsed_time").Float()
			n.queued += seconds
			n.span.SetAttributes(attribute.Float64("easel.queue.seconds", n.queued))
			r.nodes[execution] = n
		}
	case engine.EventToolFinished:
		ctx := r.ctx
		if n, ok := r.nodes[execution]; ok {
			ctx = n.ctx
		}
		// The event comes at the end, and has the duration of the call.
		seconds, _ := f.Data.Get("elapsed_time").Float()
		ended := time.Now()
		began := ended.Add(-time.Duration(seconds * float64(time.Second)))
		_, span := t.tracer.Start(ctx, "tool", trace.WithTimestamp(began),
			trace.WithAttributes(attribute.String("easel.tool.name", f.Data.Get("tool_name").Str())))
		if f.Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End(trace.WithTimestamp(ended))
	}
}

// end ends the span of a node, unless the node began on another host.
func (r *run) end(execution string, failed bool) {
	o, ok := r.nodes[execution]
	if !ok {
		return
	}
	delete(r.nodes, execution)
	if failed {
		o.span.SetStatus(codes.Error, "")
	}
	o.span.End()
}

// End ends the span of a run.
func (t *Tracer) End(j *runs.Job, e runs.End) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[j.ID]
	if r == nil {
		return
	}
	delete(t.runs, j.ID)
	status := codes.Unset
	if e.Status == store.RunFailed {
		status = codes.Error
	}
	r.span.SetAttributes(attribute.String("easel.run.status", e.Status))
	if e.Code != "" {
		r.span.SetAttributes(attribute.String("error.type", e.Code))
	}
	r.close(status)
}

// close ends the run's span and the open spans below it.
func (r *run) close(status codes.Code) {
	for execution := range r.nodes {
		r.end(execution, false)
	}
	r.span.SetStatus(status, "")
	r.span.End()
}
