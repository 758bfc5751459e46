package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// standingClock advances only while a caller sleeps: a sleep returns at once and moves the
// time on.
type standingClock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time the run was given, plus the time it has slept.
func (c *standingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep moves the time on, unless ctx has ended.
func (c *standingClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(d, 0))
	return nil
}

// seedOf reads a seed: a number, or the hexadecimal text of one of 64 bits, which JavaScript cannot
// have as a number.
func seedOf(v engine.Value) (seed uint64, ok bool) {
	if n, ok := v.Int(); ok {
		return uint64(n), true
	}
	seed, err := strconv.ParseUint(v.Str(), 16, 64)
	return seed, err == nil
}

// seededIDs makes the same ids again for the same seed and the same turn of a conversation.
type seededIDs struct {
	mu    sync.Mutex
	state uint64
}

// NewID returns 32 hex digits.
func (s *seededIDs) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], s.next())
	binary.BigEndian.PutUint64(b[8:], s.next())
	return hex.EncodeToString(b[:])
}

// next is SplitMix64.
func (s *seededIDs) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	x := s.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
