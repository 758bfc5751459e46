package failure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The failure tests run the command easel, NATS and PostgreSQL as processes and kill, freeze and
// disconnect them. Every test requires that each step is in the log once, and that no acknowledged
// data is lost.

// patience bounds every wait, with a wide margin for slow machines.
const patience = 3 * time.Minute

// lease is short, so that takeovers are fast.
const lease = 2 * time.Second

// programs are built once for all failure tests.
type programs struct{ easel, nats string }

func buildPrograms(t testing.TB) programs {
	dir := t.TempDir()
	easel, err := servertest.Build(dir, "../cmd/easel")
	require.NoError(t, err)
	nats, err := servertest.Build(dir, servertest.NATSPackage)
	require.NoError(t, err)
	return programs{easel, nats}
}

// worldKey is the API key of every world.
const worldKey = "ragflow-failure-tests"

// world is one set of servers with the hosts that share them.
type world struct {
	t    testing.TB
	bin  programs
	dir  string
	key  string
	args []string // of each host
	env  []string // of each host

	outside  *outside
	nats     []*servertest.NATS
	postgres *servertest.Postgres

	mu    sync.Mutex
	hosts map[string]*hostProcess // those that run, by name
	all   []*hostProcess
}

// hostProcess is one `easel serve`.
type hostProcess struct {
	*servertest.Process
	name, url string
}

// embedded returns a world of one host that keeps everything in one directory.
func embedded(t testing.TB, bin programs) *world {
	w := &world{
		t:       t,
		bin:     bin,
		dir:     t.TempDir(),
		key:     worldKey,
		outside: newOutside(t),
		hosts:   map[string]*hostProcess{},
	}
	w.args = []string{"--data", filepath.Join(w.dir, "data"), "--lease", lease.String()}
	w.env = append(
		w.env,
		"EASEL_MODEL_BASE_URL="+w.outside.url+"/v1",
		"EASEL_MODEL_KEY=none",
		"EASEL_MODEL_DEFAULT=talker",
	)
	t.Cleanup(func() {
		if t.Failed() {
			for _, h := range w.all {
				if os.Getenv("EASEL_TEST_STACKS") != "" {
					_ = h.Signal(syscall.SIGQUIT)
					time.Sleep(time.Second)
				}
				t.Logf("%s printed:\n%s", h.name, h.Output())
			}
		}
	})
	return w
}

// shared returns a world of hosts on NATS, of one server or of three that store everything three
// times, and PostgreSQL.
func shared(t testing.TB, bin programs, natsServers int) *world {
	w := embedded(t, bin)
	var err error
	if natsServers == 1 {
		n, err := servertest.StartNATS(bin.nats, w.dir)
		require.NoError(t, err)
		w.nats = append(w.nats, n)
	} else {
		w.nats, err = servertest.StartCluster(bin.nats, w.dir)
		require.NoError(t, err)
	}
	w.postgres, err = servertest.StartPostgres()
	if err == servertest.ErrNoPostgres {
		t.Skip("PostgreSQL cannot be had here: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		for i, n := range w.nats {
			n.Kill()
			if t.Failed() {
				said := n.Output()
				t.Logf("NATS server %d printed at last:\n%s", i, said[max(0, len(said)-8_000):])
			}
		}
		require.NoError(t, w.postgres.Remove())
	})
	w.share()
	return w
}

// share configures hosts with the world's servers.
func (w *world) share() {
	w.args = []string{
		"--nats", strings.Join(w.natsURLs(), ","), "--nats-replicas", strconv.Itoa(len(w.nats)),
		"--postgres", w.postgres.URL,
		"--key-file", filepath.Join(w.dir, "secret.key"), "--lease", lease.String(),
	}
}

func (w *world) natsURLs() (urls []string) {
	for _, n := range w.nats {
		urls = append(urls, n.URL)
	}
	return urls
}

// command returns the command line that starts a host.
func (w *world) command(name string, args ...string) *exec.Cmd {
	all := append([]string{"serve", "--addr", "127.0.0.1:0", "--allow-private"}, w.args...)
	if w.nats != nil {
		all = append(all, "--data", filepath.Join(w.dir, name))
	}
	cmd := exec.Command(w.bin.easel, append(all, args...)...)
	cmd.Env = append(append(os.Environ(), "EASEL_API_KEY="+w.key), w.env...)
	return cmd
}

// start runs a host; one of the same name must have been killed.
func (w *world) start(name string, args ...string) *hostProcess {
	w.t.Helper()
	p, err := servertest.Start(w.command(name, args...))
	require.NoError(w.t, err)
	w.t.Cleanup(p.Kill)
	url, err := p.Line("address: ")
	require.NoError(w.t, err)
	h := &hostProcess{p, name, url}
	w.all = append(w.all, h)
	w.show(h)
	return h
}

// kill kills a host with SIGKILL.
func (w *world) kill(h *hostProcess) {
	w.hide(h)
	h.Kill()
}

// hide removes a host from those of the clients, as a load balancer does with one that does not
// answer.
func (w *world) hide(h *hostProcess) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hosts, h.name)
}

func (w *world) show(h *hostProcess) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[h.name] = h
}

// urls returns those of the hosts that run, in no order.
func (w *world) urls() (urls []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hosts {
		urls = append(urls, h.url)
	}
	return urls
}

// any returns the address of a host that runs.
func (w *world) any() string {
	urls := w.urls()
	require.NotEmpty(w.t, urls, "no host runs")
	return urls[0]
}

// owner returns the host that works on the only run.
func (w *world) owner() *hostProcess {
	w.t.Helper()
	var found *hostProcess
	require.Eventually(w.t, func() bool {
		w.mu.Lock()
		hosts := slices.Collect(maps.Values(w.hosts))
		w.mu.Unlock()
		for _, h := range hosts {
			if metric(h.url, "easel_runs_active") > 0 {
				found = h
				return true
			}
		}
		return false
	}, patience, 20*time.Millisecond, "no host works on the run")
	return found
}

// metric reads one number of a host; -1 when it does not answer. Frozen hosts are not queried.
func metric(url, name string) float64 {
	req, err := http.NewRequest("GET", url+"/metrics", nil)
	if err != nil {
		return -1
	}
	req.Header.Set("Authorization", "Bearer "+worldKey)
	client := http.Client{Timeout: patience / 3}
	res, err := client.Do(req)
	if err != nil {
		return -1
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return -1
			}
			return n
		}
	}
	return -1
}

// try sends a request to a host; a response other than success is an error with its text. into may
// be nil.
func (w *world) try(ctx context.Context, method, url, body string, into any) (status int, err error) {
	return w.tryAs(ctx, w.key, method, url, body, into)
}

func (w *world) tryAs(ctx context.Context, key, method, url, body string, into any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode >= 300 {
		return res.StatusCode, fmt.Errorf("%s %s: %d %s", method, url, res.StatusCode, bytes.TrimSpace(data))
	}
	if into == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(data, into)
}

// call sends a request to a host and requires success.
func (w *world) call(method, url, body string, into any) {
	w.t.Helper()
	_, err := w.try(w.t.Context(), method, url, body, into)
	require.NoError(w.t, err)
}

// canvas stores a canvas and returns its id.
func (w *world) canvas(dsl string) string {
	w.t.Helper()
	var c struct{ ID string }
	w.call("POST", w.any()+"/api/v2/canvases", `{"title":"c","dsl":`+dsl+`}`, &c)
	return c.ID
}

func (w *world) session(canvas string) string {
	w.t.Helper()
	var s struct{ ID string }
	w.call("POST", w.any()+"/api/v2/canvases/"+canvas+"/sessions", `{}`, &s)
	return s.ID
}

// run starts a run on a host, which then owns it.
func (w *world) run(h *hostProcess, canvas, session, query string) string {
	w.t.Helper()
	var r struct{ ID string }
	body := fmt.Sprintf(`{"query":%q,"session":%q}`, query, session)
	if session == "" {
		body = fmt.Sprintf(`{"query":%q}`, query)
	}
	require.NoError(w.t, w.insist(w.t.Context(), h.url+"/api/v2/canvases/"+canvas+"/runs", body, &r))
	return r.ID
}

// insist posts to a host and repeats requests that are refused with Retry-After, while NATS elects
// a leader or a disk does not respond.
func (w *world) insist(ctx context.Context, url, body string, into any) error {
	for late := time.Now().Add(patience); ; {
		status, err := w.try(ctx, "POST", url, body, into)
		if status != http.StatusServiceUnavailable || time.Now().After(late) ||
			pauseFor(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// status returns the status of a run by its records.
func (w *world) status(run string) (status, problem string) {
	w.t.Helper()
	var r struct{ Status, Error string }
	w.call("GET", w.any()+"/api/v2/runs/"+run, "", &r)
	return r.Status, r.Error
}

// turns returns the messages of a session and its number of rounds.
func (w *world) turns(canvas, session string) (messages []string, rounds int) {
	w.t.Helper()
	var list struct {
		Data []struct {
			Messages []struct{ Content string }
			Round    int
		}
	}
	w.call("GET", w.any()+"/api/v1/agents/"+canvas+"/sessions?id="+session, "", &list)
	require.Len(w.t, list.Data, 1)
	for _, m := range list.Data[0].Messages {
		messages = append(messages, m.Content)
	}
	return messages, list.Data[0].Round
}
