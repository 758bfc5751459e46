package failure_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// event is an event received by a client.
type event struct {
	number   uint64 // of its id
	id, kind string
	node     string
	data     string
}

// reader follows a run as a client does: over one connection after the other, on any host, with the
// id of the last event it has. It follows the rule for clients: a takeover event replaces the
// events from its number on, which were lost with their host.
type reader struct {
	w    *world
	run  string
	hop  int // leave after this many events; 0 stays
	each func(event)

	mu          sync.Mutex
	events      []event
	connections int
	silence     time.Duration // without an event, after which the reader connects again
	known       []event       // of another reader, in order: their data is not parsed again
	replaced    int           // events that a takeover took back
	gap         time.Duration // longest silence
	last        time.Time
	err         error
	done        chan struct{}
}

// follow reads a run in the background. each may be nil.
func (w *world) follow(run string, hop int, each func(event)) *reader {
	r := &reader{w: w, run: run, hop: hop, each: each, done: make(chan struct{})}
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	go func() {
		defer close(r.done)
		defer stop()
		r.err = r.read(ctx)
	}()
	return r
}

// read connects again and again until the run has ended.
func (r *reader) read(ctx context.Context) error {
	var last error
	for ctx.Err() == nil {
		urls := r.w.urls()
		if len(urls) == 0 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		r.connections++
		ended, err := r.connect(ctx, urls[rand.IntN(len(urls))])
		if ended || errors.Is(err, errWrong) || errors.Is(err, errGone) {
			return err
		}
		if err != nil {
			last = err
			time.Sleep(20 * time.Millisecond) // the host is unavailable; another or the next one is not
		}
	}
	return fmt.Errorf(
		"the run did not end: %w; %d events over %d connections; the last one: %v",
		ctx.Err(),
		len(r.events),
		r.connections,
		last,
	)
}

var (
	errWrong = errors.New("wrong event")
	errGone  = errors.New("the events are no longer kept")
)

// connect reads until the connection ends, the run has ended or it is time to hop.
func (r *reader) connect(ctx context.Context, url string) (ended bool, err error) {
	// A frozen host keeps the connection: a client that receives nothing tries another host.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// It waits longer each time: a busy host would be asked again before it answers.
	defer func(before int) {
		if len(r.events) > before {
			r.silence = 0
		}
	}(len(r.events))
	r.silence = min(max(3*time.Second, 2*r.silence), patience/4)
	silence := time.AfterFunc(r.silence, stop)
	defer silence.Stop()
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/api/v2/runs/"+r.run+"/events", nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "Bearer "+r.w.key)
	if n := len(r.events); n > 0 {
		req.Header.Set("Last-Event-ID", r.events[n-1].id)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusGone:
		return false, errGone
	default:
		return false, fmt.Errorf("status %d", res.StatusCode)
	}
	return r.drain(res.Body, func() { silence.Reset(r.silence) })
}

// drain takes events until the run has ended, the connection has, or it is time to hop.
func (r *reader) drain(body io.Reader, heard func()) (ended bool, err error) {
	var e event
	count := 0
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false, err
		}
		heard()
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			e.id = value
			e.number, err = strconv.ParseUint(value[:strings.IndexAny(value+"-", "-~")], 10, 64)
			if err != nil {
				return false, fmt.Errorf("%w: id %q", errWrong, value)
			}
		case "event":
			e.kind = value
		case "data":
			e.data = value
			if err := r.take(e); err != nil {
				return false, err
			}
			if e.kind == "end" {
				return true, nil
			}
			if count++; count == r.hop {
				return false, nil
			}
		}
	}
}

// take adds an event to those of the client.
func (r *reader) take(e event) error {
	if n := len(r.events); n < len(r.known) && r.known[n].data == e.data {
		e.node = r.known[n].node
	} else {
		var v struct {
			Data struct {
				ID string `json:"component_id"`
			}
		}
		if err := json.Unmarshal([]byte(e.data), &v); err != nil {
			return fmt.Errorf("%w: %q is no JSON: %w", errWrong, e.data, err)
		}
		e.node = v.Data.ID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.last.IsZero() {
		r.gap = max(r.gap, time.Since(r.last))
	}
	r.last = time.Now()
	if e.kind == "takeover" {
		for n := len(r.events); n > 0 && r.events[n-1].number >= e.number; n-- {
			r.events = r.events[:n-1]
			r.replaced++
		}
	}
	if n := len(r.events); n > 0 && r.events[n-1].number >= e.number {
		return fmt.Errorf("%w: %s %s after %s %s", errWrong, e.id, e.kind, r.events[n-1].id, r.events[n-1].kind)
	}
	r.events = append(r.events, e)
	if r.each != nil {
		r.each(e)
	}
	return nil
}

// wait returns the client's events at the end, and compares them with the log: the same events,
// none missing, none twice.
func (r *reader) wait() []event {
	r.w.t.Helper()
	<-r.done
	require.NoError(r.w.t, r.err)
	all := r.w.events(r.run)
	requireSame(r.w.t, all, r.events)
	r.w.t.Logf(
		"run of %d events: %d connections, %d events replaced, longest silence %v",
		len(all),
		r.connections,
		r.replaced,
		r.gap.Round(time.Millisecond),
	)
	return all
}

// events reads an ended run from its beginning.
func (w *world) events(run string) []event {
	w.t.Helper()
	r := &reader{w: w, run: run}
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	require.NoError(w.t, r.read(ctx))
	return r.events
}

// requireSame compares events without the part of their ids that depends on where they were read.
func requireSame(t testing.TB, want, got []event) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		a, b := want[i], got[i]
		a.id, b.id = "", ""
		require.Equal(t, a, b, "event %d", i)
	}
	require.Len(t, got, len(want))
}
