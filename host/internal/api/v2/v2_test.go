package v2_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestV2(t *testing.T) {
	s := apitest.New(t)
	a := s.Post("/api/v2/canvases", `{"title":"x","dsl":`+apitest.Slow+`}`)
	require.Equal(t, 201, a.Status, a.Text)
	id := a.Body.Get("id").Str()
	require.Equal(t, "1", s.Get("/api/v2/canvases").Body.Get("total").Text())
	require.Equal(t, 409, s.Put("/api/v2/canvases/"+id, `{"title":"y","rev":7}`).Status)
	a = s.Put("/api/v2/canvases/"+id, `{"title":"y","rev":1}`)
	require.Equal(t, "2", a.Body.Get("rev").Text())
	require.Zero(t, s.Post("/api/v2/canvases/"+id+"/validate", `{}`).Body.Get("diagnostics").Len())
	require.NotZero(t, s.Post("/api/v2/canvases/"+id+"/validate", `{"dsl":{"components":{}}}`).Body.Get("diagnostics").Len())

	session := s.Post("/api/v2/canvases/"+id+"/sessions", `{"user":"u"}`).Body.Get("id").Str()
	a = s.Post("/api/v2/canvases/"+id+"/runs", `{"query":"q","session":"`+session+`"}`)
	require.Equal(t, 202, a.Status, a.Text)
	run := a.Body.Get("id").Str()
	path := a.Body.Get("events_url").Str()
	first := s.Watch(path, "", 4)
	require.Equal(t, "workflow_started node_started node_finished node_started", apitest.KindsOf(first))
	s.Gate <- struct{}{}
	all := s.Watch(path, "", 0)
	require.Equal(t, "workflow_started node_started node_finished node_started node_finished node_started message message_end node_finished workflow_finished end", apitest.KindsOf(all))
	require.Equal(t, "succeeded", s.Get("/api/v2/runs/"+run).Body.Get("status").Str())

	require.Equal(t, "1", s.Get("/api/v2/runs?source=v2").Body.Get("total").Text())
	require.Equal(t, "0", s.Get("/api/v2/runs?source=webhook").Body.Get("total").Text())
	require.False(t, s.Get("/api/v2/runs/"+run).Body.Get("tokens").IsNull())
	a = s.Post("/api/v2/runs/"+run+"/rerun", `{"node":"Message:A"}`)
	require.Equal(t, 202, a.Status, a.Text)
	again := s.Watch(a.Body.Get("events_url").Str(), "", 0)
	require.Equal(t, "node_started message message_end node_finished workflow_finished end", apitest.KindsOf(again))
	require.Equal(t, 422, s.Post("/api/v2/runs/"+run+"/rerun", `{"node":"Missing:X"}`).Status)
	require.Equal(t, 422, s.Post("/api/v2/runs/"+run+"/rerun", `{}`).Status)
	require.Equal(t, 409, s.Post("/api/v2/runs/"+run+"/resume", `{"inputs":{}}`).Status)

	form := s.Post("/api/v2/canvases", `{"title":"f","dsl":`+apitest.Formed+`}`).Body.Get("id").Str()
	a = s.Request("POST", "/api/v2/canvases/"+form+"/runs", "one", `{}`, "Accept", "text/event-stream")
	require.Contains(t, a.Text, "event: user_inputs")
	paused := s.Get("/api/v2/runs?canvas=" + form + "&status=paused").Body.Get("items").At(0).Get("id").Str()
	a = s.Request("POST", "/api/v2/runs/"+paused+"/resume", "one", `{"inputs":{"city":"Oslo"}}`, "Accept", "text/event-stream")
	require.Contains(t, a.Text, "City ")
	require.Contains(t, a.Text, "Oslo")
	require.Contains(t, a.Text, `"status":"succeeded"`)

	require.NotZero(t, s.Get("/api/v2/components").Body.Get("items").Len())
	require.Equal(t, 404, s.Get("/api/v2/runs/"+apitest.Nowhere).Status)
	require.Equal(t, 401, s.Request("GET", "/api/v2/runs", "", "").Status)
	require.Equal(t, 204, s.Delete("/api/v2/canvases/"+id, "").Status)
}

func TestReaderMissesNothingAndSeesNothingTwice(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	run := s.Post("/api/v2/canvases/"+id+"/runs", `{}`).Body.Get("id").Str()
	path := "/api/v2/runs/" + run + "/events"
	var seen []apitest.Event
	seen = append(seen, s.Watch(path, "", 2)...)
	seen = append(seen, s.Watch(path, seen[len(seen)-1].ID, 1)...)
	seen = append(seen, s.Watch(path, seen[len(seen)-1].ID, 1)...)
	s.Gate <- struct{}{}
	for seen[len(seen)-1].Kind != "end" {
		more := s.Watch(path, seen[len(seen)-1].ID, 2)
		require.NotEmpty(t, more)
		seen = append(seen, more...)
	}
	all := s.Watch(path, "", 0)
	require.Equal(t, apitest.KindsOf(all), apitest.KindsOf(seen))
	for i := range all {
		require.Equal(t, all[i].Data, seen[i].Data)
		if i == len(all)-1 {
			require.Equal(t, 204, s.Request("GET", path, "one", "", "Last-Event-ID", all[i].ID).Status)
			break
		}
		rest := s.Watch(path, all[i].ID, 0)
		require.Equal(t, apitest.KindsOf(all[i+1:]), apitest.KindsOf(rest), "from %s", all[i].ID)
	}
	require.Equal(t, 400, s.Request("GET", path, "one", "", "Last-Event-ID", "nonsense").Status)
}

// What a client saw of a host that died before it was stored is not there for
// the next one, whose own events have the same numbers.
func TestReaderOfALostTail(t *testing.T) {
	s := apitest.New(t)
	rec := func(kind, data string) runlog.Record { return runlog.Record{Kind: kind, Data: []byte(data)} }
	require.NoError(t, s.Store.Runs.Start(t.Context(), store.Run{
		ID: "r", Tenant: "one", Canvas: s.Canvas("c", apitest.Echo), Message: "m",
	}))
	first, err := s.Log.Claim(t.Context(), runlog.Run{ID: "r"})
	require.NoError(t, err)
	_, err = first.Append(t.Context(), rec("node_started", `"1"`), rec("node_finished", `"2"`))
	require.NoError(t, err)
	first.HandBack(io.ErrUnexpectedEOF)
	working, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_ = s.Log.Work(working, func(ctx context.Context, second *runlog.Lease) error {
			return second.End(ctx, rec("takeover", `{"attempt":2}`), rec("message", `"new"`), rec("end", `{}`))
		})
	}()
	read := func(last string) string {
		a := s.Request("GET", "/api/v2/runs/r/events", "one", "", "Last-Event-ID", last)
		var kinds []string
		for line := range strings.SplitSeq(a.Text, "\n") {
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
