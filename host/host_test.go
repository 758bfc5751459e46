package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
)

// The tests start this test program again as a host, and kill it.

const childVariable = "EASEL_HOST_CHILD"

func TestMain(m *testing.M) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	h, err := New(context.Background(), Config{
		Dir: dir, Key: "key", AllowPrivate: true, Lease: time.Second, shortest: time.Second,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(http.Serve(l, h.Handler()))
}

// start runs a host on a data directory; kill ends it without a shutdown.
func start(t *testing.T, dir string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return "http://" + strings.TrimSpace(line), kill
}

func call(t *testing.T, method, url, body string, into any) {
	t.Helper()
	callAs(t, "key", method, url, body, into)
}

func callAs(t *testing.T, key, method, url, body string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, 300, "%s", data)
	require.NoError(t, json.Unmarshal(data, into))
}

// frames returns the data of a stream of server-sent events.
func frames(t *testing.T, body io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		in := bufio.NewScanner(body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data:"); ok && !yield(strings.TrimSpace(data)) {
				return
			}
		}
		require.NoError(t, in.Err())
	}
}

type event struct{ id, kind, node string }

// events reads a run's events after a position until stop returns true.
func events(t *testing.T, url, last string, stop func(event) bool) (out []event) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var e event
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch key {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			var v struct {
				Data struct {
					ID string `json:"component_id"`
				}
			}
			require.NoError(t, json.Unmarshal([]byte(value), &v))
			e.node = v.Data.ID
			out = append(out, e)
			if stop(e) {
				return out
			}
		}
	}
	return out
}

// TestKill kills the host in the middle of a run, twice, and starts it again
// on the same data. The run ends with each step in its log once, and a reader
// that returns with the last id it has misses nothing and sees nothing twice.
func TestKill(t *testing.T) {
	// The test controls when the second node gets its response.
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	outside := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answer:
			_, _ = io.WriteString(w, "<p>answered</p>")
		case <-r.Context().Done():
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = outside.Serve(l) }()
	t.Cleanup(func() { _ = outside.Close() })
	dsl := sketch.Chain("begin Begin", `Message:A Message {"content":["first"]}`,
		`Invoke:X Invoke {"url":"http://`+l.Addr().String()+`/","method":"get","clean_html":false}`,
		`Message:B Message {"content":["{Invoke:X@result}"]}`)

	dir := t.TempDir()
	url, kill := start(t, dir)
	var canvas, session, run struct{ ID string }
	call(t, "POST", url+"/api/v2/canvases", `{"title":"c","dsl":`+dsl+`}`, &canvas)
	call(t, "POST", url+"/api/v2/canvases/"+canvas.ID+"/sessions", `{}`, &session)
	call(t, "POST", url+"/api/v2/canvases/"+canvas.ID+"/runs", `{"query":"q","session":"`+session.ID+`"}`, &run)
	path := "/api/v2/runs/" + run.ID + "/events"
	atX := func(e event) bool { return e.kind == "node_started" && e.node == "Invoke:X" }
	seen := events(t, url+path, "", atX)
	<-asked
	time.Sleep(200 * time.Millisecond) // most buffered records are stored by then; heard handles the rest
	for range 2 {
		kill()
		url, kill = start(t, dir)
		<-asked // the run continues
	}
	close(answer)
	seen = append(seen, events(t, url+path, seen[len(seen)-1].id, func(e event) bool { return e.kind == "end" })...)
	all := events(t, url+path, "", func(e event) bool { return e.kind == "end" })
	require.Equal(t, heard(all), heard(seen))
	var steps []string
	for _, e := range all {
		if e.kind != "takeover" && e.kind != "message" {
			steps = append(steps, strings.TrimSuffix(e.kind+" "+e.node, " "))
		}
	}
	require.Equal(t, []string{
		"workflow_started", "node_started begin", "node_finished begin", "node_started Message:A", "message_end",
		"node_finished Message:A",
		"node_started Invoke:X", "node_finished Invoke:X", "node_started Message:B", "message_end",
		"node_finished Message:B",
		"workflow_finished", "end",
	}, steps)
	var list struct {
		Data []struct {
			Messages []struct{ Content string }
			Round    int
		}
	}
	call(t, "GET", url+"/api/v1/agents/"+canvas.ID+"/sessions?id="+session.ID, "", &list)
	require.Equal(t, 1, list.Data[0].Round, "one turn")
	require.Len(t, list.Data[0].Messages, 3)
	require.Contains(t, list.Data[0].Messages[2].Content, "first")
	require.Contains(t, list.Data[0].Messages[2].Content, "answered")
}

// heard returns the events a reader has received, by number. The suffix of an id shows whether its
// host found the event live or in the log. A takeover voids events from its number on that were
// buffered and never stored.
func heard(list []event) []event {
	var out []event
	number := func(e event) int {
		n, _ := strconv.Atoi(e.id)
		return n
	}
	for _, e := range list {
		e.id = e.id[:strings.IndexAny(e.id+"-", "-~")]
		if e.kind == "takeover" {
			for len(out) > 0 && number(out[len(out)-1]) >= number(e) {
				out = out[:len(out)-1]
			}
		}
		out = append(out, e)
	}
	return out
}

func TestFirstStart(t *testing.T) {
	dir := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	h, err := New(t.Context(), Config{Dir: dir, Sync: SyncInterval, Log: quiet, Examples: []string{"../web/examples"}})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(h.Key, "ragflow-"))
	require.Len(t, h.Key, len("ragflow-")+43)
	_, err = New(t.Context(), Config{Dir: dir, Log: quiet})
	require.Error(t, err, "one process uses a data directory")
	require.NoError(t, h.Close())
	h, err = New(t.Context(), Config{Dir: dir, Log: quiet})
	require.NoError(t, err)
	require.Empty(t, h.Key, "a key is shown once")
	require.NoError(t, h.Close())
	_, err = New(t.Context(), Config{Dir: t.TempDir(), Sync: "sometimes", Log: quiet})
	require.ErrorContains(t, err, "always, contract or interval")
	_, err = New(t.Context(), Config{Log: quiet})
	require.Error(t, err, "expected a data directory")
}

// TestDirectoryInUse has another process use the data directory: none of its files change,
// including the records.
func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	brokertest.Open(t, broker.Config{Dir: dir})
	_, err := New(t.Context(), Config{Dir: dir})
	require.ErrorIs(t, err, broker.ErrLocked)
	require.NoFileExists(t, filepath.Join(dir, "easel.db"))
}
