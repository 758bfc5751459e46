package api

import (
	"net/http"

	"github.com/easel-canvas/easel/engine"
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

// Hold keeps the following frames back until others follow, if more says so, or [Stream.Flush].
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
