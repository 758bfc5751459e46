package cli

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// served is `easel serve` running inside a test.
type served struct {
	t         *testing.T
	out, errs *servertest.Output
	url       string
	stop      func() error
}

// serve starts the command on a free port and an empty data directory. env are NAME=VALUE; the
// environment is empty otherwise.
func serve(t *testing.T, env []string, flags ...string) *served {
	t.Helper()
	return serveOn(t, func(*app) {}, env, flags...)
}

// serveOn is serve with a changed environment of the command, such as a terminal.
func serveOn(t *testing.T, change func(*app), env []string, flags ...string) *served {
	t.Helper()
	s := &served{t: t, out: &servertest.Output{}, errs: &servertest.Output{}}
	a := withEnv(t, s.out, s.errs, env)
	change(a)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	args := []string{"serve", "--addr", "127.0.0.1:0", "--sync", "interval"}
	if !slices.Contains(flags, "--data") {
		args = append(args, "--data", t.TempDir())
	}
	go func() { done <- a.dispatch(ctx, append(args, flags...)) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = s.stop() })
	require.Eventually(t, func() bool {
		select {
		case err := <-done:
			done <- err
			return true
		default:
			return strings.Contains(s.out.String(), "try: curl")
		}
	}, 2*time.Minute, 5*time.Millisecond)
	s.url = s.shown(`address: (\S+)`)
	return s
}

func withEnv(t *testing.T, out, errs io.Writer, env []string) *app {
	t.Helper()
	a, err := newApp(strings.NewReader(""), out, errs)
	require.NoError(t, err)
	a.getenv = func(name string) string {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}
	return a
}

// shown returns the output of the command.
func (s *served) shown(pattern string) string {
	s.t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(s.out.String())
	require.NotNil(s.t, found, "%s\n%s", s.out, s.errs)
	return found[1]
}

// file returns the content of a file that the command names, which only its owner can read.
func (s *served) file(pattern string) string {
	s.t.Helper()
	name := s.shown(pattern)
	info, err := os.Stat(name)
	require.NoError(s.t, err)
	require.Equal(s.t, os.FileMode(0o600), info.Mode().Perm(), name)
	text, err := os.ReadFile(name)
	require.NoError(s.t, err)
	require.NotContains(s.t, s.out.String()+s.errs.String(), strings.TrimSpace(string(text)))
	return strings.TrimSpace(string(text))
}

func (s *served) get(path, key string) (status int, body string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, string(text)
}

// pasted runs the printed curl line in a shell.
func (s *served) pasted() string {
	s.t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		s.t.Skip("curl is not installed")
	}
	out, err := exec.CommandContext(s.t.Context(), "sh", "-c", s.shown(`try: (curl .*)`)).Output()
	require.NoError(s.t, err)
	return string(out)
}

func TestServe(t *testing.T) {
	s := serve(t, nil)
	key := s.file(`key: see (\S+)\n`)
	require.Regexp(t, `^ragflow-\S{43}$`, key)
	for path, want := range map[string]int{
		"/readyz": 200, "/healthz": 200, "/metrics": 200,
		"/v1/canvas/templates": 200, "/nothing": 404,
	} {
		status, body := s.get(path, key)
		require.Equal(t, want, status, "%s: %s", path, body)
	}
	require.JSONEq(t, `{"code": 0, "data": []}`, s.pasted())
	require.NoError(t, s.stop())
}

// A start on a terminal prints the key, which a later one cannot, and a link to sign in.
func TestServeOnATerminal(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	terminal := func(a *app) { a.prints, a.page = true, true }
	link := `sign in: http://\S+/login\?once=(\S{26}) \(works once, within an hour\)\n`
	s := serveOn(t, terminal, nil, "--data", data, "--redis-door", "127.0.0.1:0")
	s.shown(`key: (ragflow-\S{43})\n`)
	s.shown(link)
	s.shown(`redis password: (\S{26})\n`)
	require.JSONEq(t, `{"code": 0, "data": []}`, s.pasted())
	require.NoError(t, s.stop())
	s = serveOn(t, terminal, nil, "--data", data)
	s.shown(`key: (as printed at the first start; set EASEL_API_KEY or --api-key-file to change it)\n`)
	s.shown(link)
	require.NoError(t, s.stop())
	for _, name := range []string{firstKeyFile, linkFile, redisFile} {
		require.NoFileExists(t, filepath.Join(data, name))
	}
}

// An output that is not a terminal, which a journal may collect, has the names of files instead of
// secrets.
func TestServePrintsNoSecretsToAPipe(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	built := func(a *app) { a.page = true }
	s := serveOn(t, built, nil, "--data", data, "--redis-door", "127.0.0.1:0")
	require.Equal(t, filepath.Join(data, firstKeyFile), s.shown(`key: see (\S+)\n`))
	key := s.file(`key: see (\S+)\n`)
	s.file(`redis password: see (\S+)\n`)
	const inFile = `sign in: the link in (\S+) works once, within an hour\n`
	link := s.file(inFile)
	require.Regexp(t, `^`+s.url+`/login\?once=\S{26}$`, link)
	require.NotContains(t, s.out.String(), "once=")
	require.JSONEq(t, `{"code": 0, "data": []}`, s.pasted())
	require.Equal(t, http.StatusSeeOther, open(t, link))
	require.NoFileExists(t, s.shown(inFile), "a used link")
	require.NoError(t, s.stop())

	s = serveOn(t, built, nil, "--data", data)
	require.Equal(t, key, s.file(`key: see (\S+)\n`))
	again := s.file(inFile)
	require.NotEqual(t, link, again)
	require.NoError(t, s.stop())
	require.NoFileExists(t, s.shown(inFile), "a link of a stopped host")

	require.NoError(t, os.WriteFile(filepath.Join(data, linkFile), []byte(again), 0o600)) // of a killed host
	s = serveOn(t, built, nil, "--data", data, "--print-link")
	s.shown(`sign in: (http://\S+/login\?once=\S{26}) \(works once, within an hour\)\n`)
	require.NoFileExists(t, filepath.Join(data, linkFile))
	require.NoError(t, s.stop())
}

// A program without the page has no use for a link to it.
func TestServeWithoutThePage(t *testing.T) {
	s := serveOn(t, func(a *app) { a.prints, a.page = true, false }, nil)
	s.shown(`page: (not in this program; run make page build/out/easel in the repository to build it in)\n`)
	require.NotContains(t, s.out.String(), "sign in")
	require.NoError(t, s.stop())
}

// open opens a link as a browser does and returns the status, without following redirects.
func open(t *testing.T, link string) int {
	req, err := http.NewRequestWithContext(t.Context(), "GET", link, nil)
	require.NoError(t, err)
	req.Header.Set("Sec-Fetch-Dest", "document")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-User", "?1")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// The examples answer the line that is printed, at the first start and at later ones.
func TestServeExamples(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "data", "key")
	flags := []string{
		"--data", filepath.Join(dir, "data"), "--api-key-file", keyFile, "--install-examples",
		"--examples", "../../examples/plugins", "--knowledge", "../../examples/knowledge",
	}
	for range 2 {
		s := serve(t, nil, flags...)
		s.file(`key: see (\S+)\n`)
		answer := s.pasted()
		require.Contains(t, answer, "thirty days")
		require.Contains(t, answer, `"event": "message"`)
		require.Contains(t, answer, "data:[DONE]")
		key, err := os.ReadFile(keyFile)
		require.NoError(t, err)
		_, body := s.get("/api/v1/agents", strings.TrimSpace(string(key)))
		require.Equal(t, 4, strings.Count(body, `"canvas_category"`), "shop, order, guide and stock")
		require.NoError(t, s.stop())
	}
	info, err := os.Stat(keyFile)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestServeRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte("abc"), 0o600))
	for _, c := range []struct {
		name  string
		env   []string
		flags []string
		want  string
	}{
		{"an argument after the flags", nil, []string{"more"}, `unexpected argument "more"`},
		{"an unknown flag", nil, []string{"--prot", "1"}, "-prot"},
		{"an unknown sync mode", nil, []string{"--sync", "sometimes"}, "always, contract or interval"},
		{"an unknown log format", nil, []string{"--log", "xml"}, "text or json"},
		{"an invalid variable", []string{"EASEL_LEASE=soon", "EASEL_RATE=x"}, nil, "EASEL_LEASE"},
		{"a short key", []string{"EASEL_API_KEY=secret"}, nil, "6 characters"},
		{"a key with spaces", []string{"EASEL_API_KEY=a key with some blanks"}, nil, "spaces"},
		{"a file with a short key", nil, []string{"--api-key-file", short}, "3 characters"},
		{"an address in use", nil, []string{"--addr", taken.Addr().String()}, "--addr chooses another"},
		{"an invalid address", nil, []string{"--addr", "nowhere"}, "missing port"},
		{"a data directory that is a file", nil, []string{"--data", short}, "short"},
		{"a documents folder that is a file", nil, []string{"--knowledge", short}, "short"},
		{"an examples folder that is a file", nil, []string{"--examples", short}, "short"},
		{
			"an invalid proxy", nil,
			[]string{"--trusted-proxy", "10.0.0.0/8,proxy"},
			`trusted proxy: "proxy": expected an address`,
		},
		{
			"a metrics address in use", nil,
			[]string{"--metrics-addr", taken.Addr().String()},
			"metrics: listen",
		},
		{"a negative lease", nil, []string{"--lease", "-1s"}, "--lease -1s: expected at least 100ms"},
		{
			"too short a lease",
			[]string{"EASEL_LEASE=1ms"},
			nil,
			"EASEL_LEASE=1ms: expected at least",
		},
		{
			"a negative retention", nil,
			[]string{"--keep-runs", "-1h"},
			"--keep-runs -1h0m0s: expected a duration such as",
		},
		{
			"replicas of the embedded server", nil,
			[]string{"--nats-replicas", "3"},
			"--nats-replicas 3: the embedded run log has one server",
		},
		{
			"replicas of the embedded server, by environment",
			[]string{"EASEL_NATS_REPLICAS=3"},
			nil,
			"EASEL_NATS_REPLICAS=3: the embedded run log has one server",
		},
		{
			"more replicas than NATS supports", nil,
			[]string{"--nats", "nats://u:hushhush@127.0.0.1:1", "--nats-replicas", "6"},
			"a number from 1 to 5",
		},
		{"a negative number of pages", nil, []string{"--pdf-pages", "-1"}, "--pdf-pages -1: expected a number"},
		{"a negative number of replicas", nil, []string{"--nats-replicas", "-1"}, "a number from 1 to 5"},
		{
			"credentials without a server",
			nil,
			[]string{"--nats-credentials", short},
			"--nats-credentials requires --nats",
		},
		{"a missing credentials file", nil, []string{
			"--nats", "nats://127.0.0.1:1", "--nats-credentials",
			"/nowhere/creds",
		}, "--nats-credentials: open /nowhere/creds"},
		{
			"a NATS URL with another scheme",
			nil,
			[]string{"--nats", "http://u:hushhush@127.0.0.1:1"},
			"got one with http://",
		},
		{
			"an empty element in a list", nil,
			[]string{"--nats", "nats://u:hushhush@127.0.0.1:1,,nats://127.0.0.1:2"},
			"--nats: empty element in the list",
		},
		{"an empty list", nil, []string{"--examples", ","}, "--examples: empty element"},
		{
			"a database URL with another scheme", nil,
			[]string{"--postgres", "mysql://u:hushhush@127.0.0.1/x"},
			"--postgres: expected an address such as postgres://USER@HOST/DATABASE, got one with mysql://",
		},
		{"an empty data directory", nil, []string{"--data", ""}, "--data: a directory is required"},
		{
			"remote access without a Redis listener", nil,
			[]string{"--redis-door-remote"},
			"--redis-door-remote requires --redis-door",
		},
		{
			"a Redis password without a Redis listener",
			[]string{"EASEL_REDIS_PASSWORD=hushhush"},
			[]string{"--redis", "redis://127.0.0.1:1"},
			"requires --redis-door",
		},
		{
			"an invalid address of the Redis listener",
			nil,
			[]string{"--redis-door", "here"},
			"--redis-door here: expected HOST:PORT",
		},
		{
			"two listeners at one address", nil,
			[]string{"--addr", "127.0.0.1:9999", "--metrics-addr", "127.0.0.1:9999"},
			"--metrics-addr 127.0.0.1:9999: --addr uses the same address",
		},
		{
			"two listeners at one address, by environment",
			[]string{"EASEL_METRICS_ADDR=127.0.0.1:9999"},
			[]string{"--redis-door", "127.0.0.1:9999"},
			"--redis-door 127.0.0.1:9999: EASEL_METRICS_ADDR uses the same address",
		},
		{
			"an empty element among origins",
			nil,
			[]string{"--cors", "none, https://a.example"},
			"none excludes other origins",
		},
		{
			"two API keys",
			[]string{"EASEL_API_KEY=0123456789abcdef"},
			[]string{"--api-key-file", short},
			"different keys",
		},
		{"an unknown signature policy", nil, []string{"--plugin-signatures", "maybe"}, "require, warn or off"},
		{
			"a Redis listener on every interface",
			nil,
			[]string{"--redis-door", "0.0.0.0:0"},
			"reachable from other machines",
		},
		{"an invalid Redis URL", nil, []string{"--redis", "http://u:hushhush@x"}, "redis://"},
		{
			"a database that does not answer",
			nil,
			[]string{"--postgres", "postgres://u:hushhush@127.0.0.1:1/x"},
			"127.0.0.1",
		},
		{"a missing model file", []string{"EASEL_MODEL_FILE=/nowhere/m.json"}, nil, "/nowhere/m.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs servertest.Output
			a := withEnv(t, &out, &errs, c.env)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := a.dispatch(ctx, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir()},
				c.flags...))
			require.ErrorContains(t, err, c.want)
			require.NoError(t, ctx.Err(), "it ended by itself")
			require.NotContains(t, err.Error()+out.String()+errs.String(), "hushhush")
		})
	}
}

// The environment sets flags; the command line wins.
func TestServeEnvironment(t *testing.T) {
	s := serve(t, []string{
		"EASEL_API_KEY=0123456789abcdef", "EASEL_ADDR=127.0.0.1:1", "EASEL_REDIS_DOOR=127.0.0.1:0",
		"EASEL_LOG=json",
	})
	require.NotContains(t, s.out.String(), "0123456789abcdef")
	s.shown(`redis door: (127.0.0.1:\d+)`)
	require.Regexp(t, `^\S{26}$`, s.file(`redis password: see (\S+)\n`))
	status, _ := s.get("/api/v1/agents", "0123456789abcdef")
	require.Equal(t, 200, status)
	require.NoError(t, s.stop())
	for line := range strings.Lines(s.errs.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, s.errs.String(), `"msg":"stopping"`)
}

// The operator is warned if other machines can reach the host.
func TestServeWarnsBeyondLoopback(t *testing.T) {
	s := serve(t, nil, "--addr", "0.0.0.0:0")
	require.Contains(t, s.errs.String(), "other machines can reach this address")
	require.True(t, strings.HasPrefix(s.url, "http://127.0.0.1:"), s.url)
	s.pasted()
}

// Every flag is on the help page with a description, and so is every variable without a flag.
func TestServeHelp(t *testing.T) {
	code, out, _ := easel(t, "serve", "--help")
	require.Equal(t, ExitOK, code)
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	serveCommand.setup(flags)
	flags.VisitAll(func(f *flag.Flag) {
		require.Contains(t, out, "--"+f.Name+" ")
		_, text := flag.UnquoteUsage(f)
		require.Greater(t, len(text), 10, f.Name)
	})
	for _, name := range []string{
		"EASEL_API_KEY", "EASEL_REDIS_PASSWORD", "EASEL_ADDR", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OPENAI_API_KEY",
	} {
		require.Contains(t, out, name)
	}
}

// A stopping server ends its streams and hands over its runs, which the next start on the same data
// completes.
func TestServeStopsAndContinuesRuns(t *testing.T) {
	asked, release := make(chan struct{}, 10), make(chan struct{})
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
			_, _ = io.WriteString(w, "at last")
		case <-r.Context().Done():
		}
	}))
	defer outside.Close()
	flags := []string{"--data", t.TempDir(), "--allow-private", "--lease", "1s"}
	env := []string{"EASEL_API_KEY=" + operatorKey}
	s := serve(t, env, flags...)
	canvas := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"c","dsl":`+sketch.Chain("begin Begin",
		`X Invoke {"url":"`+outside.URL+`/","method":"get","clean_html":false}`,
		`M Message {"content":["{X@result}"]}`)+`}`), "id")
	run := member(t, s.post("/api/v2/canvases/"+canvas+"/runs", operatorKey, `{}`), "id")
	<-asked
	read := make(chan string, 1)
	go func() {
		req, _ := http.NewRequestWithContext(context.Background(), "GET", s.url+"/api/v2/runs/"+run+"/events", nil)
		req.Header.Set("Authorization", "Bearer "+operatorKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			read <- err.Error()
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body) // cut off
		read <- string(text)
	}()
	require.NoError(t, s.stop())
	<-read

	s = serve(t, env, flags...)
	<-asked
	close(release)
	require.Eventually(t, func() bool {
		_, body := s.get("/api/v2/runs/"+run, operatorKey)
		return strings.Contains(body, `"status":"succeeded"`)
	}, 2*time.Minute, 20*time.Millisecond)
	_, text := s.get("/api/v2/runs/"+run+"/events", operatorKey)
	require.Contains(t, text, "at last")
}
