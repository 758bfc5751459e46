package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// printed is output that is read while the program runs.
type printed struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

func TestServe(t *testing.T) {
	t.Setenv("EASEL_API_KEY", "")
	require.NoError(t, os.Unsetenv("EASEL_API_KEY"))
	var out printed
	a, err := newApp(strings.NewReader(""), &out, io.Discard)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- a.dispatch(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--sync", "interval"})
	}()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "try: curl") }, 20*time.Second, 5*time.Millisecond)
	url := regexp.MustCompile(`address: (\S+)`).FindStringSubmatch(out.String())[1]
	key := regexp.MustCompile(`key: (ragflow-\S{43})\n`).FindStringSubmatch(out.String())[1]
	for path, want := range map[string]int{"/readyz": 200, "/healthz": 200, "/metrics": 200, "/v1/canvas/templates": 200, "/nothing": 404} {
		req, err := http.NewRequestWithContext(ctx, "GET", url+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, path)
	}
	stop()
	require.NoError(t, <-done)
	require.Error(t, a.dispatch(t.Context(), []string{"serve", "more"}))
	require.Error(t, a.dispatch(t.Context(), []string{"serve", "--sync", "sometimes", "--addr", "127.0.0.1:0", "--data", t.TempDir()}))
}
