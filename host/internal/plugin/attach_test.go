package plugin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// A command waits until a host has loaded its change, and not for hosts that have ended.
func TestHostsAcknowledgeChanges(t *testing.T) {
	dir := t.TempDir()
	command, err := OpenCatalog(t.Context(), newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	_, err = command.Install(t.Context(), asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	running, behind, err := command.Await(t.Context())
	require.NoError(t, err)
	require.Zero(t, running, "no host has the folder")
	require.Zero(t, behind)
	require.False(t, OfHost(dir))

	host, err := OpenCatalog(t.Context(), newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	detach, err := host.Attach()
	require.NoError(t, err)
	require.True(t, OfHost(dir))
	over, end := context.WithCancel(t.Context())
	end()
	running, behind, err = command.Await(over)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{running, behind}, "a host that does not watch loads nothing")

	ctx, stop := context.WithCancel(t.Context())
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		host.Watch(ctx, time.Millisecond, func() {})
	}()
	for _, enabled := range []bool{false, true, false} {
		if enabled {
			_, err = command.Enable(t.Context(), "sample", "", nil)
		} else {
			_, err = command.Disable(t.Context(), "sample")
		}
		require.NoError(t, err)
		running, behind, err = command.Await(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int{1, 0}, []int{running, behind})
		_, err = host.Get("sample")
		require.Equal(t, enabled, err == nil, "what is acknowledged is loaded: %v", err)
	}
	stop()
	<-watching
	detach()
	_, err = command.Enable(t.Context(), "sample", "", nil)
	require.NoError(t, err)
	running, _, err = command.Await(t.Context())
	require.NoError(t, err)
	require.Zero(t, running)
	require.True(t, OfHost(dir), "its settings are still those of the host")
}
