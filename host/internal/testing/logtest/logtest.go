// Package logtest opens a run log, with the other stores on NATS, for the tests of other packages.
package logtest

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/nats/kv"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// Storage holds the stores of a host on NATS.
type Storage struct {
	Conn  *broker.Conn
	Log   *runlog.Log
	Files *blobs.Store
	Keys  *kv.Store
}

// Open opens the storage of a configuration, quietly, and closes it at the end of the test. Without
// Dir and URLs it is an embedded server in a new directory.
func Open(t testing.TB, cfg broker.Config) *Storage {
	t.Helper()
	s := OpenUntil(t, cfg)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// OpenUntil is [Open] for a test that closes the storage itself.
func OpenUntil(t testing.TB, cfg broker.Config) *Storage {
	t.Helper()
	return OpenWith(t, cfg, runlog.Config{})
}

// OpenWith is [OpenUntil] with a configuration of the run log.
func OpenWith(t testing.TB, cfg broker.Config, log runlog.Config) *Storage {
	t.Helper()
	if cfg.Dir == "" && len(cfg.URLs) == 0 {
		cfg.Dir = t.TempDir()
	}
	quiet := slog.New(slog.DiscardHandler)
	cfg.Log = quiet
	s := &Storage{}
	var err error
	s.Conn, err = broker.Open(t.Context(), cfg, "easel test")
	require.NoError(t, err)
	s.Files, err = blobs.New(t.Context(), s.Conn)
	require.NoError(t, err)
	s.Keys, err = kv.New(t.Context(), s.Conn)
	require.NoError(t, err)
	log.Log = quiet
	s.Log, err = runlog.Open(t.Context(), s.Conn, s.Keys, log)
	require.NoError(t, err)
	return s
}

// Close closes the run log and the connection.
func (s *Storage) Close() error { return errors.Join(s.Log.Close(), s.Conn.Close()) }
