package v2

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// resumeAt is a place in a run's events that a client has seen.
//
// Its text is the id of an event: "12-3456" for one that is stored, and "12~1" for one that was
// seen before it was stored, on the first host that worked on the run. If that host died with it,
// the number 12 may be another event on the next one; the client then gets everything from the
// takeover on. Stored ones of later hosts are "12-3456~2", because a server of the log that loses
// its power may forget what it has stored.
type resumeAt struct {
	pos     app.Pos
	attempt uint64 // of the host that wrote it, 0 when that is not known
}

func parseResume(text string) (resumeAt, error) {
	place, attempt, named := strings.Cut(text, "~")
	var at resumeAt
	var err error
	if at.pos, err = app.ParsePos(place); err != nil {
		return at, err
	}
	switch {
	case named:
		if at.attempt, err = strconv.ParseUint(attempt, 10, 64); err == nil && at.attempt == 0 {
			err = strconv.ErrRange
		}
	case at.pos.At > 0:
		at.attempt = 1
	}
	return at, err
}

type readEvents struct {
	Request     *api.Request
	Who         app.Principal
	ID          string `path:"id"`
	LastEventID string `query:"lastEventId" jsonschema:"as the header Last-Event-ID, for clients that cannot set it"`
	After       string `query:"after" jsonschema:"id of the last event that the client has"`
	Header      string `header:"Last-Event-ID" jsonschema:"id of the last event that the client has"`
}

// last is the id of the last event that the client has: a header of browsers that reconnect, or a
// query parameter of those that cannot set headers.
func (in readEvents) last() string {
	for _, text := range []string{in.Header, in.LastEventID, in.After} {
		if text != "" {
			return text
		}
	}
	return ""
}

func (s runs) events(ctx context.Context, in readEvents) (eventStream, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err != nil {
		return eventStream{}, err
	}
	at, err := parseResume(in.last())
	if err != nil {
		message := fmt.Sprintf("invalid event id %.40q: use the id of an event of this run", in.last())
		return eventStream{}, &api.Status{HTTP: http.StatusBadRequest, Code: app.CodeBadArgument, Message: message}
	}
	ended := v.Status != app.RunActive
	if ended {
		stored, err := s.Runs.Stored(ctx, v)
		if err != nil {
			return eventStream{}, err
		}
		if !stored {
			kept, err := s.Runs.Kept(ctx, v)
			out := eventStream{run: v.ID, at: at, ended: true, kept: kept, bare: !in.Who.May(app.ScopeReadTraces)}
			return out, s.notKept(ctx, v, err)
		}
	}
	api.Follow(in.Request, func(ctx context.Context, who app.Principal) error {
		_, err := s.Runs.Get(ctx, who, v.ID)
		return err
	})
	out := eventStream{run: v.ID, at: at, ended: ended, bare: !in.Who.May(app.ScopeReadTraces)}
	if !ended && !in.Who.Starts(v) {
		// The run may read documents yet that are not for this reader.
		out.may = func(ctx context.Context) error {
			_, err := s.Runs.Get(ctx, in.Who, v.ID)
			return err
		}
	}
	return out, nil
}

// eventReader writes the records of a run as events, each once.
type eventReader struct {
	s       *api.Stream
	mu      sync.Mutex // the heartbeat writes as well
	attempt uint64     // whose records come
	seen    resumeAt   // what the client has
	end     *app.Record
	over    bool // nothing may be written any more
	bare    bool // the client may not read traces
}

// heartbeat is the interval of comments on a silent stream, so that proxies keep it and a client
// that is gone is noticed.
const heartbeat = 15 * time.Second

// eventStream answers with the events of a run. The answer is 204 when the run has ended and the
// client has all of them: an EventSource stops reconnecting then.
type eventStream struct {
	run   string
	at    resumeAt
	ended bool
	kept  []app.Record // of a run that is not in the log any more; nil for others
	bare  bool         // without what happened inside nodes; never in the response that starts a run
	// may refuses the reader before each event; nil for who started the run.
	may func(ctx context.Context) error
}

func (a eventStream) Write(r *api.Request) error {
	ctx := r.HTTP.Context()
	e := &eventReader{attempt: 1, seen: a.at, bare: a.bare}
	follow := r.Runs().Follow
	if a.kept != nil {
		follow = e.readKept(a.kept)
	}
	from, err := e.place(ctx, r.Runs(), a)
	if err != nil {
		return err
	}
	if e.s = r.NewStream(true); !a.ended {
		e.s.Start() // the first event may take long
	}
	if e.s.Started() && r.HTTP.Method == http.MethodHead {
		return nil // without its events
	}
	stop := make(chan struct{})
	defer close(stop)
	go e.beat(stop)
	var refused error
	err = follow(ctx, a.run, from, func(rec app.Record) bool {
		if a.may != nil {
			if refused = a.may(ctx); refused != nil {
				return false
			}
		}
		return e.take(rec)
	})
	err = errors.Join(err, refused)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	if err == nil && e.end != nil {
		e.s.Hold(true) // it goes out with the end of the answer
		e.write(*e.end)
	}
	if e.s.Started() {
		r.Leave(a.run, err, e.s.Err())
		return nil
	}
	if err == nil {
		return api.NoContent.Write(r)
	}
	return err
}

// place is where to read from, so that nothing the client lacks is missed.
func (e *eventReader) place(ctx context.Context, runs *app.Runs, a eventStream) (app.Pos, error) {
	if e.seen.pos.Seq == 0 || a.kept != nil {
		return app.Pos{}, nil
	}
	p, err := runs.Place(ctx, a.run, e.seen.pos, e.seen.attempt)
	e.attempt, e.seen.pos.Seq = p.Attempt, p.Seen
	return p.From, err
}

// readKept returns a reader of the records of a trace, for [app.Runs.Follow]. A client whose last
// event was lost with its host reads again from the takeover on.
func (e *eventReader) readKept(
	records []app.Record,
) func(context.Context, string, app.Pos, func(app.Record) bool) error {
	return func(_ context.Context, _ string, _ app.Pos, take func(app.Record) bool) error {
		for i, r := range records {
			if r.Seq <= e.seen.pos.Seq && r.Kind == app.KindTakeover {
				e.passTakeover(r)
			}
			r.More = i+1 < len(records)
			if r.Seq > e.seen.pos.Seq && !take(r) {
				break
			}
		}
		return nil
	}
}

// passTakeover takes a takeover into account that the client may have seen.
func (e *eventReader) passTakeover(r app.Record) {
	attempt, _ := api.DocumentOf(r.Data).Get("attempt").Int()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attempt = uint64(attempt)
	if e.seen.attempt > 0 && e.seen.attempt < e.attempt {
		e.seen.pos.Seq = r.Seq - 1
	}
}

// take writes one record; false ends the stream.
func (e *eventReader) take(r app.Record) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.s.Hold(r.More)
	defer e.s.Flush()
	if r.Kind == app.KindTakeover {
		attempt, _ := api.DocumentOf(r.Data).Get("attempt").Int()
		e.attempt = uint64(attempt)
		e.seen.pos.Seq = min(e.seen.pos.Seq, r.Seq-1)
	}
	if r.Seq <= e.seen.pos.Seq || !app.Visible(r.Kind) {
		return true
	}
	if r.Kind == app.KindEnd {
		// Sent when the result is saved, which is when the log ends: a client that reads it finds
		// the session and the run as they are now. That is soon, so what came with it waits for it;
		// the heartbeat sends it if it is not.
		e.end = &r
		e.s.Hold(true)
		return true
	}
	return e.write(r)
}

// write sends one record. The caller holds mu.
func (e *eventReader) write(r app.Record) bool {
	id := r.Pos().String()
	if r.At == 0 || e.attempt > 1 {
		id += "~" + strconv.FormatUint(e.attempt, 10)
	}
	data := r.Data
	if e.bare {
		data = withoutTrace(engine.EventType(r.Kind), data)
	}
	e.s.Named(id, r.Kind, data)
	return e.s.Err() == nil
}

func (e *eventReader) beat(stop <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		e.still()
	}
}

// still sends a comment that keeps the stream open, unless the stream has ended while this waited
// for a slow client to take an event.
func (e *eventReader) still() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || !e.s.Started() {
		return
	}
	e.s.Hold(false)
	e.s.Comment("still here")
}
