package api

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// A request that waits for memory continues as soon as another one releases it.
func TestWaitingForMemoryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{cfg: Config{Memory: memlimit.New("requests", 100)}}
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/", nil)
		require.NoError(t, err)
		first, second := &Request{api: a, HTTP: r, Route: &Route{}}, &Request{api: a, HTTP: r, Route: &Route{}}
		require.NoError(t, first.Reserve(80))
		done := make(chan error, 1)
		go func() { done <- second.Reserve(80) }()
		synctest.Wait()
		require.Empty(t, done)
		first.Free()
		require.NoError(t, <-done)
		second.Free()
		require.Zero(t, a.cfg.Memory.Used())
	})
}
