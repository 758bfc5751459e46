package store

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Connected hosts of a schema are listed by name; commands without a name and hosts of other
// schemas are not.
func TestHostsOfADatabase(t *testing.T) {
	here, elsewhere := engineConfig(t, "postgres"), engineConfig(t, "postgres")
	seen := func(want ...string) {
		t.Helper()
		var names []string
		for late := time.Now().Add(time.Minute); time.Now().Before(late); {
			var err error
			names, err = Hosts(t.Context(), Config{URL: here.URL})
			require.NoError(t, err)
			if slices.Equal(names, want) {
				return
			}
		}
		require.Equal(t, want, names)
	}
	open := func(cfg Config, name string) *Store {
		cfg.Name = name
		s, err := Open(t.Context(), cfg)
		require.NoError(t, err)
		return s
	}
	command, other := open(here, ""), open(elsewhere, "far/1")
	seen()
	second, first := open(here, "b/2"), open(here, "a/1")
	seen("a/1", "b/2")
	require.NoError(t, first.Close())
	seen("b/2")
	require.NoError(t, second.Close())
	seen()
	require.NoError(t, command.Close())
	require.NoError(t, other.Close())
	none, err := Hosts(t.Context(), Config{Dir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
}
