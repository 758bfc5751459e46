//go:build soak

package plugin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func init() { soak = true }

// TestHammerGoGuest is TestHammer with a guest of the Go toolchain, whose instances take megabytes.
func TestHammerGoGuest(t *testing.T) {
	h := newHost(t, Config{MaxRunning: 4})
	m, err := h.Load(context.Background(), pack(t, goGuest(t, "goguest"), map[string]any{"state": "tenant"}), LoadOptions{})
	require.NoError(t, err)
	hammer(t, h, m, "shouts", 10_000)
}

// TestLoadedAndClosedPluginsLeakNothing installs and removes a plugin over and over: code,
// instances and goroutines go with it.
func TestLoadedAndClosedPluginsLeakNothing(t *testing.T) {
	h := newHost(t, Config{IdleFor: time.Hour})
	before := settled()
	for range 500 {
		m := load(t, h, counter, nil)
		count(t, m, "a", "")
		require.NoError(t, m.Close(context.Background()))
	}
	require.Zero(t, h.Instances())
	require.Less(t, settled()-before, int64(16<<20))
}
