package api

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThrottleForgetsOnlyTheQuiet(t *testing.T) {
	var th Throttle
	require.Zero(t, th.Take("busy", Limit{0.001, 1}))
	for i := range 3 * MaxNames {
		require.Zero(t, th.Take(fmt.Sprint(i), Limit{1e9, 1}))
	}
	require.LessOrEqual(t, len(th.list), MaxNames+1)
	require.Positive(t, th.Take("busy", Limit{0.001, 1}), "a flood of other names releases no limited one")
	for i := range 2 * MaxNames {
		require.Zero(t, th.Take(fmt.Sprint("also busy ", i), Limit{0.001, 1}))
	}
	require.LessOrEqual(t, len(th.list), MaxNames+1)
}

func TestNetworks(t *testing.T) {
	for remote, want := range map[string]string{
		"10.1.2.3:99": "10.1.2.3", "[::ffff:10.1.2.3]:99": "10.1.2.3", "[2001:db8:1:2:3:4:5:6]:99": "2001:db8:1:2::/64", "pipe": "invalid IP",
	} {
		require.Equal(t, want, NetworkOf(proxies(nil).client(&http.Request{RemoteAddr: remote})))
	}
}
