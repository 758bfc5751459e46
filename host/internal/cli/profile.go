package cli

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/profile"
)

// timedEvents are the events from which a profile is computed. A run that continues after a form
// starts over: the time a user takes to answer is not part of a profile.
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
