// Package poll reads a source at intervals for all who follow it, while there are any.
package poll

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	lookTime = 10 * time.Second     // that a look may take
	gather   = 5 * time.Millisecond // for which calls of Again are collected
)

// Loop looks for changes while somebody follows them. A look that fails is repeated after the same
// time. Every, Look and Logger are required; a Loop must not be copied.
type Loop struct {
	Every  time.Duration
	Look   func(ctx context.Context) error
	Logger *slog.Logger
	// Name of the source, for the log.
	Name string

	mu        sync.Mutex
	followers int
	running   *running // nil without followers

	looking sync.Mutex // held by a look: one that has begun outlives its followers
}

// running is a loop at work.
type running struct{ wake, stop chan struct{} }

// Enter adds a follower.
func (l *Loop) Enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.followers++; l.followers == 1 {
		l.running = &running{make(chan struct{}, 1), make(chan struct{})}
		go l.run(l.running)
	}
}

// Leave removes a follower; the last one ends the loop.
func (l *Loop) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.followers--; l.followers == 0 {
		close(l.running.stop)
		l.running = nil
	}
}

// Again makes a look follow soon that begins after the call.
func (l *Loop) Again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		return
	}
	select {
	case l.running.wake <- struct{}{}:
	default:
	}
}

func (l *Loop) run(r *running) {
	tick := time.NewTicker(l.Every)
	defer tick.Stop()
	for failing := false; ; {
		err := l.look()
		if err != nil && !failing {
			l.Logger.Warn("changes cannot be read, retrying", "of", l.Name, "err", err)
		}
		wake := r.wake
		if failing = err != nil; failing {
			wake = nil // calls of Again do not repeat it
		}
		select {
		case <-tick.C:
		case <-wake:
			select {
			case <-time.After(gather):
			case <-r.stop:
			}
			select {
			case <-wake: // its look follows, as that of the first call
			default:
			}
		case <-r.stop:
		}
		select {
		case <-r.stop:
			return
		default:
		}
	}
}

func (l *Loop) look() error {
	l.looking.Lock()
	defer l.looking.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	return l.Look(ctx)
}
