package redisdoor

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// find returns the path of a program of Debian's redis packages.
func find(t testing.TB, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip("install Debian's redis-server and redis-tools to test with the real ", program)
	}
	return path
}

// cli runs redis-cli against the door.
func cli(t testing.TB, d *Door, args ...string) string {
	host, port, err := net.SplitHostPort(d.Addr().String())
	require.NoError(t, err)
	args = append([]string{"-h", host, "-p", port, "-a", "pw", "--no-auth-warning"}, args...)
	out, err := exec.Command(find(t, "redis-cli"), args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

func TestRedisCLICancelsARun(t *testing.T) {
	nats := logtest.Open(t, broker.Config{})
	l, d := nats.Log, openDoor(t, Config{Keys: nats.Keys, Password: "pw"})
	e, err := l.Claim(t.Context(), runlog.Run{ID: "task1"})
	require.NoError(t, err)
	require.Equal(t, "OK", cli(t, d, "SET", "task1-cancel", "x"))
	<-e.Context().Done()
	require.ErrorIs(t, context.Cause(e.Context()), runlog.ErrCanceled)
	require.NoError(t, e.End(t.Context()))
	require.Equal(t, "", cli(t, d, "GET", "task1-cancel"), "the cancel key is deleted with the run")

	began := time.Now()
	require.NoError(t, nats.Keys.Put(t.Context(), "task1-m1-logs", []byte(`[{"trace":[]}]`), 10*time.Minute))
	require.Equal(t, `[{"trace":[]}]`, cli(t, d, "GET", "task1-m1-logs"))
	ttl := cli(t, d, "TTL", "task1-m1-logs")
	require.Equal(t, ":600", normalizeTTL(":600", ":"+ttl, time.Since(began)))
	require.Equal(t, "1", cli(t, d, "DEL", "task1-m1-logs"))
}

func TestGoRedisAgainstTheDoor(t *testing.T) {
	d := openDoor(t, Config{Keys: logtest.Open(t, broker.Config{}).Keys, Password: "pw"})
	c := redis.NewClient(&redis.Options{Addr: d.Addr().String(), Password: "pw"})
	defer c.Close()
	require.NoError(t, c.Set(t.Context(), "a-logs", "v", time.Minute).Err())
	v, err := c.Get(t.Context(), "a-logs").Result()
	require.NoError(t, err)
	require.Equal(t, "v", v)
	require.ErrorIs(t, c.Get(t.Context(), "b-logs").Err(), redis.Nil)
	done, err := c.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Set(t.Context(), "c-logs", "w", time.Minute)
		p.Get(t.Context(), "c-logs")
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "w", done[1].(*redis.StringCmd).Val())
}

// startRedis runs Debian's redis-server on a loopback port.
func startRedis(t testing.TB, port int, args ...string) (stop func()) {
	cmd := exec.Command(find(t, "redis-server"), append([]string{
		"--bind", "127.0.0.1", "--port", fmt.Sprint(port),
		"--save", "", "--dir", t.TempDir(),
	}, args...)...)
	require.NoError(t, cmd.Start())
	stop = func() {
		// It may have exited already.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	c := redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", port)})
	defer c.Close()
	require.Eventually(t, func() bool { return c.Ping(t.Context()).Err() == nil }, patience, 10*time.Millisecond)
	return stop
}

func freePort(t testing.TB) int {
	port, err := servertest.FreePort()
	require.NoError(t, err)
	return port
}

// watch starts b.Watch; end stops it.
func watch(t *testing.T, b *Bridge) (end func()) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Watch(ctx)
	}()
	return func() {
		stop()
		<-done
	}
}

func TestBridge(t *testing.T) {
	for _, way := range []struct {
		name  string
		args  []string
		flags string // notify-keyspace-events of the server afterwards
	}{
		{"by notifications", []string{"--notify-keyspace-events", "Ex"}, "K$"},
		{"by polling where CONFIG is forbidden", []string{"--rename-command", "CONFIG", ""}, ""},
	} {
		t.Run(way.name, func(t *testing.T) {
			l, port := logtest.Open(t, broker.Config{}).Log, freePort(t)
			stop := startRedis(t, port, way.args...)
			c := redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", port)})
			defer c.Close()
			before, err := l.Claim(t.Context(), runlog.Run{ID: "before"})
			require.NoError(t, err)
			require.NoError(t, c.Set(t.Context(), "before-cancel", "x", 0).Err())

			b, err := NewBridge(BridgeConfig{URL: fmt.Sprintf("redis://127.0.0.1:%d/0", port), Runs: l, Log: quiet})
			require.NoError(t, err)
			end := watch(t, b)
			<-before.Context().Done()
			if way.flags != "" {
				now, err := c.ConfigGet(t.Context(), "notify-keyspace-events").Result()
				require.NoError(t, err)
				for _, flag := range "K$Ex" {
					require.Contains(t, now["notify-keyspace-events"], string(flag))
				}
			}

			var took []time.Duration
			for i := range 20 {
				id := fmt.Sprint("r", i)
				e, err := l.Claim(t.Context(), runlog.Run{ID: id})
				require.NoError(t, err)
				begin := time.Now()
				require.NoError(t, c.Set(t.Context(), id+"-cancel", "x", time.Minute).Err())
				<-e.Context().Done()
				took = append(took, time.Since(begin))
				require.ErrorIs(t, context.Cause(e.Context()), runlog.ErrCanceled)
				require.NoError(t, e.End(t.Context()))
			}
			slices.Sort(took)
			t.Logf("cancel seen after %v (median), %v (slowest)", took[10], took[19])

			began := time.Now()
			require.NoError(t, b.Put(t.Context(), "r1-m1-logs", []byte("[]"), 10*time.Minute))
			ttl, err := c.PTTL(t.Context(), "r1-m1-logs").Result()
			require.NoError(t, err)
			require.LessOrEqual(t, ttl, 10*time.Minute)
			require.GreaterOrEqual(t, ttl, 10*time.Minute-time.Since(began)-time.Millisecond)
			require.NoError(t, b.Delete(t.Context(), "r1-cancel"))

			// The server is restarted.
			stop()
			after, err := l.Claim(t.Context(), runlog.Run{ID: "after"})
			require.NoError(t, err)
			startRedis(t, port, way.args...)
			require.NoError(t, c.Set(t.Context(), "after-cancel", "x", 0).Err())
			<-after.Context().Done()
			end()
			require.NoError(t, b.Close())
		})
	}
}

// reluctantRuns is a run log that fails the first two calls of Cancel.
type reluctantRuns struct {
	calls    atomic.Int32
	canceled chan string
}

func (r *reluctantRuns) Tasks() []string { return []string{"r"} }

func (r *reluctantRuns) Cancel(_ context.Context, task string) error {
	if r.calls.Add(1) < 3 {
		return broker.ErrUnavailable
	}
	r.canceled <- task
	return nil
}

// A cancel that the run log refuses is retried.
func TestBridgeRetriesACancel(t *testing.T) {
	for name, args := range map[string][]string{
		"by notifications": nil,
		"by polling":       {"--rename-command", "CONFIG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			port := freePort(t)
			startRedis(t, port, args...)
			c := redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", port)})
			defer c.Close()
			runs := &reluctantRuns{canceled: make(chan string, 100)}
			b, err := NewBridge(BridgeConfig{URL: fmt.Sprintf("redis://127.0.0.1:%d/0", port), Runs: runs, Log: quiet})
			require.NoError(t, err)
			end := watch(t, b)
			require.NoError(t, c.Set(t.Context(), "r-cancel", "x", 0).Err())
			select {
			case task := <-runs.canceled:
				require.Equal(t, "r", task)
			case <-time.After(patience):
				require.FailNow(t, "the cancel was not retried")
			}
			end()
			require.NoError(t, b.Close())
		})
	}
}

func TestBridgeHidesThePassword(t *testing.T) {
	_, err := NewBridge(BridgeConfig{URL: "redis://user:hidden@host:not-a-port/0"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hidden")
}

// A wrong password is logged, and nothing is polled.
func TestBridgeWithAWrongPassword(t *testing.T) {
	port := freePort(t)
	startRedis(t, port)
	c := redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", port)})
	defer c.Close()
	require.NoError(t, c.ConfigSet(t.Context(), "requirepass", "right").Err())

	logged := make(chan string, 1)
	b, err := NewBridge(BridgeConfig{
		URL:  fmt.Sprintf("redis://:hidden@127.0.0.1:%d/0", port),
		Runs: logtest.Open(t, broker.Config{}).Log, Log: slog.New(slog.NewTextHandler(firstLine(logged), nil)),
	})
	require.NoError(t, err)
	end := watch(t, b)
	line := <-logged
	require.Contains(t, line, "WRONGPASS")
	require.NotContains(t, line, "hidden")
	end()
	require.NoError(t, b.Close())
}

// firstLine sends the first line of a log to the channel.
type firstLine chan string

func (f firstLine) Write(p []byte) (int, error) {
	select {
	case f <- string(p):
	default:
	}
	return len(p), nil
}
