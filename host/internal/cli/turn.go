package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// turn is one run of a session and its observer.
type turn struct {
	session *session
	options engine.Options
	watch   func(e *engine.Event)
	pause   engine.Value // data of user_inputs when the run waits; null otherwise
	stopped bool         // the run was cancelled
}

// run executes the turn and saves the state, also after a failure or cancellation.
func (t *turn) run(ctx context.Context, in engine.Input) error {
	events := t.session.canvas.Run(ctx, t.session.state, in, t.options)
	if t.session.state.Unfinished() {
		events = t.session.canvas.Continue(ctx, t.session.state, t.options)
	}
	t.pause, t.stopped = engine.Null, false
	var failed error
	for e, err := range events {
		if err != nil {
			failed = err
			break
		}
		switch e.Type {
		case engine.EventUserInputs:
			t.pause = e.Data()
		case engine.EventWorkflowFinished:
			t.stopped = e.Data().Get("outputs").Str() == engine.CanceledText
		}
		t.watch(e)
	}
	if failed == nil && t.stopped {
		failed = engine.ErrCanceled
	}
	if saved := t.session.save(); saved != nil {
		return errors.Join(failed, saved)
	}
	if failed != nil && !errors.Is(failed, engine.ErrCanceled) {
		return fmt.Errorf("run: %w", failed)
	}
	return failed
}
