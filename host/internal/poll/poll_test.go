package poll

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoopReadsWhileFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		l := &Loop{Every: time.Second, Logger: slog.New(slog.DiscardHandler), Look: func(context.Context) error {
			looks++
			return nil
		}}
		l.Again()
		time.Sleep(time.Minute)
		require.Zero(t, looks, "without followers")
		l.Enter()
		l.Enter()
		synctest.Wait()
		require.Equal(t, 1, looks, "at once, and once for two")
		for range 10 {
			l.Again()
			synctest.Wait() // the loop has taken the first one before the others
		}
		time.Sleep(2 * gather)
		require.Equal(t, 2, looks, "calls of Again are collected")
		l.Leave()
		time.Sleep(10 * time.Second)
		require.InDelta(t, 12, looks, 1)
		l.Leave()
		before := looks
		time.Sleep(time.Minute)
		require.Equal(t, before, looks)
	})
}

// A source that fails is read at its interval and logged once.
func TestLoopOfAFailingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		looks := 0
		l := &Loop{
			Every: time.Second, Name: "canvases", Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Look: func(ctx context.Context) error {
				looks++
				_, bounded := ctx.Deadline()
				require.True(t, bounded)
				return errors.New("broken")
			},
		}
		l.Enter()
		synctest.Wait()
		l.Again()
		time.Sleep(4500 * time.Millisecond)
		require.Equal(t, 5, looks)
		l.Leave()
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "changes cannot be read, retrying"))
		require.Contains(t, log.String(), "of=canvases")
	})
}
