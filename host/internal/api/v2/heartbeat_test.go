package v2

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
)

// TestHeartbeatOfAnEndedStream lets a heartbeat wait for a slow client, and the stream end before
// it is its turn: the answer is over then, and a write to it would end the host.
func TestHeartbeatOfAnEndedStream(t *testing.T) {
	w := httptest.NewRecorder()
	e := &eventReader{s: api.ContinueStream(w)}
	e.still()
	require.Equal(t, ": still here\n\n", w.Body.String())
	w.Body.Reset()
	e.mu.Lock()
	done := make(chan struct{})
	go func() {
		e.still()
		close(done)
	}()
	e.over = true
	e.mu.Unlock()
	<-done
	require.Empty(t, w.Body.String())
}
