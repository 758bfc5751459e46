package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Hosts at work on a NATS are heard by their names, until they stop; those with other streams are not.
func TestHosts(t *testing.T) {
	port := freePort(t)
	natsChild(t, t.TempDir(), port)
	// No heartbeat comes by itself in time: they answer.
	cfg := Config{URLs: []string{address(port)}, Lease: time.Hour, Log: quiet}
	heard := func() []string {
		names, err := Hosts(t.Context(), cfg)
		require.NoError(t, err)
		return names
	}
	open := func(name, prefix string) *Log {
		cfg := cfg
		cfg.Name, cfg.Prefix = name, prefix
		l, err := Open(t.Context(), cfg)
		require.NoError(t, err)
		return l
	}
	require.Empty(t, heard())
	first, second, nameless, other := open("b/2", ""), open("a/1", ""), open("", ""), open("far/1", "other")
	require.ElementsMatch(t, []string{"a/1", "b/2", nameless.Host()}, heard())
	for _, l := range []*Log{first, nameless, other} {
		require.NoError(t, l.Close())
	}
	require.Equal(t, []string{"a/1"}, heard())
	require.NoError(t, second.Close())
	require.Empty(t, heard())

	none, err := Hosts(t.Context(), Config{Dir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = Hosts(t.Context(), Config{URLs: []string{"nats://127.0.0.1:1"}})
	require.ErrorIs(t, err, ErrUnavailable)
}
