package runner

import (
	"context"
	"time"

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
	tick := time.NewTicker(min(time.Second, max(l.cfg.KeepEnded/4, 10*time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.dropNotes(false)
		for _, run := range l.due() {
			ctx, done := context.WithTimeout(l.ctx, wait)
			err := l.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject("run", run, ">")))
			done()
			if err != nil && l.ctx.Err() == nil {
				l.cfg.Log.Warn("ended run stays until the stream drops it", "run", run, "err", err)
			}
		}
	}
}

func (l *Log) due() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	now := time.Now()
	for len(l.ended) > 0 && l.ended[0].due.Before(now) {
		out = append(out, l.ended[0].token)
		l.ended = l.ended[1:]
	}
	return out
}
