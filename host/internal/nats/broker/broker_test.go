package broker

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSyncSettings(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		always bool
		every  time.Duration
	}{
		{Config{SyncAlways: true}, true, 2 * time.Minute},
		{Config{SyncEvery: 2 * time.Second}, false, 2 * time.Second},
		{Config{}, false, 2 * time.Minute},
	} {
		c.cfg.Dir, c.cfg.Log = t.TempDir(), slog.New(slog.DiscardHandler)
		conn, err := Open(t.Context(), c.cfg, "test")
		require.NoError(t, err)
		got := conn.srv.JetStreamConfig()
		require.Equal(t, c.always, got.SyncAlways)
		require.Equal(t, c.every, got.SyncInterval)
		require.NoError(t, conn.Close())
	}
}

func TestToken(t *testing.T) {
	for text, want := range map[string]string{
		"": "=", "aZ0-_": "aZ0-_", "a.b": "=612e62", "*": "=2a",
		"=2a": "=3d3261",
	} {
		require.Equal(t, want, Token(text))
		back, ok := Untoken(Token(text))
		require.True(t, ok)
		require.Equal(t, text, back)
	}
	_, ok := Untoken("=zz")
	require.False(t, ok)
}
