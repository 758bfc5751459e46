package v2

import (
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// spoken are the events that are about a run as a whole: what was asked and answered, and what it
// used.
var spoken = []engine.EventType{
	engine.EventWorkflowStarted, engine.EventWorkflowFinished, engine.EventMessage, engine.EventMessageEnd,
	engine.EventMessageReset, engine.EventUserInputs, engine.EventUsage, engine.EventLimitReached,
	app.KindEnd, app.KindTakeover,
}

// outerMembers are the members of the data of other events that show neither the input nor the
// output of a node or a tool: the position in the canvas, times and errors.
var outerMembers = []string{
	"component_id", "component_name", "component_type", "path", "inner", "event", "tool_name", "queue", "name",
	"code", "error", "progress", "elapsed_time", "created_at", "timestamp",
}

// withoutTrace returns an event for a client that may not read traces.
func withoutTrace(kind engine.EventType, data []byte) []byte {
	if slices.Contains(spoken, kind) {
		return data
	}
	event := api.DocumentOf(data)
	event = event.With("data", outerData(kind, event.Get("data")))
	return event.AppendJSON(nil)
}

func outerData(kind engine.EventType, data engine.Value) engine.Value {
	out := engine.NewObject(len(outerMembers))
	for name, v := range data.Fields() {
		if slices.Contains(outerMembers, name) {
			out.Set(name, v)
		}
	}
	switch kind {
	case engine.EventNodeStarted:
		out.Set("inputs", engine.Object())
	case engine.EventNodeFinished:
		out.Set("inputs", engine.Object()).Set("outputs", engine.Object())
	case engine.EventInner:
		inner := engine.EventType(data.Get("event").Text())
		out.Set("data", outerData(inner, data.Get("data"))) // messages are outputs of the node
	}
	return out.Value()
}
