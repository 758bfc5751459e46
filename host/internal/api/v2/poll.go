package v2

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
)

// pollEvery is how often a polled stream looks for changes, which another host may have made.
const pollEvery = time.Second

// polledStream sends events about what has changed since the last look.
type polledStream struct {
	*api.Stream
	n int // events that were sent
}

// poll answers with a stream of events. look is called every [pollEvery] and sends what has changed
// since; the stream lasts until the client leaves or look fails. about is what the log says about
// the stream. The answer to HEAD has no events.
func poll(r *api.Request, about slog.Attr, look func(ctx context.Context, s *polledStream) error) error {
	ctx := r.HTTP.Context()
	s := &polledStream{Stream: r.OpenStream(true)}
	if r.HTTP.Method == http.MethodHead {
		return nil // the client does not close a connection without a body, so nothing would end this
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for sent := time.Now(); ; {
		before := s.n
		if err := look(ctx, s); err != nil {
			if ctx.Err() == nil {
				r.Logger().Warn("event stream failed", about, "err", err)
			}
			return nil // the response has begun
		}
		if s.n > before {
			sent = time.Now()
		} else if time.Since(sent) >= heartbeat {
			s.Comment("still here")
			sent = time.Now()
		}
		if s.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *polledStream) event(name string, view any) {
	data, err := json.Marshal(view)
	if err != nil {
		return // a view of ours is JSON
	}
	s.n++
	s.Named(strconv.Itoa(s.n), name, data)
}
