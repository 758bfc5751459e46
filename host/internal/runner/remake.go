package runner

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// remake makes again what an outside server has lost when it comes back: all streams after a loss of power before it had
// synced anything, or on a new disk; the newest messages of the queue after one that came later. What this host is working
// on is fenced by its next write, found by whoever looks for runs without a host, and begun again.
func (l *Log) remake() {
	if l.srv != nil {
		return
	}
	for told := false; l.ctx.Err() == nil; told = true {
		err := l.remakeStreams(l.ctx)
		if err == nil {
			_, err = retry(l.ctx, l.openQueue)
		}
		if err == nil || l.ctx.Err() != nil {
			return
		}
		if !told {
			l.cfg.Log.Warn("NATS is back and its streams were not looked at yet", "err", err)
		}
		sleep(l.ctx, time.Second)
	}
}

func (l *Log) remakeStreams(ctx context.Context) error {
	for _, cfg := range l.streamConfigs() {
		gone, err := l.isGone(ctx, cfg.Name)
		if err != nil {
			return err
		}
		if !gone {
			continue
		}
		l.cfg.Log.Error("NATS has lost a stream and what was in it; it is made again. Was its sync_interval always, and its disk the same?", "stream", cfg.Name)
		if _, err := l.makeStream(ctx, cfg); err != nil {
			return err
		}
		if cfg.Name == l.cfg.Prefix+"_OWN" {
			l.book.restart()
		}
	}
	gone, err := l.isGone(ctx, "OBJ_"+l.cfg.Prefix+"_files")
	if err == nil && gone {
		_, err = retry(ctx, l.makeFiles)
	}
	return err
}

// isGone asks whether the server has no such stream.
func (l *Log) isGone(ctx context.Context, stream string) (bool, error) {
	_, err := retry(ctx, func(ctx context.Context) (jetstream.Stream, error) { return l.js.Stream(ctx, stream) })
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return true, nil
	}
	return false, err
}
