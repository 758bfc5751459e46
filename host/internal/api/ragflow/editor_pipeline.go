package ragflow

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// isPipeline reports whether a run has the records of an ingestion pipeline.
func isPipeline(records []app.Record) bool {
	for _, r := range records {
		if r.Kind == string(engine.EventNodeStarted) {
			return api.DocumentOf(r.Data).Get("data").Get("component_id").Str() == engine.PipelineID
		}
	}
	return false
}

// pipelineTrace returns the progress of each step of a pipeline, in the form of the original:
// [{component_id, trace: [{progress, message, datetime, timestamp, elapsed_time}]}]. After the run
// the last entry, END, has the outputs of the last node and, in dsl, the canvas with the outputs of
// all nodes.
func (e editor) pipelineTrace(ctx context.Context, r *api.Request, run app.Run, records []app.Record) engine.Value {
	t := &trail{}
	for _, rec := range records {
		d := api.DocumentOf(rec.Data).Get("data")
		switch engine.EventType(rec.Kind) {
		case engine.EventProgress:
			t.group(d.Get("component_id"), progressEntry(d.Get("progress"), d.Get("message").Text(),
				d.Get("timestamp"), 0))
		case engine.EventNodeFinished:
			elapsed, _ := d.Get("elapsed_time").Float()
			if text := d.Get("error").Text(); text != "" {
				t.group(d.Get("component_id"), progressEntry(engine.Int(-1), "[ERROR]"+text, d.Get("created_at"),
					elapsed))
				continue
			}
			t.group(d.Get("component_id"), progressEntry(engine.Int(1), "Done", d.Get("created_at"), elapsed))
		case engine.EventWorkflowFinished:
			if run.Status == string(engine.StatusRunning) {
				continue // its state is not stored in the canvas yet
			}
			end := progressEntry(engine.Int(1), d.Get("outputs").JSON(), d.Get("created_at"), 0)
			// A deleted canvas has no document.
			if v, err := e.Services.Canvases.Get(ctx, r.Who, run.Canvas); err == nil {
				end = end.With("dsl", api.DocumentOf(v.DSL))
			}
			t.group(engine.String("END"), end)
		}
	}
	return t.value()
}

func progressEntry(share engine.Value, message string, at engine.Value, elapsed float64) engine.Value {
	seconds, _ := at.Float() // events always have a time
	when := time.UnixMilli(int64(seconds * 1000)).UTC()
	return engine.Object("progress", share, "message", message, "datetime", when.Format("15:04:05"),
		"timestamp", seconds, "elapsed_time", elapsed)
}
