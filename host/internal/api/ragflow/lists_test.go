package ragflow_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// largeSessions adds sessions of 100 KB to a canvas.
func largeSessions(s *apitest.Site, canvas string, n int) {
	s.T.Helper()
	doc := append(append([]byte(`{"x":"`), make([]byte, 100<<10)...), `"}`...)
	for i := range doc {
		if doc[i] == 0 {
			doc[i] = 'x'
		}
	}
	for i := range n {
		_, err := s.Store.Sessions.Create(s.T.Context(), store.Session{
			ID: fmt.Sprintf("large%03d", i), Tenant: "one", Canvas: canvas, User: fmt.Sprint("u", i%2), DSL: doc, Messages: []byte("[]"),
			Reference: []byte("[]"), Tokens: 10, Duration: 500, Rounds: 2, ThumbUp: 1,
		})
		require.NoError(s.T, err)
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// What sums sessions up, counts, deletes or leaves out their documents does not read them.
func TestDocumentsOfSessionsAreNotRead(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("c", apitest.Echo)
	const sessions = 150
	largeSessions(s, canvas, sessions)

	for _, c := range []struct {
		name string
		ask  func() apitest.Answer
	}{
		{"statistics", func() apitest.Answer { return s.Get("/v1/api/stats") }},
		{"a list without documents", func() apitest.Answer { return s.Get("/api/v1/agents/" + canvas + "/sessions?dsl=false&page_size=1000") }},
		{"deep page", func() apitest.Answer { return s.Get("/v1/canvas/" + canvas + "/sessions?page_size=1&page=140") }},
		{"deletion of one", func() apitest.Answer {
			return s.Delete("/api/v1/agents/"+canvas+"/sessions", `{"ids":["large000"]}`)
		}},
	} {
		used := allocated(func() { s.Good(c.ask()) })
		require.Less(t, used, int64(sessions*100<<10)/4, c.name)
	}
	stats := s.Good(s.Get("/v1/api/stats")).Data()
	for name, want := range map[string]float64{"pv": sessions - 1, "uv": 2, "tokens": 10 * (sessions - 1), "round": 2 * (sessions - 1), "thumb_up": sessions - 1, "speed": 20} {
		require.Equal(t, 1, stats.Get(name).Len(), name)
		got, ok := stats.Get(name).At(0).At(1).Float()
		require.True(t, ok)
		require.InDelta(t, want, got, 1e-9, name)
	}
}

// A list whose documents do not fit into the memory of requests is refused before they are read.
func TestListOfLargeSessionsIsBounded(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Memory = memlimit.New("requests", 4<<20) })
	canvas := s.Canvas("c", apitest.Echo)
	largeSessions(s, canvas, 30)
	a := s.Get("/api/v1/agents/" + canvas + "/sessions?page_size=30")
	require.Equal(t, 413, a.Status, a.Text)
	s.Good(s.Get("/api/v1/agents/" + canvas + "/sessions?page_size=2"))
	s.Good(s.Get("/api/v1/agents/" + canvas + "/sessions?page_size=30&dsl=false"))
}

// Following next returns each run once, also when others start between the pages.
func TestRunsByCursor(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("c", apitest.Echo)
	add := func(id string) {
		require.NoError(t, s.Store.Runs.Start(t.Context(), store.Run{ID: id, Tenant: "one", Canvas: canvas}))
		_, err := s.Store.Runs.End(t.Context(), store.RunEnd{ID: id, Status: store.RunDone}, nil)
		require.NoError(t, err)
	}
	for i := range 10 {
		add(fmt.Sprint("run", i))
	}
	page := func(query string) engine.Value { return s.As("one", "GET", "/api/v2/runs?page_size=3"+query, "", 200) }
	for _, order := range []string{"", "&desc=false", "&orderby=id", "&orderby=tokens&desc=false", "&orderby=end_time"} {
		var ids []string
		for after := ""; ; {
			v := page(order + after)
			for _, item := range v.Get("items").Elements() {
				ids = append(ids, item.Get("id").Str())
			}
			if v.Get("next").IsNull() {
				break
			}
			require.LessOrEqual(t, len(ids), 30, "it ends")
			if order == "" && len(ids) == 3 {
				add("z later run")
			}
			after = "&after=" + v.Get("next").Str()
		}
		if order == "" {
			require.Len(t, ids, 10)
			require.NotContains(t, ids, "z later run")
			continue
		}
		require.Len(t, ids, 11, order)
		require.Contains(t, ids, "z later run")
	}
	next := page("").Get("next").Str()
	for _, query := range []string{"&after=x", "&after=" + next + "&desc=false", "&after=" + next + "&orderby=id", "&after=!!"} {
		v := s.As("one", "GET", "/api/v2/runs?page_size=3"+query, "", 422)
		require.Contains(t, v.Get("error").Get("message").Str(), "argument after must be the next of a page of this list", query)
	}
}

// An unknown order is refused in the words of the API.
func TestUnknownOrderNamesTheAccepted(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("c", apitest.Echo)
	for path, accepted := range map[string]string{
		"/api/v1/agents":                          "create_date, create_time, id, title, update_date, update_time",
		"/v1/canvas/list":                         "create_date, create_time, id, title, update_date, update_time",
		"/0.27/api/v1/agents":                     "create_date, create_time, id, title, update_date, update_time",
		"/api/v1/agents/" + canvas + "/sessions":  "create_date, create_time, id, round, tokens, update_date, update_time",
		"/v1/canvas/" + canvas + "/sessions":      "create_date, create_time, id, round, tokens, update_date, update_time",
		"/0.27/v1/canvas/" + canvas + "/sessions": "create_date, create_time, id, round, tokens, update_date, update_time",
		"/api/v2/runs":                            "create_time, end_time, id, tokens",
		"/api/v2/canvases":                        "create_date, create_time, id, title, update_date, update_time",
		"POST /v1/mcp_server/list":                "create_date, create_time, id, name, update_date, update_time",
	} {
		want := `argument orderby must be one of ` + accepted + `, not "colour"`
		method := "GET"
		if len(path) > 5 && path[:5] == "POST " {
			method, path = "POST", path[5:]
		}
		a := s.Request(method, path+"?orderby=colour", "one", "")
		if !a.Body.Get("error").IsNull() {
			require.Equal(t, want, a.Body.Get("error").Get("message").Str(), path)
			continue
		}
		require.Equal(t, 100, a.Code(), path)
		require.Equal(t, want, a.Message(), path)
	}
}
