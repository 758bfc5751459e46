package clients

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEventSource reads a run to its end: EventSource reconnects after the end of the response, and
// stops when it receives 204.
func TestEventSource(t *testing.T) {
	needNode(t)
	s := serve(t, nil)
	var run struct {
		URL string `json:"events_url"`
	}
	a := s.call("POST", "/api/v2/canvases/"+s.canvas("echo", echo)+"/runs", Row{"query": "tea?"})
	a.into(t, &run)
	require.NotEmpty(t, a.header.Get("X-Easel-Run"))
	var got struct {
		IDs, Kinds []string
		Requests   []struct {
			ID     string
			Status int
		}
		Code int
	}
	script(t, &got, "source.mjs", s.url+run.URL, s.key)
	require.Equal(t, 204, got.Code)
	require.Len(t, got.Requests, 2)
	require.Equal(t, 200, got.Requests[0].Status)
	last := got.IDs[len(got.IDs)-1]
	require.Equal(t, last, got.Requests[1].ID)
	require.Equal(t, "end", got.Kinds[len(got.Kinds)-1])
	seen := map[string]bool{}
	for _, id := range got.IDs {
		require.False(t, seen[id], "event %s arrived twice", id)
		seen[id] = true
	}
}
