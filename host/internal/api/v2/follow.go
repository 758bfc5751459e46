package v2

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
)

// followed is the source of a stream of events.
type followed interface {
	// Changed returns a channel that is closed when something has changed since the call.
	Changed() <-chan struct{}
}

// followStream sends events of a source.
type followStream struct {
	*api.Stream
	n int // events that were sent
}

// follow answers with a stream of events. send is called at once and after each change, and sends
// what is new; the stream lasts until the client leaves or send fails. about names the source in
// the log. Nothing else runs for a stream that is silent, apart from its heartbeat.
func follow(r *api.Request, about slog.Attr, f followed, send func(s *followStream) error) {
	ctx := r.HTTP.Context()
	s := &followStream{Stream: r.OpenStream(true)}
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	for {
		changed := f.Changed()
		before := s.n
		err := send(s)
		s.Hold(false)
		s.Flush()
		if err != nil && ctx.Err() == nil {
			r.Logger().Warn("event stream ended", about, "err", err)
		}
		if err != nil || s.Err() != nil {
			return // the response has begun
		}
		if s.n > before {
			beat.Reset(heartbeat)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-beat.C:
			s.Comment("still here")
			beat.Reset(heartbeat)
		}
	}
}

// isHead answers HEAD, whose response is without events: the client does not close a connection
// without a body, so nothing would end the stream.
func isHead(r *api.Request) bool {
	if r.HTTP.Method != http.MethodHead {
		return false
	}
	r.OpenStream(true)
	return true
}

func (s *followStream) event(name string, view any) {
	data, err := json.Marshal(view)
	if err != nil {
		return // a view of ours is JSON
	}
	s.encoded(name, data)
}

// encoded sends an event; those of one change go out together.
func (s *followStream) encoded(name string, data []byte) {
	s.n++
	s.Hold(true)
	s.Named(strconv.Itoa(s.n), name, data)
}
