package v2_test

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/apitest"
	"github.com/easel-canvas/easel/host/internal/app"
)

// aged runs a canvas, waits until the run is kept, deletes its log and moves the clock two days on.
// It returns the id of the run and its events as the log had them.
func aged(s *apitest.Site, canvas string) (run, events string) {
	s.T.Helper()
	started := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", "one", `{"query":"x"}`,
		"Accept", "text/event-stream")
	require.Equal(s.T, 200, started.Status, started.Text)
	run = started.Header.Get(api.RunHeader)
	require.Eventually(s.T, func() bool { // an event that is not stored yet has another id
		events = s.Get("/api/v2/runs/" + run + "/events").Text
		return !strings.Contains(events, "~")
	}, 20*time.Second, 10*time.Millisecond)
	row, err := s.Store.Runs.Get(s.T.Context(), "one", run)
	require.NoError(s.T, err)
	require.Eventually(s.T, func() bool {
		_, err := s.Traces.Records(s.T.Context(), row)
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	s.ForgetRun(run)
	s.Later.Add(int64(48 * time.Hour))
	return run, events
}

// A run of two days ago opens like one of now: same events, same ids, also for a client that has a
// part of them.
func TestRunOfTwoDaysAgo(t *testing.T) {
	s := apitest.New(t)
	canvases := map[string]string{"done": apitest.Echo, "failed": apitest.Broken, "paused": apitest.Formed}
	for title, dsl := range canvases {
		run, events := aged(s, s.Canvas(title, dsl))
		path := "/api/v2/runs/" + run
		a := s.Get(path + "/events")
		require.Equal(t, 200, a.Status, a.Text)
		require.Equal(t, events, a.Text)
		ids := regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(events, -1)
		for i, id := range ids {
			rest := s.Request("GET", path+"/events", "one", "", "Last-Event-ID", id[1])
			if i == len(ids)-1 {
				require.Equal(t, 204, rest.Status)
				continue
			}
			require.Equal(t, 200, rest.Status)
			require.True(t, strings.HasSuffix(events, rest.Text))
			require.Equal(t, len(ids)-1-i, strings.Count(rest.Text, "id: "))
		}
		// Seen before it was stored.
		seq, _, _ := strings.Cut(ids[0][1], "-")
		require.Equal(t, len(ids)-1, strings.Count(s.Get(path+"/events?after="+seq+"~1").Text, "id: "))

		bare := s.Request("GET", path+"/events", keyWith(s, app.ScopeRead), "")
		require.Equal(t, 200, bare.Status)
		require.Equal(t, a.Kinds(), bare.Kinds())

		trace := s.Get(path + "/trace")
		require.Equal(t, 200, trace.Status, trace.Text)
		require.Equal(t, "application/jsonl", trace.Header.Get("Content-Type"))
		lines := bufio.NewScanner(strings.NewReader(trace.Text))
		n := 0
		for ; lines.Scan(); n++ {
			require.True(t, json.Valid(lines.Bytes()), lines.Text())
		}
		require.Greater(t, n, 4)
		require.Contains(t, trace.Text, `"run":"`+run+`"`)
		for _, what := range []string{"/trace", "/document"} {
			require.Equal(t, 403, s.Request("GET", path+what, keyWith(s, app.ScopeRead), "").Status)
			require.Equal(t, 404, s.Request("GET", path+what, "two", "").Status)
		}
	}
}

// The document of a run stays as it was, whatever became of the canvas.
func TestDocumentOfARun(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("a", apitest.Echo)
	run, _ := aged(s, canvas)
	s.As("one", "PUT", "/api/v2/canvases/"+canvas, `{"dsl":`+apitest.Formed+`,"rev":1}`, 200)
	doc := s.Get("/api/v2/runs/" + run + "/document")
	require.Equal(t, 200, doc.Status, doc.Text)
	require.JSONEq(t, apitest.Echo, doc.Body.Get("dsl").JSON())
	require.Len(t, doc.Body.Get("hash").Str(), 64)
	require.Equal(t, 204, s.Delete("/api/v2/canvases/"+canvas, "").Status)
	require.JSONEq(t, apitest.Echo, s.Get("/api/v2/runs/"+run+"/document").Body.Get("dsl").JSON())
}

// A form of a run without a session is answered after days, with the state of the run.
func TestFormOfTwoDaysAgo(t *testing.T) {
	s := apitest.New(t)
	run, _ := aged(s, s.Canvas("form", apitest.Formed))
	a := s.Request("POST", "/api/v2/runs/"+run+"/resume", "one", `{"inputs":{"city":"Oslo"}}`,
		"Accept", "text/event-stream")
	require.Equal(t, 200, a.Status, a.Text)
	require.Contains(t, a.Text, "Oslo")
}

// Rerunning from a node needs the states that are in the log alone.
func TestRerunOfTwoDaysAgo(t *testing.T) {
	s := apitest.New(t)
	run, _ := aged(s, s.Canvas("a", apitest.Echo))
	for _, body := range []string{`{"node":"Message:A"}`, `{"seq":4}`} {
		a := s.Post("/api/v2/runs/"+run+"/rerun", body)
		require.Equal(t, 410, a.Status, a.Text)
	}
}
