package host_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noQuorum leaves one of three NATS servers. Who wants something new hears at once, in every dialect, when to come
// again; the run under way waits, and goes on when the others are back.
func noQuorum(t *testing.T, bin programs) {
	w := shared(t, bin, 3)
	h := w.start("a")
	arrived, release := w.outside.hold("/quorum/4")
	c := w.conversation(h, "quorum")
	<-arrived
	for _, n := range w.nats[1:] {
		n.Kill()
	}
	release()
	for path, body := range map[string]string{
		"/api/v2/canvases/" + c.canvas + "/runs":                  `{"query":"x"}`,
		"/api/v1/agents/" + c.canvas + "/completions":             `{"question":"x","stream":true}`,
		"/0.27/api/v1/agents/chat/completions":                    `{"agent_id":"` + c.canvas + `","query":"x","stream":true}`,
		"/v1/canvas/completion":                                   `{"id":"` + c.canvas + `","query":"x"}`,
		"/api/v1/agents_openai/" + c.canvas + "/chat/completions": `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}`,
		"/api/v2/runs/" + c.run + "/cancel":                       `{}`,
	} {
		began := time.Now()
		status, after, text := w.post(h.url+path, body)
		require.Equal(t, http.StatusServiceUnavailable, status, "%s: %s", path, text)
		require.Less(t, time.Since(began), 25*time.Second, "%s: an election would be waited for longer", path)
		wait, err := strconv.Atoi(after)
		require.NoError(t, err, "%s: Retry-After", path)
		require.Positive(t, wait)
		require.Contains(t, text, "its run log does not answer", path)
	}
	for _, n := range w.nats[1:] {
		require.NoError(t, n.Restart())
	}
	c.requireDone()
	require.Eventually(t, func() bool {
		status, _, _ := w.post(h.url+"/api/v2/canvases/"+c.canvas+"/runs", `{"query":"again"}`)
		return status == http.StatusAccepted
	}, patience, 500*time.Millisecond, "new work is taken again")
}

// post asks a host with a body and gives what a client sees of a refusal.
func (w *world) post(url, body string) (status int, retryAfter, text string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", url, strings.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	return res.StatusCode, res.Header.Get("Retry-After"), string(data)
}
