package host

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The address for Prometheus serves metrics and nothing else; the API serves them with a key.
func TestMetricsAddress(t *testing.T) {
	h, url := open(t, Config{Metrics: "127.0.0.1:0"})
	get := func(url string) (int, string) {
		res, err := http.Get(url)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
	status, text := get("http://" + h.Metrics() + "/metrics")
	require.Equal(t, 200, status)
	require.Contains(t, text, "easel_runs_active 0")
	for _, path := range []string{"/", "/api/v1/agents", "/readyz", "/debug/pprof/"} {
		status, _ = get("http://" + h.Metrics() + path)
		require.Equal(t, 404, status, path)
	}
	status, text = get(url + "/metrics")
	require.Equal(t, 401, status)
	require.NotContains(t, text, "easel_")
	require.Contains(t, asked(t, url, "GET", "/metrics", "", ""), "easel_runs_active 0")

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = New(t.Context(), Config{Dir: t.TempDir(), Metrics: taken.Addr().String(), Log: quiet})
	require.ErrorContains(t, err, "metrics: listen")
	_, err = New(t.Context(), Config{Dir: t.TempDir(), TrustedProxies: []string{"proxy.example.org"}, Log: quiet})
	require.ErrorContains(t, err, `trusted proxy: "proxy.example.org": expected an address`)
}
