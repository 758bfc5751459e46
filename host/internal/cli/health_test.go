package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.URL.Path+" db: ok\n")
	}))
	defer server.Close()
	addr := strings.TrimPrefix(server.URL, "http://")

	code, out, errs := easel(t, "health", "--addr", addr)
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "/readyz db: ok\n", out)

	t.Setenv("EASEL_ADDR", addr)
	code, out, _ = easel(t, "health")
	require.Equal(t, ExitOK, code)
	require.Contains(t, out, "ok")

	status = http.StatusServiceUnavailable
	code, _, errs = easel(t, "health")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "is not ready: /readyz db: ok")

	server.Close()
	code, _, errs = easel(t, "health")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "refused")
}
