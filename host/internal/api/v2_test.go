package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog"
)

// v2Event is one event of our own stream.
type v2Event struct{ id, kind, data string }

// watch reads events until n have come (0: until the end).
func (s *site) watch(path, last string, n int) []v2Event {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer one")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	require.Equal(s.t, 200, res.StatusCode)
	var out []v2Event
	var e v2Event
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch key {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
			out = append(out, e)
			if len(out) == n {
				return out
			}
		}
	}
	return out
}

// watchBriefly opens a stream and gives the function that leaves it.
func (s *site) watchBriefly(path string) (leave func()) {
	ctx, stop := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	return func() {
		stop()
		_ = res.Body.Close()
	}
}

func kindsOf(events []v2Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.kind)
	}
	return strings.Join(out, " ")
}

func TestV2(t *testing.T) {
	s := newSite(t)
	a := s.post("/api/v2/canvases", `{"title":"x","dsl":`+slow+`}`)
	require.Equal(t, 201, a.status, a.text)
	id := a.body.Get("id").Str()
	require.Equal(t, "1", s.get("/api/v2/canvases").body.Get("total").Text())
	require.Equal(t, 409, s.put("/api/v2/canvases/"+id, `{"title":"y","rev":7}`).status)
	a = s.put("/api/v2/canvases/"+id, `{"title":"y","rev":1}`)
	require.Equal(t, "2", a.body.Get("rev").Text())
	require.Zero(t, s.post("/api/v2/canvases/"+id+"/validate", `{}`).body.Get("diagnostics").Len())
	require.NotZero(t, s.post("/api/v2/canvases/"+id+"/validate", `{"dsl":{"components":{}}}`).body.Get("diagnostics").Len())

	session := s.post("/api/v2/canvases/"+id+"/sessions", `{"user":"u"}`).body.Get("id").Str()
	a = s.post("/api/v2/canvases/"+id+"/runs", `{"query":"q","session":"`+session+`"}`)
	require.Equal(t, 202, a.status, a.text)
	run := a.body.Get("id").Str()
	path := a.body.Get("events_url").Str()
	first := s.watch(path, "", 4)
	require.Equal(t, "workflow_started node_started node_finished node_started", kindsOf(first))
	s.gate <- struct{}{}
	all := s.watch(path, "", 0)
	require.Equal(t, "workflow_started node_started node_finished node_started node_finished node_started message message_end node_finished workflow_finished end", kindsOf(all))
	require.Equal(t, "succeeded", s.get("/api/v2/runs/"+run).body.Get("status").Str())

	a = s.post("/api/v2/runs/"+run+"/rerun", `{"node":"Message:A"}`)
	require.Equal(t, 202, a.status, a.text)
	again := s.watch(a.body.Get("events_url").Str(), "", 0)
	require.Equal(t, "node_started message message_end node_finished workflow_finished end", kindsOf(again))
	require.Equal(t, 422, s.post("/api/v2/runs/"+run+"/rerun", `{"node":"Nobody:X"}`).status)
	require.Equal(t, 422, s.post("/api/v2/runs/"+run+"/rerun", `{}`).status)
	require.Equal(t, 409, s.post("/api/v2/runs/"+run+"/resume", `{"inputs":{}}`).status)

	form := s.post("/api/v2/canvases", `{"title":"f","dsl":`+formed+`}`).body.Get("id").Str()
	a = s.request("POST", "/api/v2/canvases/"+form+"/runs", "one", `{}`, "Accept", "text/event-stream")
	require.Contains(t, a.text, "event: user_inputs")
	paused := s.get("/api/v2/runs?canvas=" + form + "&status=paused").body.Get("items").At(0).Get("id").Str()
	a = s.request("POST", "/api/v2/runs/"+paused+"/resume", "one", `{"inputs":{"city":"Oslo"}}`, "Accept", "text/event-stream")
	require.Contains(t, a.text, "City ")
	require.Contains(t, a.text, "Oslo")
	require.Contains(t, a.text, `"status":"succeeded"`)

	require.NotZero(t, s.get("/api/v2/components").body.Get("items").Len())
	require.Equal(t, 404, s.get("/api/v2/runs/"+nowhere).status)
	require.Equal(t, 401, s.request("GET", "/api/v2/runs", "", "").status)
	require.Equal(t, 204, s.delete("/api/v2/canvases/"+id, "").status)
}

func TestReaderMissesNothingAndSeesNothingTwice(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", slow)
	run := s.post("/api/v2/canvases/"+id+"/runs", `{}`).body.Get("id").Str()
	path := "/api/v2/runs/" + run + "/events"
	var seen []v2Event
	seen = append(seen, s.watch(path, "", 2)...)
	seen = append(seen, s.watch(path, seen[len(seen)-1].id, 1)...)
	seen = append(seen, s.watch(path, seen[len(seen)-1].id, 1)...)
	s.gate <- struct{}{}
	for seen[len(seen)-1].kind != "end" {
		more := s.watch(path, seen[len(seen)-1].id, 2)
		require.NotEmpty(t, more)
		seen = append(seen, more...)
	}
	all := s.watch(path, "", 0)
	require.Equal(t, kindsOf(all), kindsOf(seen))
	for i := range all {
		require.Equal(t, all[i].data, seen[i].data)
		if i == len(all)-1 {
			require.Equal(t, 204, s.request("GET", path, "one", "", "Last-Event-ID", all[i].id).status)
			break
		}
		rest := s.watch(path, all[i].id, 0)
		require.Equal(t, kindsOf(all[i+1:]), kindsOf(rest), "from %s", all[i].id)
	}
	require.Equal(t, 400, s.request("GET", path, "one", "", "Last-Event-ID", "nonsense").status)
}

// What a client saw of a host that died before it was stored is not there for
// the next one, whose own events have the same numbers.
func TestReaderOfALostTail(t *testing.T) {
	s := newSite(t)
	rec := func(kind, data string) runlog.Record { return runlog.Record{Kind: kind, Data: []byte(data)} }
	first, err := s.log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	_, err = first.Append(t.Context(), rec("node_started", `"1"`), rec("node_finished", `"2"`))
	require.NoError(t, err)
	first.HandBack(io.ErrUnexpectedEOF)
	working, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_ = s.log.Work(working, func(ctx context.Context, second *runlog.Lease) error {
			return second.End(ctx, rec("takeover", `{"attempt":2}`), rec("message", `"new"`), rec("end", `{}`))
		})
	}()
	read := func(last string) string {
		at, err := parseResume(last)
		require.NoError(t, err)
		c := &call{a: s.api, r: httptestRequest(t)}
		e := &eventReader{attempt: 1, seen: at}
		from, err := c.place("r", e)
		require.NoError(t, err)
		w := &memory{header: http.Header{}}
		e.s = &sse{w: w, flush: http.NewResponseController(w), head: "data: "}
		require.NoError(t, s.runs.Follow(t.Context(), "r", from, e.take))
		require.True(t, e.write(*e.end))
		var kinds []string
		for line := range strings.SplitSeq(w.String(), "\n") {
			if k, ok := strings.CutPrefix(line, "event: "); ok {
				kinds = append(kinds, k)
			}
		}
		return strings.Join(kinds, " ")
	}
	require.Equal(t, "takeover message end", read("2-1"))
	require.Equal(t, "takeover message end", read("4~1"), "3 and 4 were other events then")
	require.Equal(t, "takeover message end", read("9~1"))
	require.Equal(t, "end", read("4~2"))
	require.Equal(t, "takeover message end", read("4-900"), "the server had stored them, and forgot them with its power")
	require.Equal(t, "end", read("4-900~2"))
}

type memory struct {
	strings.Builder
	header http.Header
}

func (m *memory) Header() http.Header { return m.header }
func (m *memory) WriteHeader(int)     {}
func (m *memory) Flush()              {}

func httptestRequest(t *testing.T) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	require.NoError(t, err)
	return r
}
