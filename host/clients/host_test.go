package clients

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bin is a directory for the built program.
var bin string

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "easel-clients-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(bin) // a temporary directory of this package
	os.Exit(code)
}

// easel builds the command once.
var easel = sync.OnceValues(func() (string, error) {
	const program = "github.com/easel-canvas/easel/host/cmd/easel"
	file := filepath.Join(bin, "easel")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	// As in servertest.Build: go run keeps the linked program in the build cache.
	args := []string{"run", "-exec", "cp", program, file}
	if runtime.GOOS == "windows" {
		args = []string{"build", "-o", file, program}
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return file, err
})

// packages installs the dependencies in package-lock.json unless they are installed.
var packages = sync.OnceValue(func() error {
	if installed() {
		return nil
	}
	ctx, done := context.WithTimeout(context.Background(), 10*time.Minute)
	defer done()
	out, err := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error").CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return nil
})

// installed reports whether node_modules has each package in the version of package.json: it may be
// older than the last package that was added.
func installed() bool {
	var wanted struct {
		DevDependencies map[string]string
	}
	text, err := os.ReadFile("package.json")
	if err != nil || json.Unmarshal(text, &wanted) != nil {
		return false
	}
	for name, version := range wanted.DevDependencies {
		var has struct{ Version string }
		text, err := os.ReadFile(filepath.Join("node_modules", name, "package.json"))
		if err != nil || json.Unmarshal(text, &has) != nil || has.Version != version {
			return false
		}
	}
	return true
}

// needNode skips the test without Node and installs the packages.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: clients from npm cannot run")
	}
	require.NoError(t, packages())
}

// start runs a program until the test ends and passes its output lines to each.
func start(t *testing.T, cmd *exec.Cmd, each func(line string)) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		in := bufio.NewScanner(out)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			each(in.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have exited already
		<-read
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(cmd.Path), stderr.String())
		}
	})
}

// await waits for a value from a started program.
func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s did not arrive", what)
		panic("unreachable")
	}
}

// server is a running host.
type server struct {
	t        *testing.T
	url, key string
}

// serve starts the real program with its own data directory. environment has the form NAME=value.
func serve(t *testing.T, environment []string, flags ...string) *server {
	t.Helper()
	file, err := easel()
	require.NoError(t, err)
	address, key := make(chan string, 1), "ragflow-"+rand.Text()
	cmd := exec.Command(file, append([]string{
		"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--sync",
		"interval",
	}, flags...)...)
	cmd.Dir = t.TempDir() // ignore a model configuration of this machine
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "EASEL_") && !strings.HasPrefix(v, "OPENAI_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "EASEL_API_KEY="+key), environment...)
	start(t, cmd, func(line string) {
		if v, ok := strings.CutPrefix(line, "address: "); ok {
			address <- v
		}
	})
	return &server{t, await(t, "the host's address", address), key}
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	text   []byte
}

// into decodes the response as JSON.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.text, v), "%s", a.text)
}

// call makes one request. A body that is not a string is sent as JSON.
func (s *server) call(method, path string, body any) answer {
	s.t.Helper()
	var send io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(s.t, err)
		send = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, send)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return answer{res.StatusCode, res.Header, text}
}

// canvas saves a document and returns its id.
func (s *server) canvas(title string, dsl any) string {
	s.t.Helper()
	var out struct {
		Code int
		Data struct{ ID string }
	}
	a := s.call("POST", "/v1/canvas/set", map[string]any{"title": title, "dsl": dsl})
	a.into(s.t, &out)
	require.Zero(s.t, out.Code, "%s", a.text)
	return out.Data.ID
}

// node returns one component of a document.
func node(name string, params map[string]any, down ...string) map[string]any {
	if down == nil {
		down = []string{}
	}
	return map[string]any{
		"obj": map[string]any{"component_name": name, "params": params}, "downstream": down,
		"upstream": []string{},
	}
}

func document(components map[string]any) map[string]any {
	return map[string]any{"components": components}
}

// echo is a canvas that replies with its query.
var echo = document(map[string]any{
	"begin":     node("Begin", map[string]any{"prologue": "Hi."}, "Message:A"),
	"Message:A": node("Message", map[string]any{"content": []string{"Du sagst: {sys.query} ✓"}}),
})

// script runs a program of this directory with Node and decodes its JSON output.
func script(t *testing.T, into any, arguments ...string) {
	t.Helper()
	program(t, into, append([]string{"node"}, arguments...)...)
}

// program runs a command and decodes its JSON output.
func program(t *testing.T, into any, command ...string) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	require.NoError(t, json.Unmarshal(out, into), "%s", out)
}
