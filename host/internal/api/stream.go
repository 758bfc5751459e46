package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// face is how one endpoint shows a run as a stream.
type face struct {
	session string // put into every frame when not empty
	// shows says which events are sent; nil sends all that clients know.
	shows func(t engine.EventType) bool
	// alters says which events change is called for; nil means all.
	alters func(t engine.EventType) bool
	// change makes what is sent in place of an event, null drops it; nil leaves all as they are.
	change func(r runlog.Record) engine.Value
	// broke is the frame for a run that failed; nil sends none.
	broke func(end runs.End, like engine.Value) engine.Value
	// closing are the frames after the last event; nil sends none.
	closing func(end runs.End) []engine.Value
	// spaced puts a space after the colon of data:, as OpenAI does.
	spaced bool
	// done ends the stream with [DONE].
	done bool
}

// stream sends a run to the client as it happens. The run continues when
// the client disconnects, unless the host is configured to cancel it then.
func (c *call) stream(j runs.Job, f face) error {
	s := c.beginStream(f.spaced)
	var first []byte       // the first event, whose ids frames of our own repeat
	var said runlog.Record // the last piece of a message
	var end runs.End
	err := c.a.cfg.Runs.Follow(c.ctx(), j.ID, runlog.Pos{}, s.batched(func(r runlog.Record) bool {
		kind := engine.EventType(r.Kind)
		if r.Kind == runs.KindEnd {
			end = runs.EndOf(r)
			if end.Status == store.RunFailed && f.broke != nil {
				if frame := f.broke(end, f.like(j, first)); !frame.IsNull() {
					s.value(frame)
				}
			}
			return true
		}
		if kind == engine.EventMessageReset {
			// The dialects have no event for a text that restarts: a line break parts it from
			// what was said.
			kind, r = engine.EventMessage, lineBreak(r, r.Data)
		}
		switch {
		case kind == engine.EventMessage:
			said = r
		case r.Kind == runs.KindTakeover && said.Seq >= r.Seq:
			// So it is with one that a host lost while it told it.
			kind, r = engine.EventMessage, lineBreak(r, said.Data)
		}
		if !kind.Wire() {
			return true
		}
		if first == nil {
			first = r.Data
		}
		if f.shows != nil && !f.shows(kind) {
			return true
		}
		if f.change == nil || f.alters != nil && !f.alters(kind) {
			s.event(r.Data, f.session)
		} else if e := f.change(r); !e.IsNull() {
			s.value(e)
		}
		return s.err == nil
	}))
	c.leave(j.ID, err, s.err)
	if err != nil || s.err != nil || !f.done {
		return nil
	}
	if f.closing != nil {
		s.more = true // they go out with [DONE]
		for _, v := range f.closing(end) {
			s.value(v)
		}
		s.more = false
	}
	s.text("[DONE]")
	return nil
}

// emptyEvent is an event of a run that has not said anything yet.
func emptyEvent(j runs.Job) engine.Value {
	return engine.Object("event", "", "message_id", j.Message, "created_at", time.Now().Unix(), "task_id", j.ID, "data", engine.Object())
}

// like is an event of a run for frames of our own: the first one, or an empty one before that.
func (f *face) like(j runs.Job, first []byte) engine.Value {
	if first == nil {
		return f.frame(emptyEvent(j))
	}
	return f.frame(document(first))
}

// frame puts the session into an event.
func (f *face) frame(e engine.Value) engine.Value {
	if f.session == "" {
		return e
	}
	return e.With("session_id", engine.String(f.session))
}

// lineBreak is a message of a line break in place of r, with the ids of another event of its run.
func lineBreak(r runlog.Record, like []byte) runlog.Record {
	e := document(like).With("event", engine.String(string(engine.EventMessage)))
	r.Kind, r.Known = string(engine.EventMessage), nil
	r.Data = e.With("data", engine.Object("content", "\n")).AppendJSON(nil)
	return r
}

// leave does what is configured when a client has gone.
func (c *call) leave(run string, follow, write error) {
	if c.ctx().Err() == nil && write == nil {
		if follow != nil && !errors.Is(follow, context.Canceled) {
			c.a.cfg.Logger.Warn("stream broke off", "run", run, "err", follow)
		}
		return
	}
	c.left = true
	if !c.a.cfg.CancelOnLeave {
		return
	}
	if err := c.a.cfg.Runs.Cancel(context.WithoutCancel(c.ctx()), run); err != nil {
		c.a.cfg.Logger.Warn("run was not canceled", "run", run, "err", err)
	}
}

// sse writes the frames of one stream. Each is flushed, but those that are
// there at once go out together.
type sse struct {
	c       *call // whose answer it is; nil when its header has been sent
	w       http.ResponseWriter
	flush   *http.ResponseController
	head    string
	buf     []byte
	started bool // the header has been sent
	more    bool // another frame follows at once
	dirty   bool // something is written and not flushed
	err     error
}

// batched makes a reader of records whose frames go out together.
func (s *sse) batched(fn func(runlog.Record) bool) func(runlog.Record) bool {
	return func(r runlog.Record) bool {
		s.more = r.More
		ok := fn(r)
		s.out()
		return ok
	}
}

func (c *call) beginStream(spaced bool) *sse {
	s := c.newStream(spaced)
	s.start()
	return s
}

// newStream makes a stream whose header goes out with [sse.start] or the first frame.
func (c *call) newStream(spaced bool) *sse {
	s := &sse{c: c, w: c.w, flush: http.NewResponseController(c.w), head: "data:"}
	if spaced {
		s.head = "data: "
	}
	return s
}

// start sends the header of the answer.
func (s *sse) start() {
	s.started = true
	if s.c == nil {
		return
	}
	s.c.free()
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.c.begun = true
}

// event sends an event of the engine, with the session as its last member.
func (s *sse) event(data []byte, session string) {
	s.buf = append(s.buf[:0], s.head...)
	s.buf = appendSpaced(s.buf, data)
	if session != "" {
		s.buf = append(s.buf[:len(s.buf)-1], `, "session_id": `...)
		s.buf = append(engine.AppendQuoted(s.buf, session), '}')
	}
	s.send()
}

// value sends any value.
func (s *sse) value(v engine.Value) {
	s.buf = v.AppendText(append(s.buf[:0], s.head...))
	s.send()
}

func (s *sse) text(t string) {
	s.buf = append(append(s.buf[:0], s.head...), t...)
	s.send()
}

func (s *sse) send() {
	if s.err != nil {
		return
	}
	if !s.started {
		s.start()
	}
	s.buf = append(s.buf, '\n', '\n')
	if _, s.err = s.w.Write(s.buf); s.err == nil {
		s.dirty = true
		s.out()
	}
}

// out flushes, unless more is to come.
func (s *sse) out() {
	if s.dirty && !s.more && s.err == nil {
		s.dirty = false
		s.err = s.flush.Flush()
	}
}

// appendSpaced copies compact JSON with the spaces that Python puts after
// commas and colons.
func appendSpaced(dst, data []byte) []byte {
	inside := false
	for i := 0; i < len(data); i++ {
		b := data[i]
		dst = append(dst, b)
		switch {
		case inside && b == '\\':
			i++
			dst = append(dst, data[i])
		case b == '"':
			inside = !inside
		case !inside && (b == ',' || b == ':'):
			dst = append(dst, ' ')
		}
	}
	return dst
}

// gather follows a run to its end and collects what it said.
func (c *call) gather(run string, each func(t engine.EventType, data []byte)) (*runs.Transcript, runs.End, error) {
	var said runs.Transcript
	end := runs.End{Status: store.RunFailed, Error: "the run broke off"}
	err := c.a.cfg.Runs.Follow(c.ctx(), run, runlog.Pos{}, func(r runlog.Record) bool {
		if r.Kind == runs.KindEnd {
			end = runs.EndOf(r)
			return true
		}
		t := engine.EventType(r.Kind)
		said.Take(r)
		if each != nil && t.Wire() {
			each(t, r.Data)
		}
		return true
	})
	c.leave(run, err, nil)
	return &said, end, err
}
