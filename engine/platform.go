package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// This file is the only place where the engine reads the system's clock and randomness, and only if
// the caller set no port for them.

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the time of day.
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

// RandomIDs generates ids of 16 random bytes.
type RandomIDs struct{}

// NewID returns 32 hex digits. Ids are names, not secrets: the generator of the runtime, which is
// seeded by the system, is sufficient and ten times as fast as a system call for each.
func (RandomIDs) NewID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	var text [2 * len(b)]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// NewSecretMark returns a mark for the placeholders of secrets to be filled, see FillSecrets: 32
// hex digits that cannot be guessed. It never comes from the IDs port or from a seed, which tests
// and replays predict. The top-level generator of math/rand/v2 is ChaCha8 with a seed of the system
// and cannot be set; crypto/rand would enlarge the browser module without benefit for a mark that
// lives as long as a run.
func NewSecretMark() string { return RandomIDs{}.NewID() }

// after fires once real time has passed: it guards against components that do not return, so it
// does not use the run's clock.
func after(d time.Duration) <-chan time.Time { return time.After(d) }

// until returns the real time left.
func until(t time.Time) time.Duration { return time.Until(t) }
