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
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
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

// The list has the first words of question and answer, whether each run is kept, and filters.
func TestListOfRuns(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("echo", apitest.Echo)
	start := func(body string) string {
		a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", "one", body, "Accept", "text/event-stream")
		require.Equal(t, 200, a.Status, a.Text)
		return a.Header.Get(api.RunHeader)
	}
	first := start(`{"query":"how long do boots last","user":"u_1"}`)
	second := start(`{"query":"what of shoes","user":"u_2"}`)
	list := func(query string) (out []string) {
		t.Helper()
		a := s.Get("/api/v2/runs?" + query)
		require.Equal(t, 200, a.Status, a.Text)
		for _, run := range a.Body.Get("items").Elements() {
			out = append(out, run.Get("id").Str())
		}
		return out
	}
	require.Eventually(t, func() bool {
		items := s.Get("/api/v2/runs").Body.Get("items")
		return items.At(0).Get("kept").Str() == "kept" && items.At(1).Get("kept").Str() == "kept"
	}, 20*time.Second, 10*time.Millisecond)
	a := s.Get("/api/v2/runs")
	run := a.Body.Get("items").At(1)
	require.Equal(t, "how long do boots last", run.Get("question").Str())
	require.Contains(t, run.Get("answer").Str(), "how long do boots last")
	require.Equal(t, "kept", a.Body.Get("keeps").Str())
	require.Equal(t, "kept", s.Get("/api/v2/runs/"+first).Body.Get("kept").Str())

	require.Equal(t, []string{second, first}, list(""))
	require.Equal(t, []string{first}, list("user=u_1"))
	require.Empty(t, list("user=u_3"))
	now := time.Now().UTC()
	hour := func(n time.Duration) string { return now.Add(n * time.Hour).Format(time.RFC3339) }
	require.Len(t, list("from="+hour(-1)+"&to="+hour(1)), 2)
	require.Empty(t, list("to="+now.Add(-time.Hour).Format(time.RFC3339)))
	require.Empty(t, list("from="+now.AddDate(0, 0, 2).Format(time.DateOnly)))
	created, err := time.Parse(time.RFC3339, run.Get("created").Str())
	require.NoError(t, err)
	at := created.UTC().Format(time.RFC3339Nano)
	require.Contains(t, list("from="+at), first, "from is included")
	require.NotContains(t, list("to="+at), first, "to is not")
	require.Equal(t, 400, s.Get("/api/v2/runs?from=yesterday").Status)
	require.Equal(t, 400, s.Get("/api/v2/runs?to=1").Status)

	// A page has the runs of its filters.
	page := s.Get("/api/v2/runs?page_size=1&from=" + now.Add(-time.Hour).Format(time.RFC3339))
	require.Equal(t, second, page.Body.Get("items").At(0).Get("id").Str())
	require.Equal(t, []string{first}, list("page_size=1&after="+page.Body.Get("next").Str()))

	s.As("one", "PUT", "/api/v2/settings/traces", `{"days":0}`, 200)
	require.Equal(t, "off", s.Get("/api/v2/runs").Body.Get("keeps").Str())
}

// A run that is not kept is refused with the reason.
func TestReasonOfAMissingRun(t *testing.T) {
	s := apitest.New(t)
	run, _ := aged(s, s.Canvas("a", apitest.Echo))
	s.As("one", "PUT", "/api/v2/settings/traces", `{"days":1}`, 200)
	s.Later.Add(int64(48 * time.Hour))
	require.NoError(t, s.Traces.Retain(t.Context()))
	for _, what := range []string{"events", "trace", "document", "case"} {
		a := s.Get("/api/v2/runs/" + run + "/" + what)
		require.Equal(t, 410, a.Status, a.Text)
		require.Contains(t, a.Text, "older than the days")
	}
	require.Equal(t, "expired", s.Get("/api/v2/runs/"+run).Body.Get("kept").Str())
	require.Equal(t, "expired", s.Get("/api/v2/runs").Body.Get("items").At(0).Get("kept").Str())
}

// A running run is listed with its question.
func TestListOfARunningRun(t *testing.T) {
	s := apitest.New(t)
	run := s.Post("/api/v2/canvases/"+s.Canvas("wait", runstest.Waiting)+"/runs", `{"query":"still there?"}`)
	require.Equal(t, 202, run.Status, run.Text)
	item := s.Get("/api/v2/runs").Body.Get("items").At(0)
	require.Equal(t, "still there?", item.Get("question").Str())
	require.Empty(t, item.Get("kept").Str())
	s.Gate <- struct{}{}
}

// A kept run becomes a case after days.
func TestCaseOfTwoDaysAgo(t *testing.T) {
	s := apitest.New(t)
	run, _ := aged(s, s.Canvas("a", apitest.Echo))
	made := s.Get("/api/v2/runs/" + run + "/case")
	require.Equal(t, 200, made.Status, made.Text)
	require.Equal(t, "x", made.Body.Get("runs").At(0).Get("kwargs").Get("query").Str())
}
