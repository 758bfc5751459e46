package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// resumeAt is a place in a run's events that a client has seen.
//
// Its text is the id of an event: "12-3456" for one that is stored, and "12~1"
// for one that was seen before it was stored, on the first host that worked on
// the run. If that host died with it, the next one gives the number 12 to
// another event; the client then gets everything from where the next one took
// over. Stored ones of later hosts are "12-3456~2", because a server of the log
// that loses its power may forget what it has stored.
type resumeAt struct {
	pos     runlog.Pos
	attempt uint64 // of the host that wrote it, 0 when that is not known
}

func parseResume(text string) (resumeAt, error) {
	place, attempt, named := strings.Cut(text, "~")
	var at resumeAt
	var err error
	if at.pos, err = runlog.ParsePos(place); err != nil {
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

func (a *API) v2Events(c *call) error {
	v, err := c.v2Run()
	if err != nil {
		return err
	}
	text := c.lastEventID()
	at, err := parseResume(text)
	if err != nil {
		message := fmt.Sprintf("invalid event id %.40q: use the id of an event of this run", text)
		return &status{http.StatusBadRequest, "bad_argument", message}
	}
	ended := v.Status != store.RunActive
	if ended {
		kept, err := a.cfg.Runs.Kept(c.ctx(), v)
		if err != nil {
			return err
		}
		if !kept {
			return &status{http.StatusGone, "gone", "the events of this run are no longer kept"}
		}
	}
	return c.v2Stream(v.ID, at, ended)
}

// lastEventID is the id of the last event that the client has: a header of browsers that reconnect,
// or a query parameter of those that cannot set headers.
func (c *call) lastEventID() string {
	for _, text := range []string{c.r.Header.Get("Last-Event-ID"), c.query.Get("lastEventId"), c.query.Get("after")} {
		if text != "" {
			return text
		}
	}
	return ""
}

// eventReader writes the records of a run as events, each once.
type eventReader struct {
	s       *sse
	mu      sync.Mutex // the heartbeat writes as well
	attempt uint64     // whose records come
	seen    resumeAt   // what the client has
	end     *runlog.Record
	over    bool // nothing may be written any more
}

// heartbeat is how often a silent stream sends a comment, so that proxies keep
// it and a client that is gone is noticed.
const heartbeat = 15 * time.Second

// v2Stream sends the events of a run. The answer is 204 when the run has ended and the client has
// all of them: an EventSource stops reconnecting then.
func (c *call) v2Stream(run string, at resumeAt, ended bool) error {
	e := &eventReader{attempt: 1, seen: at}
	from, err := c.place(run, e)
	if err != nil {
		return err
	}
	if e.s = c.newStream(true); !ended {
		e.s.start() // the first event may take long
	}
	stop := make(chan struct{})
	defer close(stop)
	go e.beat(stop)
	err = c.a.cfg.Runs.Follow(c.ctx(), run, from, e.take)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	if err == nil && e.end != nil {
		e.s.more = true // it goes out with the end of the answer
		e.write(*e.end)
	}
	if e.s.started {
		c.leave(run, err, e.s.err)
		return nil
	}
	if err == nil {
		c.w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// place is where to read from, so that nothing the client lacks is missed.
func (c *call) place(run string, e *eventReader) (runlog.Pos, error) {
	if e.seen.pos.Seq == 0 {
		return runlog.Pos{}, nil
	}
	p, err := c.a.cfg.Runs.Place(c.ctx(), run, e.seen.pos, e.seen.attempt)
	e.attempt, e.seen.pos.Seq = p.Attempt, p.Seen
	return p.From, err
}

// take writes one record; false ends the stream.
func (e *eventReader) take(r runlog.Record) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.s.more = r.More
	defer e.s.out()
	if r.Kind == runs.KindTakeover {
		attempt, _ := document(r.Data).Get("attempt").Int()
		e.attempt = uint64(attempt)
		e.seen.pos.Seq = min(e.seen.pos.Seq, r.Seq-1)
	}
	if r.Seq <= e.seen.pos.Seq || !runs.Visible(r.Kind) {
		return true
	}
	if r.Kind == runs.KindEnd {
		// Told when the result is saved, which is when the log ends: whoever reads
		// it finds the session and the run as they are now. That is soon, so what
		// came with it waits for it; the heartbeat sends it if it is not.
		e.end, e.s.more = &r, true
		return true
	}
	return e.write(r)
}

// write sends one record. The caller holds mu.
func (e *eventReader) write(r runlog.Record) bool {
	id := r.Pos().String()
	if r.At == 0 || e.attempt > 1 {
		id += "~" + strconv.FormatUint(e.attempt, 10)
	}
	s := e.s
	s.buf = append(append(s.buf[:0], "id: "...), id...)
	s.buf = append(append(s.buf, "\nevent: "...), r.Kind...)
	s.buf = append(append(s.buf, "\ndata: "...), r.Data...)
	s.send()
	return s.err == nil
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

// still says that the stream is there, unless it has ended while this waited
// for a slow client to take an event.
func (e *eventReader) still() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || !e.s.started {
		return
	}
	e.s.more = false
	e.s.buf = append(e.s.buf[:0], ": still here"...)
	e.s.send()
}
