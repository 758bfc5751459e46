package runlog

import (
	"slices"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

// Active hosts on a NATS are listed by their names until they stop; those with other streams are
// not.
func TestHosts(t *testing.T) {
	port := freePort(t)
	natsChild(t, t.TempDir(), port)
	// No heartbeat is due in that time: the hosts answer the request.
	cfg := setup{URLs: []string{address(port)}, Lease: time.Hour}
	heard := func(want ...string) {
		t.Helper()
		slices.Sort(want)
		var names []string
		for late := time.Now().Add(patience); time.Now().Before(late); {
			var err error
			names, err = Hosts(t.Context(), cfg.broker())
			require.NoError(t, err)
			if slices.Equal(names, want) {
				return
			}
		}
		require.Equal(t, want, names)
	}
	open := func(name, prefix string) *Log {
		cfg := cfg
		cfg.Name, cfg.Prefix = name, prefix
		l, err := openLog(t.Context(), cfg)
		require.NoError(t, err)
		return l
	}
	heard()
	first, second, nameless, other := open("b/2", ""), open("a/1", ""), open("", ""), open("far/1", "other")
	heard("a/1", "b/2", nameless.Host())
	for _, l := range []*Log{first, nameless, other} {
		require.NoError(t, closeLog(l))
	}
	heard("a/1")
	require.NoError(t, closeLog(second))
	heard()

	none, err := Hosts(t.Context(), broker.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = Hosts(t.Context(), broker.Config{URLs: []string{"nats://127.0.0.1:1"}, Log: quiet})
	require.ErrorIs(t, err, broker.ErrUnavailable)
}
