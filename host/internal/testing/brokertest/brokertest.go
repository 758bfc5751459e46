// Package brokertest opens connections to NATS JetStream for tests.
package brokertest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Open opens a connection, quietly, and closes it at the end of the test. Without Dir and URLs it
// is to an embedded server in a new directory.
func Open(t testing.TB, cfg broker.Config) *broker.Conn {
	t.Helper()
	if cfg.Dir == "" && len(cfg.URLs) == 0 {
		cfg.Dir = t.TempDir()
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	conn, err := broker.Open(t.Context(), cfg, "easel test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// OnBoth runs a test on an embedded server and on one that listens on loopback.
func OnBoth(t *testing.T, test func(t *testing.T, conn *broker.Conn)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, Open(t, broker.Config{})) })
	t.Run("external", func(t *testing.T) { test(t, Open(t, broker.Config{URLs: []string{serve(t)}})) })
}

// serve starts a server on a free port of loopback and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(3*time.Minute))
	return srv.ClientURL()
}
