package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Stream writes the frames of server-sent events. Each is flushed, but those that are there at once
// go out together.
type Stream struct {
	r       *Request // whose header goes out with the first frame; nil when it has been sent
	w       http.ResponseWriter
	flush   *http.ResponseController
	head    string
	buf     []byte
	started bool // the header has been sent
	more    bool // another frame follows at once
	dirty   bool // something is written and not flushed
	err     error
}

// OpenStream begins a stream at once.
func (r *Request) OpenStream(spaced bool) *Stream {
	s := r.NewStream(spaced)
	s.Start()
	return s
}

// NewStream makes a stream whose header goes out with [Stream.Start] or the first frame. spaced
// puts a space after the colon of data:, as OpenAI does.
func (r *Request) NewStream(spaced bool) *Stream {
	s := &Stream{r: r, w: r.Writer, flush: http.NewResponseController(r.Writer), head: "data:"}
	if spaced {
		s.head = "data: "
	}
	return s
}

// ContinueStream makes a stream of an answer whose header has been sent.
func ContinueStream(w http.ResponseWriter) *Stream {
	return &Stream{w: w, flush: http.NewResponseController(w), head: "data: ", started: true}
}

// Start sends the header of the answer.
func (s *Stream) Start() {
	s.started = true
	s.r.Free()
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.r.begun = true
}

// Started reports whether the header has been sent.
func (s *Stream) Started() bool { return s.started }

// Err is why a frame could not be sent.
func (s *Stream) Err() error { return s.err }

// Hold buffers the following frames while more is true, until [Stream.Flush].
func (s *Stream) Hold(more bool) { s.more = more }

// Event sends an event of the engine, with the session as its last member.
func (s *Stream) Event(data []byte, session string) {
	s.buf = append(s.buf[:0], s.head...)
	s.buf = appendSpaced(s.buf, data)
	if session != "" {
		s.buf = append(s.buf[:len(s.buf)-1], `, "session_id": `...)
		s.buf = append(engine.AppendQuoted(s.buf, session), '}')
	}
	s.send()
}

// Value sends a value.
func (s *Stream) Value(v engine.Value) {
	s.buf = v.AppendText(append(s.buf[:0], s.head...))
	s.send()
}

// Text sends a text without line breaks.
func (s *Stream) Text(t string) {
	s.buf = append(append(s.buf[:0], s.head...), t...)
	s.send()
}

// Named sends an event with an id and a name.
func (s *Stream) Named(id, name string, data []byte) {
	s.buf = append(append(s.buf[:0], "id: "...), id...)
	s.buf = append(append(s.buf, "\nevent: "...), name...)
	s.buf = append(append(s.buf, "\ndata: "...), data...)
	s.send()
}

// Comment sends a line that clients ignore.
func (s *Stream) Comment(text string) {
	s.buf = append(append(s.buf[:0], ": "...), text...)
	s.send()
}

func (s *Stream) send() {
	if s.err != nil {
		return
	}
	if !s.started {
		s.Start()
	}
	s.buf = append(s.buf, '\n', '\n')
	if _, s.err = s.w.Write(s.buf); s.err == nil {
		s.dirty = true
		s.Flush()
	}
}

// Flush sends what is written, unless more is to come.
func (s *Stream) Flush() {
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

// Frames formats the stream of a run for one endpoint.
type Frames struct {
	Session string // put into every frame when not empty
	// Shows selects the events that are sent; nil sends all that clients know.
	Shows func(t engine.EventType) bool
	// Alters selects the events that Change is called for; nil means all.
	Alters func(t engine.EventType) bool
	// Change rewrites an event; a null result drops it. A nil Change passes events through.
	Change func(r app.Record) engine.Value
	// Broke is the frame for a run that failed; nil sends none.
	Broke func(end app.End, like engine.Value) engine.Value
	// Closing are the frames after the last event; nil sends none.
	Closing func(end app.End) []engine.Value
	// Spaced puts a space after the colon of data:, as OpenAI does.
	Spaced bool
	// Done ends the stream with [DONE].
	Done bool
}

// frameWriter writes the records of a run as frames.
type frameWriter struct {
	Frames
	s     *Stream
	job   app.Job
	first []byte     // the first event, whose ids frames of our own repeat
	said  app.Record // the last piece of a message
	end   app.End
}

// StreamRun answers with a run as it happens. The run continues when the client disconnects, unless
// the host is configured to cancel it then.
func StreamRun(j app.Job, f Frames) Response {
	return ResponseFunc(func(r *Request) error {
		w := &frameWriter{Frames: f, s: r.OpenStream(f.Spaced), job: j}
		err := r.Runs().Follow(r.HTTP.Context(), j.ID, app.Pos{}, func(rec app.Record) bool {
			w.s.Hold(rec.More)
			defer w.s.Flush()
			return w.take(rec)
		})
		r.Leave(j.ID, err, w.s.err)
		if err == nil && w.s.err == nil && f.Done {
			w.close()
		}
		return nil
	})
}

// take writes a record; false ends the stream.
func (w *frameWriter) take(r app.Record) bool {
	kind := engine.EventType(r.Kind)
	if r.Kind == app.KindEnd {
		w.ended(app.EndOf(r))
		return true
	}
	if kind == engine.EventMessageReset {
		// The dialects have no event for a text that restarts: a line break separates it from what
		// was sent.
		kind, r = engine.EventMessage, lineBreak(r, r.Data)
	}
	switch {
	case kind == engine.EventMessage:
		w.said = r
	case r.Kind == app.KindTakeover && w.said.Seq >= r.Seq:
		// The same for a text that a host lost while it sent it.
		kind, r = engine.EventMessage, lineBreak(r, w.said.Data)
	}
	if !kind.Wire() {
		return true
	}
	if w.first == nil {
		w.first = r.Data
	}
	if w.Shows != nil && !w.Shows(kind) {
		return true
	}
	if w.Change == nil || w.Alters != nil && !w.Alters(kind) {
		w.s.Event(r.Data, w.Session)
	} else if e := w.Change(r); !e.IsNull() {
		w.s.Value(e)
	}
	return w.s.err == nil
}

func (w *frameWriter) ended(end app.End) {
	w.end = end
	if end.Status != app.RunFailed || w.Broke == nil {
		return
	}
	if frame := w.Broke(end, w.like()); !frame.IsNull() {
		w.s.Value(frame)
	}
}

// like is an event of the run for frames of our own: the first one, or an empty one before that.
func (w *frameWriter) like() engine.Value {
	if w.first == nil {
		return w.Frame(emptyEvent(w.job))
	}
	return w.Frame(DocumentOf(w.first))
}

// close sends the frames after the last event, and [DONE] with them.
func (w *frameWriter) close() {
	if w.Closing != nil {
		w.s.more = true
		for _, v := range w.Closing(w.end) {
			w.s.Value(v)
		}
		w.s.more = false
	}
	w.s.Text("[DONE]")
}

// emptyEvent is an event of a run that has not sent anything yet.
func emptyEvent(j app.Job) engine.Value {
	return engine.Object("event", "", "message_id", j.Message, "created_at", time.Now().Unix(),
		"task_id", j.ID, "data", engine.Object())
}

// Frame puts the session into an event.
func (f *Frames) Frame(e engine.Value) engine.Value {
	if f.Session == "" {
		return e
	}
	return e.With("session_id", engine.String(f.Session))
}

// lineBreak returns a message of a line break instead of r, with the ids of another event of its
// run.
func lineBreak(r app.Record, like []byte) app.Record {
	e := DocumentOf(like).With("event", engine.String(string(engine.EventMessage)))
	r.Kind, r.Known = string(engine.EventMessage), nil
	r.Data = e.With("data", engine.Object("content", "\n")).AppendJSON(nil)
	return r
}

// Runs returns the runs of the host.
func (r *Request) Runs() *app.Runs { return r.api.cfg.Services.Runs }

// Leave handles a client that has disconnected, as configured: follow is the error of reading the
// run, write that of sending it.
func (r *Request) Leave(run string, follow, write error) {
	if r.HTTP.Context().Err() == nil && write == nil {
		if follow != nil && !errors.Is(follow, context.Canceled) {
			r.api.cfg.Logger.Warn("stream broke off", "run", run, "err", follow)
		}
		return
	}
	r.left = true
	if !r.api.cfg.CancelOnLeave {
		return
	}
	if err := r.Runs().Cancel(context.WithoutCancel(r.HTTP.Context()), run); err != nil {
		r.api.cfg.Logger.Warn("run was not canceled", "run", run, "err", err)
	}
}

// Gather follows a run to its end and collects what it said; each, unless nil, is called with the
// events that clients know.
func (r *Request) Gather(
	ctx context.Context, run string, each func(t engine.EventType, data []byte),
) (*app.Transcript, app.End, error) {
	var said app.Transcript
	end := app.End{Status: app.RunFailed, Error: "the run broke off"}
	err := r.Runs().Follow(ctx, run, app.Pos{}, func(rec app.Record) bool {
		if rec.Kind == app.KindEnd {
			end = app.EndOf(rec)
			return true
		}
		t := engine.EventType(rec.Kind)
		said.Take(rec)
		if each != nil && t.Wire() {
			each(t, rec.Data)
		}
		return true
	})
	r.Leave(run, err, nil)
	return &said, end, err
}
