package failure_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// cancelOnAllWays stops runs in the middle of a model's answer: through the API of another host,
// through the Redis endpoint of another host, and through an existing Redis.
func cancelOnAllWays(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	server, client := startRedis(t)
	a := w.start("a", "--redis", server)
	w.env = append(w.env, "EASEL_REDIS_PASSWORD=door") // of a host that has a door
	b := w.start("b", "--redis-door", "127.0.0.1:0")
	address, err := b.Line("redis door: ")
	require.NoError(t, err)
	door := redis.NewClient(&redis.Options{Addr: address, Password: "door"})
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	canvas := w.canvas(talk)
	for _, way := range []struct {
		name   string
		cancel func(run string) error
	}{
		{"api", func(run string) error {
			var r struct{}
			_, err := w.try(t.Context(), "POST", b.url+"/api/v2/runs/"+run+"/cancel", "", &r)
			return err
		}},
		{"door", func(run string) error { return door.Set(t.Context(), run+"-cancel", "x", 0).Err() }},
		{"bridge", func(run string) error { return client.Set(t.Context(), run+"-cancel", "x", 0).Err() }},
	} {
		best := patience
		for range 5 {
			best = min(best, w.cancel(a, canvas, way.cancel))
		}
		t.Logf("%s: %v from the request to the last event", way.name, best)
		// The best of five, because the machine may be busy.
		require.Less(t, best, 100*time.Millisecond, way.name)
	}
}

// cancel starts a run whose model never ends, cancels it in the middle and returns the time until
// the reader received its event.
func (w *world) cancel(h *hostProcess, canvas string, cancel func(run string) error) time.Duration {
	t := w.t
	t.Helper()
	run := w.run(h, canvas, "", "endless")
	words := make(chan struct{}, 1)
	var finished time.Time
	r := w.follow(run, 0, func(e event) {
		switch e.kind {
		case "message":
			select {
			case words <- struct{}{}:
			default:
			}
		case "workflow_finished":
			require.Contains(t, e.data, "has been canceled")
			finished = time.Now()
		}
	})
	<-words
	began := time.Now()
	require.NoError(t, cancel(run))
	r.wait()
	status, _ := w.status(run)
	require.Equal(t, "canceled", status)
	return finished.Sub(began)
}

// startRedis runs Debian's redis-server.
func startRedis(t testing.TB) (url string, client *redis.Client) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("install Debian's redis-server to test with the real one")
	}
	port, err := servertest.FreePort()
	require.NoError(t, err)
	p, err := servertest.Start(
		exec.Command(program, "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--save", "", "--dir", t.TempDir()),
	)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	url = fmt.Sprintf("redis://127.0.0.1:%d/0", port)
	client = redis.NewClient(&redis.Options{Addr: strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0")})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, patience, 10*time.Millisecond)
	return url, client
}
