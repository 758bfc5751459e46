package store

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The tests run on both engines. PostgreSQL is started once per test program.

func TestMain(m *testing.M) {
	if dir := os.Getenv(killVariable); dir != "" {
		if err := writeForever(dir); err != nil {
			panic(err)
		}
		return
	}
	if dir := os.Getenv(editVariable); dir != "" {
		if err := editForever(dir); err != nil {
			panic(err)
		}
		return
	}
	servertest.Main(m)
}

// onBoth runs test with an empty store of each engine.
func onBoth(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) { test(t, openTest(t, engineConfig(t, engine))) })
	}
}

func openTest(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// engineConfig returns a configuration for an empty store.
func engineConfig(t testing.TB, engine string) Config {
	t.Helper()
	cfg := Config{Dir: t.TempDir()}
	if engine == "postgres" {
		cfg.URL = servertest.NewSchema(t)
	}
	return cfg
}
