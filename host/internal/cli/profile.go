package cli

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/profile"
)

// timedEvents are the events of a run that tell its times. A run that continues after a form
// starts over: the time in which a person answers is not part of a profile.
type timedEvents []engine.Value

func (t *timedEvents) add(e *engine.Event) {
	switch e.Type {
	case engine.EventWorkflowStarted:
		*t = nil
	case engine.EventNodeFinished, engine.EventUsage, engine.EventToolFinished, engine.EventQueued,
		engine.EventWorked, engine.EventWorkflowFinished:
		*t = append(*t, e.Value())
	}
}

func (t *timedEvents) profile(canvas *engine.Canvas) *profile.Profile {
	p := profile.Of(*t, profile.GraphOf(canvas))
	return &p
}
