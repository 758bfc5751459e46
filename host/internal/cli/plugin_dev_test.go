package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watched is a stream of lines that a test waits for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.text.Write(p)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// until waits for a text that is written n times.
func (w *watched) until(t *testing.T, text string, n int) {
	t.Helper()
	late := time.After(3 * time.Minute)
	for {
		seen := w.seen()
		if strings.Count(seen, text) >= n {
			return
		}
		select {
		case <-w.more:
		case <-late:
			t.Fatalf("no %q (%d times) in %q", text, n, seen)
		}
	}
}

// seen returns the text written so far.
func (w *watched) seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestPluginDevSwapsWhileACallRuns has a folder whose build uses the module named in the file
// choice.
func TestPluginDevSwapsWhileACallRuns(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	reached, release := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer service.Close()
	manifest := `{"abi":1,"name":"sample","version":"1.0.0","description":"A ` +
		`sample.","permissions":{"http":{"hosts":["127.0.0.1"],"private":true,"reason":"waits"}}}`
	write("manifest.json", manifest)
	write("old.bin", string(sample(t, "old", `{"op":"http.fetch","args":{"url":"`+service.URL+`"}}`, manifest)))
	write("new.bin", string(sample(t, "new", "{}", manifest)))
	write("build.sh", `cp "$(cat choice).bin" plugin.wasm`)
	write("choice", "old")
	in, lines := io.Pipe()
	out, errs := &watched{more: make(chan struct{}, 1)}, &watched{more: make(chan struct{}, 1)}
	done := make(chan int)
	go func() {
		done <- Main([]string{"plugin", "dev", dir, "--allow-http", "127.0.0.1", "--allow-private"}, in, out, errs)
	}()

	errs.until(t, "is ready", 1)
	_, err := io.WriteString(lines, "{}\n")
	require.NoError(t, err)
	<-reached               // the call runs in the old module, and waits
	write("choice", "new!") // a build that fails changes nothing
	errs.until(t, "exit status 1", 1)
	write("choice", "new")
	errs.until(t, "is ready", 2)
	require.Empty(t, out.seen(), "the old module still runs")
	release <- struct{}{}
	_, err = io.WriteString(lines, "{}\n")
	require.NoError(t, err)
	out.until(t, "new\"}\n", 1)
	require.Equal(t, "{\"text\":\"old\"}\n{\"text\":\"new\"}\n", out.seen(),
		"the call that ran was finished by the old module, the next got the new one")
	require.NoError(t, lines.Close())
	require.Zero(t, <-done)
}

// TestPluginDevServesAPage reads the stream of the page: a canvas, the module, and builds that work
// or fail.
func TestPluginDevServesAPage(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	manifest := `{"abi":1,"name":"sample","version":"1.0.0","description":"A sample.",
		"arguments":{"type":"object","properties":{"limit":{"type":"integer"},"city":{"type":"string"}},"required":["limit","city"]}}`
	write("manifest.json", manifest)
	write("old.bin", string(sample(t, "old", "{}", manifest)))
	write("new.bin", string(sample(t, "new", "{}", manifest)))
	write("build.sh", `cp "$(cat choice).bin" plugin.wasm`)
	write("choice", "none")
	in, lines := io.Pipe()
	errs := &watched{more: make(chan struct{}, 1)}
	done := make(chan int)
	go func() { done <- Main([]string{"plugin", "dev", dir, "--arg", "limit=3"}, in, io.Discard, errs) }()
	errs.until(t, "#try=/dev/\n", 1)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/#try=/dev/`).FindStringSubmatch(errs.seen())[1]
	get := func(path string) *http.Response {
		res, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	body := func(path string) []byte {
		res := get(path)
		require.Equal(t, http.StatusOK, res.StatusCode)
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return raw
	}
	news := bufio.NewReader(get("/dev/builds").Body)
	next := func(fits func(devBuild) bool) devBuild {
		t.Helper()
		for {
			line, err := news.ReadString('\n')
			require.NoError(t, err)
			if raw, ok := strings.CutPrefix(line, "data: "); ok {
				var build devBuild
				require.NoError(t, json.Unmarshal([]byte(raw), &build))
				if fits(build) {
					return build
				}
			}
		}
	}
	require.Contains(t, next(func(b devBuild) bool { return b.Fault != "" }).Fault, "exit status 1")
	require.Equal(t, http.StatusServiceUnavailable, get("/dev/plugin.wasm").StatusCode)
	write("choice", "old")
	first := next(func(b devBuild) bool { return b.Digest != "" })
	require.Empty(t, first.Fault)
	require.Contains(t, string(body("/dev/plugin.wasm")), "old")
	var canvas struct {
		Title string
		DSL   struct {
			Components map[string]struct {
				Obj struct {
					Name   string `json:"component_name"`
					Params map[string]any
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(body("/dev/canvas.json"), &canvas))
	node := canvas.DSL.Components[pluginNode].Obj
	require.Equal(t, "plugin:sample@1", node.Name)
	require.Equal(t, map[string]any{"limit": 3.0, "city": "{sys.query}"}, node.Params)
	require.Equal(t, []any{"{Plugin:0@text}"}, canvas.DSL.Components["Message:0"].Obj.Params["content"])

	write("choice", "none!")
	broken := next(func(b devBuild) bool { return b.Fault != "" })
	require.Equal(t, first.Digest, broken.Digest, "the module before stays")
	write("choice", "new")
	require.NotEqual(t, first.Digest, next(func(b devBuild) bool { return b.Fault == "" }).Digest)
	require.Contains(t, string(body("/dev/plugin.wasm")), "new")
	require.NoError(t, lines.Close())
	require.Zero(t, <-done)
}

// TestPluginDevBuildsEditsMadeDuringABuild saves a file while a build runs, as happens to long
// builds. The build also writes a file each time, which starts no endless chain of builds.
func TestPluginDevBuildsEditsMadeDuringABuild(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) { require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600)) }
	manifest := `{"abi":1,"name":"sample","version":"1.0.0","description":"A sample."}`
	write("manifest.json", manifest)
	for _, name := range []string{"old", "new"} {
		write(name+".bin", string(sample(t, name, "{}", manifest)))
	}
	write("choice", "old")
	write("build.sh", `cp "$(cat choice).bin" plugin.wasm; echo built >> log; if [ -f edit ]; then mv edit choice; fi`)
	in, lines := io.Pipe()
	out, errs := &watched{more: make(chan struct{}, 1)}, &watched{more: make(chan struct{}, 1)}
	done := make(chan int)
	go func() { done <- Main([]string{"plugin", "dev", dir, "--addr", ""}, in, out, errs) }()
	errs.until(t, "is ready", 1)
	write("edit", "new")
	for calls := 1; !strings.HasSuffix(out.seen(), "{\"text\":\"new\"}\n"); calls++ {
		errs.until(t, "is ready", calls)
		_, err := io.WriteString(lines, "{}\n")
		require.NoError(t, err)
		out.until(t, "\n", calls)
	}
	require.Eventually(t, func() bool {
		builds := strings.Count(errs.seen(), "is ready")
		time.Sleep(4 * devInterval)
		return strings.Count(errs.seen(), "is ready") == builds
	}, time.Minute, time.Millisecond, "builds follow builds without end")
	require.Less(t, strings.Count(errs.seen(), "is ready"), 9)
	require.NoError(t, lines.Close())
	require.Zero(t, <-done)
}
