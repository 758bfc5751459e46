package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Hosts of a schema are seen by their names while they are connected; commands without a name and hosts of other schemas
// are not.
func TestHostsOfADatabase(t *testing.T) {
	here, elsewhere := engineConfig(t, "postgres"), engineConfig(t, "postgres")
	seen := func() []string {
		names, err := Hosts(t.Context(), Config{URL: here.URL})
		require.NoError(t, err)
		return names
	}
	open := func(cfg Config, name string) *Store {
		cfg.Name = name
		s, err := Open(t.Context(), cfg)
		require.NoError(t, err)
		return s
	}
	command, other := open(here, ""), open(elsewhere, "far/1")
	require.Empty(t, seen())
	second, first := open(here, "b/2"), open(here, "a/1")
	require.Equal(t, []string{"a/1", "b/2"}, seen())
	require.NoError(t, first.Close())
	require.Equal(t, []string{"b/2"}, seen())
	require.NoError(t, second.Close())
	require.Empty(t, seen(), "as soon as it has stopped")
	require.NoError(t, command.Close())
	require.NoError(t, other.Close())
	none, err := Hosts(t.Context(), Config{Dir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
}
