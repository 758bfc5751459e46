package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ending is the reason why a run has stopped.
type ending struct {
	gone   bool  // the consumer left
	failed error // an unhandled error
}

// failWith ends the run with err, unless there is an earlier error.
func (e *ending) failWith(err error) {
	if e.failed == nil {
		e.failed = err
	}
}

// mostKept is the largest buffer for events that a canvas keeps for its next run.
const mostKept = 1 << 20

// close releases the resources of the run.
func (r *run) close() {
	r.halt()
	r.memory.close()
	if r.st.progress == &r.progress { // the consumer left at a checkpoint
		r.st.progress = r.progress.clone()
	}
	if cap(r.enc.buf) > mostKept {
		r.enc.buf = nil
	}
	for i := range r.c.nodes {
		for _, kept := range r.c.nodes[i].resets {
			reset(kept, r.messageID)
		}
	}
	if r.shared {
		return
	}
	c, s := r.c, r.scratch
	if r.streams == nil && r.timer == nil && r.port == nil { // nothing refers to it any more
		*r = run{}
		s.run = r
	}
	c.scratch.Put(s)
}

// reset notifies a component of the end of a run. Its errors have no run to be shown in.
func reset(kept Resetter, runID string) {
	var err error
	defer recovered(&err)
	kept.Reset(runID)
}

// finish ends a successful run.
func (r *run) finish() {
	if !r.drainAll() {
		r.stop()
		return
	}
	r.flushNotes()
	st := r.st
	outs := emptyObject
	if n := len(st.path); n > 0 {
		outs = st.outputsOf(st.path[n-1])
	}
	turn := Turn{Role: "assistant", Content: outs}
	// The answer is stored twice: as all outputs, and as a line of sys.history.
	if err := r.admit(2 * outs.Size()); err != nil {
		r.failWith(err)
	}
	if r.failed != nil || !r.room(outs.Size()+r.inputs.Size()) {
		r.endFailed()
		return
	}
	st.say(turn)
	r.remember("assistant", turn.Text())
	st.progress = nil
	r.emitWorkflowFinished(outs)
	r.lastSnapshot()
}

// stop ends a run that was cancelled or has failed.
func (r *run) stop() {
	switch {
	case r.canceled():
		r.finishCanceled()
	case r.failed != nil:
		r.endFailed()
	}
}

// finishCanceled ends a run that was canceled, by a person or by its time limit.
func (r *run) finishCanceled() {
	if r.late.Load() {
		over := &LimitError{Kind: ErrTooSlow, Size: r.opt.Limits.Seconds, Limit: r.opt.Limits.Seconds}
		r.note(EventLimitReached, nil, Object("code", CodeOf(over), "message", over.Error()))
		r.failWith(over)
		r.endFailed()
		return
	}
	r.flushNotes()
	r.dropStreams(ErrCanceled)
	r.forget()
	r.emitWorkflowFinished(String(CanceledText))
	r.lastSnapshot()
	r.fail(ErrCanceled)
}

// endFailed ends a run with an unhandled error: no further event.
func (r *run) endFailed() {
	r.flushNotes()
	r.dropStreams(nil)
	r.forget()
	r.lastSnapshot()
	r.fail(r.failed)
}

// forget drops the position of the run. A session that still waits for a form keeps it: the form
// can be answered later.
func (r *run) forget() {
	if !r.st.Paused() {
		r.st.progress = nil
	}
}

// fail yields the error that ends the iteration.
func (r *run) fail(err error) {
	if !r.gone {
		r.gone = true
		r.yield(nil, err)
	}
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		if e, ok := p.(error); ok {
			*err = fmt.Errorf("panic: %w", e)
			return
		}
		*err = fmt.Errorf("panic: %v", p)
	}
}

// errorText returns the text of an error in events and outputs.
func errorText(err error) string {
	if errors.Is(err, ErrCanceled) || errors.Is(err, context.Canceled) {
		return CanceledText
	}
	return strings.ToValidUTF8(err.Error(), "\uFFFD")
}
