package enginetest

import (
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// Cut reports whether a run stops after an entry of its log.
type Cut func(e *engine.Event) bool

// AtCheckpoints cuts after each batch.
func AtCheckpoints(e *engine.Event) bool { return e.Type == engine.EventCheckpoint }

// AfterEntry cuts once, after entry n of a case, counted from 1 over all its runs. The Cut is used
// up by one play.
func AfterEntry(n int) Cut {
	return func(*engine.Event) bool {
		n--
		return n == 0
	}
}

// rebuild makes new engine objects from the log, as another process would do at a takeover. The
// state is saved to a document and loaded again, so that both forms are tested. again is true when
// the log is too short and the run must start over.
func (t *turn) rebuild() (again bool, err error) {
	where := func(err error) error {
		return fmt.Errorf("cut after entry %d: %w", t.entries[len(t.entries)-1].Seq, err)
	}
	t.err = nil
	if t.canvas, err = engine.Load(t.reg, t.stored); err != nil {
		return false, where(err)
	}
	last := lastConsistent(t.entries)
	t.world.repeated(func(r *repetitions, n int) { r.cut(n, last < 0) })
	if last < 0 {
		t.entries = nil
		t.options.Ports.IDs = t.world.freshIDs()
		if t.state, err = t.startState(); err != nil {
			return false, where(err)
		}
		t.reset()
		return true, nil
	}
	log := t.entries
	if !t.run.Start.IsNull() { // a continued run has its first state in the log before
		data := engine.Object("data", t.run.Start)
		log = append([]*engine.Event{{Type: engine.EventSnapshot, JSON: data.AppendJSON(nil)}}, log...)
	}
	state, err := t.canvas.StateAt(log, 0)
	if err != nil {
		return false, where(err)
	}
	if t.state, err = t.canvas.Restore(t.canvas.Save(state)); err != nil {
		return false, where(err)
	}
	t.entries = t.entries[:last+1]
	return false, nil
}

// lastError returns the error with which a finished run ended, from its log.
func lastError(entries []*engine.Event) error {
	for i := len(entries) - 1; i >= 0; i-- {
		switch e := entries[i]; {
		case e.Type == engine.EventSnapshot && e.Data().Get("failed").Truthy():
			return errors.New(e.Data().Get("failed").Text())
		case e.Type == engine.EventWorkflowFinished && e.Data().Get("outputs").Str() == engine.CanceledText:
			return engine.ErrCanceled
		case e.Type.Wire():
			return nil
		}
	}
	return nil
}

// lastConsistent returns the index of the last entry a state can be rebuilt at, or -1.
func lastConsistent(entries []*engine.Event) int {
	for i := len(entries) - 1; i >= 0; i-- {
		if consistent(entries[i]) {
			return i
		}
	}
	return -1
}

// consistent reports whether a state can be rebuilt at an entry.
func consistent(e *engine.Event) bool {
	return e.Type == engine.EventCheckpoint || e.Type == engine.EventSnapshot
}
