package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// This file is the one place where the engine asks the machine for time and randomness, and only when the
// caller set no port for them.

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the time of day.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx ends.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RandomIDs makes ids of 16 random bytes.
type RandomIDs struct{}

// NewID is 32 hex digits. Ids are names, not secrets: the runtime's own generator, which is seeded by the system,
// is enough and ten times as fast as asking the system each time.
func (RandomIDs) NewID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	var text [2 * len(b)]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// after fires once real time has passed: it guards against components that do not return, so it does not ask
// the run's clock.
func after(d time.Duration) <-chan time.Time { return time.After(d) }

// until is the real time left.
func until(t time.Time) time.Duration { return time.Until(t) }
