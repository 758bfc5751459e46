package runlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nats.go/jetstream"
)

// endedRun is a run to be deleted. Runs of hosts that died before are deleted by the limits of the
// stream.
type endedRun struct {
	token string
	due   time.Time
}

// sweeper deletes runs some time after their end.
type sweeper struct {
	ctx     context.Context // ends with the log
	records *records
	notes   *notes
	keep    time.Duration // after the end of a run
	hold    func(run string) bool
	logger  *slog.Logger

	mu    sync.Mutex
	ended []endedRun // to be deleted, oldest first
}

func (s *sweeper) forgetLater(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, endedRun{run, time.Now().Add(s.keep)})
}

// sweep deletes runs that ended long enough ago, and the notes of those that ended now.
func (s *sweeper) work() {
	every := min(time.Second, max(s.keep/4, 10*time.Millisecond))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		s.notes.drop(false)
		s.forget(time.Now().Add(every))
	}
}

// purgeWait is the time limit of purging a run. Purges without an answer are repeated.
const purgeWait = 2 * time.Second

// forget purges due runs one after the other until a time limit: purging thousands at once takes
// seconds on a cluster, and the notes of runs that end now wait for one purge at most. The others
// are left to the next call, as are those that an unavailable server has missed.
func (s *sweeper) forget(until time.Time) {
	for {
		run := s.due()
		if run == "" {
			return
		}
		if postpone(s, run) {
			continue
		}
		ctx, done := context.WithTimeout(s.ctx, purgeWait)
		err := s.records.stream.Purge(ctx, jetstream.WithPurgeSubject(s.records.conn.Subject("run", run, ">")))
		done()
		switch {
		case s.ctx.Err() != nil:
			return
		case err != nil && broker.Transient(err):
			return
		case err != nil:
			s.logger.Warn("ended run stays until the stream drops it", "run", run, "err", err)
		}
		s.mu.Lock()
		s.ended = s.ended[1:]
		s.mu.Unlock()
		if time.Now().After(until) {
			return
		}
	}
}

// postpone moves the first run to the end of the list if it is held.
func postpone(s *sweeper, token string) bool {
	run, ok := broker.Untoken(token)
	if !ok || s.hold == nil || !s.hold(run) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended[1:], endedRun{token, time.Now().Add(s.keep)})
	return true
}

// due returns the run that ended first if it is to be deleted now, and else "". It stays in the
// list.
func (s *sweeper) due() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ended) == 0 || s.ended[0].due.After(time.Now()) {
		return ""
	}
	return s.ended[0].token
}
