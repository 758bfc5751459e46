package runlog

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/nats-io/nats.go/jetstream"
)

// endedRun waits to be forgotten. Runs of hosts that died in between go with
// the stream's own limits.
type endedRun struct {
	token string
	due   time.Time
}

func (l *Log) forgetLater(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, endedRun{run, time.Now().Add(l.cfg.KeepEnded)})
}

// sweep forgets runs that ended long enough ago, and the notes of those that
// ended now.
func (l *Log) sweep() {
	every := min(time.Second, max(l.cfg.KeepEnded/4, 10*time.Millisecond))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.notes.drop(false)
		l.forget(time.Now().Add(every))
	}
}

// purgeWait is how long a server may take to forget a run. It is asked again
// for what it did not answer.
const purgeWait = 2 * time.Second

// forget purges runs that are due, one after the other, until a time: that of
// thousands at once takes seconds on a cluster, and the notes of runs that end
// now wait no longer than for one. What is left is for the next time, and so is
// what a server that is away did not hear.
func (l *Log) forget(until time.Time) {
	for {
		run := l.due()
		if run == "" {
			return
		}
		ctx, done := context.WithTimeout(l.ctx, purgeWait)
		err := l.log.Purge(ctx, jetstream.WithPurgeSubject(l.conn.Subject("run", run, ">")))
		done()
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil && broker.Transient(err):
			return
		case err != nil:
			l.cfg.Log.Warn("ended run stays until the stream drops it", "run", run, "err", err)
		}
		l.mu.Lock()
		l.ended = l.ended[1:]
		l.mu.Unlock()
		if time.Now().After(until) {
			return
		}
	}
}

// due is the run that ended first when it is to be forgotten now, and else "".
// It stays in the list.
func (l *Log) due() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ended) == 0 || l.ended[0].due.After(time.Now()) {
		return ""
	}
	return l.ended[0].token
}
