package kv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
)

// patience bounds every wait.
const patience = 3 * time.Minute

func TestKeys(t *testing.T) { brokertest.OnBoth(t, testKeys) }

func testKeys(t *testing.T, conn *broker.Conn) {
	ctx := t.Context()
	s, err := New(ctx, conn)
	require.NoError(t, err)
	_, _, err = s.Get(ctx, "t1-m 1-logs")
	require.ErrorIs(t, err, broker.ErrNotFound)
	began := time.Now()
	require.NoError(t, s.Put(ctx, "t1-m 1-logs", []byte("[]"), time.Hour))
	v, ttl, err := s.Get(ctx, "t1-m 1-logs")
	require.NoError(t, err)
	require.Equal(t, "[]", string(v))
	require.LessOrEqual(t, ttl, time.Hour)
	require.GreaterOrEqual(t, ttl, time.Hour-time.Since(began)-time.Millisecond)
	require.NoError(t, s.Put(ctx, "t1-m 1-logs", nil, 0))
	v, ttl, err = s.Get(ctx, "t1-m 1-logs")
	require.NoError(t, err)
	require.Empty(t, v)
	require.Zero(t, ttl)
	require.NoError(t, s.Expire(ctx, "t1-m 1-logs", 30*time.Millisecond))
	require.Eventually(t, func() bool {
		_, _, err := s.Get(ctx, "t1-m 1-logs")
		return err != nil
	}, patience, 5*time.Millisecond)
	require.NoError(t, s.Put(ctx, "k", []byte("v"), 0))
	require.NoError(t, s.Delete(ctx, "k"))
	require.NoError(t, s.Delete(ctx, "k"))
	require.ErrorIs(t, s.Expire(ctx, "k", time.Second), broker.ErrNotFound)
	t.Run("the server itself expires keys", func(t *testing.T) {
		require.NoError(t, s.Put(ctx, "t1-logs", []byte("[]"), 100*time.Millisecond))
		require.Eventually(t, func() bool {
			info, err := s.keys.Info(ctx)
			return err == nil && info.State.Msgs == 0
		}, patience, 50*time.Millisecond)
	})
}

func TestWatchCancels(t *testing.T) { brokertest.OnBoth(t, testWatchCancels) }

func testWatchCancels(t *testing.T, conn *broker.Conn) {
	ctx := t.Context()
	s, err := New(ctx, conn)
	require.NoError(t, err)
	tasks := make(chan string, 10)
	require.NoError(t, s.WatchCancels(func(task string) { tasks <- task }))
	require.NoError(t, conn.Flush(ctx))
	require.NoError(t, s.Put(ctx, "other-logs", []byte("x"), 0))
	require.NoError(t, s.Put(ctx, "canvas 7-cancel", []byte("x"), time.Hour))
	require.Equal(t, "canvas 7", <-tasks)
	require.NoError(t, s.Delete(ctx, "canvas 7-cancel"))
	require.NoError(t, s.Put(ctx, "last-cancel", []byte("x"), time.Hour))
	require.Equal(t, "last", <-tasks, "a deleted mark is no cancel")
}
