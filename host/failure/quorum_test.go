package failure_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noQuorum leaves one of three NATS servers. New work is refused immediately, in every dialect,
// with Retry-After; the active run waits, and continues when the others are back.
func noQuorum(t *testing.T, bin programs) {
	w := shared(t, bin, 3)
	h := w.start("a")
	arrived, release := w.outside.hold("/quorum/4")
	c := w.conversation(h, "quorum")
	<-arrived
	begun, let := w.outside.hold("/victim/2")
	victim := w.run(h, c.canvas, "", "victim")
	<-begun
	for _, n := range w.nats[1:] {
		n.Kill()
	}
	release()
	var clients sync.WaitGroup
	openai := `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}`
	ragflow := `{"agent_id":"` + c.canvas + `","query":"x","stream":true}`
	for path, body := range map[string]string{
		"/api/v2/canvases/" + c.canvas + "/runs":                  `{"query":"x"}`,
		"/api/v1/agents/" + c.canvas + "/completions":             `{"question":"x","stream":true}`,
		"/0.27/api/v1/agents/chat/completions":                    ragflow,
		"/v1/canvas/completion":                                   `{"id":"` + c.canvas + `","query":"x"}`,
		"/api/v1/agents_openai/" + c.canvas + "/chat/completions": openai,
		"/api/v2/runs/" + victim + "/cancel":                      `{}`,
	} {
		clients.Go(func() {
			got := w.post(h.url+path, body)
			if got.err != nil || got.status != http.StatusServiceUnavailable || got.wait <= 0 ||
				!strings.Contains(got.text, "its run log does not answer") {
				t.Errorf("%s: %+v", path, got)
			}
			if got.took > 25*time.Second {
				t.Errorf("%s took %v: that is not at once", path, got.took)
			}
		})
	}
	clients.Wait()
	for _, n := range w.nats[1:] {
		require.NoError(t, n.Restart())
	}
	c.requireDone()
	let() // the cancel may have arrived first and ended it
	require.Eventually(t, func() bool {
		status, _ := w.status(victim)
		return status == "succeeded" || status == "canceled"
	}, patience, 50*time.Millisecond)
	w.run(h, c.canvas, "", "again")
}

// refusal is the response to a refused request.
type refusal struct {
	status int
	wait   int // seconds of Retry-After; 0 without one
	text   string
	took   time.Duration
	err    error
}

// post sends a body to a host.
func (w *world) post(url, body string) (r refusal) {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return refusal{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return refusal{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	after, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 without the header
	return refusal{status: res.StatusCode, wait: after, text: string(text), err: err}
}
