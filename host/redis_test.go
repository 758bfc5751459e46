package host

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The limit of waits on a busy machine, and the polling interval.
const (
	patience = 3 * time.Minute
	poll     = 10 * time.Millisecond
)

var quiet = slog.New(slog.DiscardHandler)

// open opens a host inside the test, with the key that call uses.
func open(t *testing.T, cfg Config) (*Host, string) {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Key, cfg.Sync, cfg.Log = "key", SyncInterval, quiet
	h, err := New(t.Context(), cfg)
	require.NoError(t, err)
	url, done := serving(h)
	t.Cleanup(func() {
		done()
		require.NoError(t, h.Close())
	})
	return h, url
}

// serving answers requests for a host until done.
func serving(h *Host) (url string, done func()) {
	server := httptest.NewServer(h.Handler())
	return server.URL, func() {
		server.CloseClientConnections()
		server.Close()
	}
}

// httpServer returns a site that canvases and plugins reach.
func httpServer(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// program returns the path of a program of Debian's redis packages.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("install Debian's redis-server and redis-tools to test with the real ", name)
	}
	return path
}

// redisCLI runs redis-cli against a server.
func redisCLI(t *testing.T, addr, password string, args ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	cmd := exec.Command(program(t, "redis-cli"), append([]string{"-h", host, "-p", port}, args...)...)
	cmd.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// redisServer runs Debian's redis-server on loopback until the test ends.
func redisServer(t *testing.T) (addr string) {
	t.Helper()
	port, err := servertest.FreePort()
	require.NoError(t, err)
	addr = fmt.Sprint("127.0.0.1:", port)
	cmd := exec.Command(program(t, "redis-server"), "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--save", "",
		"--dir", t.TempDir(), "--requirepass", "word")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		return c.Close() == nil
	}, patience, poll)
	return addr
}

// silent returns a server that takes requests and never answers.
func silent(t *testing.T) (url string, asked <-chan struct{}) {
	t.Helper()
	got := make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// begun starts a run of a canvas and returns its id and message id.
func begun(t *testing.T, url, dsl, query string) (run, message string) {
	t.Helper()
	var canvas struct{ ID string }
	call(t, "POST", url+"/api/v2/canvases", `{"title":"c`+fmt.Sprint(time.Now().UnixNano())+`","dsl":`+dsl+`}`, &canvas)
	var r struct{ ID, Message string }
	q, err := json.Marshal(query)
	require.NoError(t, err)
	call(t, "POST", url+"/api/v2/canvases/"+canvas.ID+"/runs", `{"query":`+string(q)+`}`, &r)
	return r.ID, r.Message
}

// status returns the final status of a run.
func status(t *testing.T, url, run string) string {
	t.Helper()
	events(t, url+"/api/v2/runs/"+run+"/events", "", func(e event) bool { return e.kind == "end" })
	var r struct{ Status string }
	require.Eventually(t, func() bool {
		call(t, "GET", url+"/api/v2/runs/"+run, "", &r)
		return r.Status != "running"
	}, patience, poll)
	return r.Status
}

// TestRedisKeys controls runs with the real redis-cli: through the endpoint of the host, and
// through the bridge to the real redis-server.
func TestRedisKeys(t *testing.T) {
	for _, way := range []string{"door", "bridge"} {
		t.Run(way, func(t *testing.T) {
			program(t, "redis-cli")
			cfg := Config{AllowPrivate: true}
			var addr, password string
			if way == "door" {
				cfg.RedisDoor = "127.0.0.1:0"
			} else {
				addr, password = redisServer(t), "word"
				cfg.Redis = "redis://:word@" + addr + "/0"
			}
			h, url := open(t, cfg)
			if way == "door" {
				addr, password = h.RedisDoor(), h.RedisKey
				require.NotEmpty(t, password)
				require.Contains(t, redisCLI(t, addr, "wrong", "GET", "a-logs"), "WRONGPASS")
				require.Contains(t, redisCLI(t, addr, "", "GET", "a-logs"), "NOAUTH")
			}

			hangs, asked := silent(t)
			dsl := sketch.Chain("begin Begin", `Invoke:X Invoke {"url":"`+hangs+`/","method":"get"}`)
			best := patience
			for range 5 {
				run, _ := begun(t, url, dsl, "q")
				<-asked
				began := time.Now()
				require.Equal(t, "OK", redisCLI(t, addr, password, "SET", run+"-cancel", "x"))
				set := time.Since(began)
				require.Equal(t, "canceled", status(t, url, run))
				best = min(best, time.Since(began)-set)
				require.Eventually(t, func() bool { return redisCLI(t, addr, password, "GET", run+"-cancel") == "" },
					patience, poll, "the mark goes with the run")
			}
			t.Logf("the end of the run came %v after redis-cli", best)
			// The best of five, because the machine may be busy.
			require.Less(t, best, 500*time.Millisecond, "some 1 ms here")

			guide, err := examples.ReadFile("examples/guide.json")
			require.NoError(t, err)
			run, message := begun(t, url, string(guide), "Which shoes for a wet trail?")
			require.Equal(t, "succeeded", status(t, url, run))
			var trace string
			require.Eventually(t, func() bool {
				trace = redisCLI(t, addr, password, "GET", run+"-"+message+"-logs")
				return strings.Contains(trace, "search_guides") && strings.Contains(trace, "search_shop")
			}, patience, poll)
			require.Eventually(t, func() bool { return redisCLI(t, addr, password, "GET", run+"-logs") == trace },
				patience, poll, "one key is written after the other")
			var list []struct {
				Component string `json:"component_id"`
				Trace     []struct {
					Tool string `json:"tool_name"`
					Path string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(trace), &list))
			require.Equal(t, "Agent:Guide", list[0].Component)
			var seconds int
			_, err = fmt.Sscan(redisCLI(t, addr, password, "TTL", run+"-"+message+"-logs"), &seconds)
			require.NoError(t, err)
			require.LessOrEqual(t, seconds, 600)
			require.Greater(t, seconds, 400)
		})
	}
}

// TestRedisDoorIsGuarded checks the protection against unauthorised clients.
func TestRedisDoorIsGuarded(t *testing.T) {
	_, err := New(t.Context(), Config{Dir: t.TempDir(), RedisDoor: "0.0.0.0:0", Log: quiet})
	require.ErrorContains(t, err, "reachable from other machines")
	_, err = New(t.Context(), Config{Dir: t.TempDir(), Redis: "http://:secretword@x", Log: quiet})
	require.ErrorContains(t, err, "redis bridge")
	require.NotContains(t, err.Error(), "secretword")

	dir := t.TempDir()
	h, err := New(t.Context(), Config{Dir: dir, RedisDoor: "127.0.0.1:0", Log: quiet})
	require.NoError(t, err)
	require.NotEmpty(t, h.RedisKey)
	require.NoError(t, h.Close())
	h, err = New(t.Context(), Config{Dir: dir, RedisDoor: "127.0.0.1:0", Log: quiet})
	require.NoError(t, err)
	require.Empty(t, h.RedisKey, "the password is kept and shown once")
	require.NoError(t, h.Close())
}
