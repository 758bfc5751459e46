package v2_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// working lets the site's host take runs, as one that serves does.
func working(s *apitest.Site) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Runs.Work(ctx)
	}()
	s.T.(*testing.T).Cleanup(func() {
		stop()
		<-done
	})
}

func times(t *testing.T, list engine.Value) (out []time.Time) {
	for _, v := range list.Elements() {
		at, err := time.Parse(time.RFC3339Nano, v.Str())
		require.NoError(t, err)
		out = append(out, at)
	}
	return out
}

func TestSchedules(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("Report", apitest.Echo)
	made := s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","cron":"30 7 * * mon-fri","zone":"Europe/Berlin","query":"what is new?","inputs":{"depth":1.0}}`, 201)
	id := "/api/v2/schedules/" + made.Get("id").Str()
	require.Equal(t, "Report", made.Get("name").Str(), "the canvas's title")
	require.Equal(t, []string{"30 7 * * mon-fri", "Europe/Berlin", "what is new?", `{"depth":1.0}`, "one", "false"},
		[]string{made.Get("cron").Str(), made.Get("zone").Str(), made.Get("query").Str(), made.Get("inputs").JSON(), made.Get("user").Str(), made.Get("paused").JSON()})
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	next := times(t, made.Get("next"))
	require.Len(t, next, 3)
	for i, at := range next {
		require.True(t, at.After(time.Now()) && (i == 0 || at.After(next[i-1])))
		require.Equal(t, "07:30", at.In(berlin).Format("15:04"))
	}
	require.True(t, made.Get("last").IsNull())
	require.Equal(t, made.JSON(), s.As("one", "GET", id, "", 200).JSON())
	require.Equal(t, made.JSON(), s.As("one", "GET", "/api/v2/schedules?canvas="+canvas, "", 200).Get("items").At(0).JSON())
	require.Zero(t, s.As("one", "GET", "/api/v2/schedules?canvas=other", "", 200).Get("items").Len())

	t.Run("it is paused, resumed and changed", func(t *testing.T) {
		s.T = t
		paused := s.As("one", "PUT", id, `{"paused":true}`, 200)
		require.Equal(t, "true", paused.Get("paused").JSON())
		require.Equal(t, "[]", paused.Get("next").JSON())
		require.Equal(t, "30 7 * * mon-fri", paused.Get("cron").Str())
		s.As("one", "PUT", id, `{"paused":false,"rev":1}`, 409)
		changed := s.As("one", "PUT", id, `{"paused":false,"every":"1h","name":"Hourly","session":"new","user":"u","rev":2}`, 200)
		require.Equal(t, []string{"1h", "null", "null", "Hourly", "new", "u", "what is new?"},
			[]string{changed.Get("every").Str(), changed.Get("cron").JSON(), changed.Get("zone").JSON(), changed.Get("name").Str(), changed.Get("session").Str(), changed.Get("user").Str(), changed.Get("query").Str()})
		next := times(t, changed.Get("next"))
		require.Equal(t, time.Hour, next[1].Sub(next[0]))
		require.WithinDuration(t, time.Now().Add(time.Hour), next[0], time.Minute)
		session := s.As("one", "POST", "/api/v2/canvases/"+canvas+"/sessions", `{}`, 201).Get("id").Str()
		require.Equal(t, session, s.As("one", "PUT", id, `{"session":"`+session+`"}`, 200).Get("session").Str())
		require.Equal(t, "null", s.As("one", "PUT", id, `{"session":""}`, 200).Get("session").JSON())
		back := s.As("one", "PUT", id, `{"cron":"@daily"}`, 200)
		require.Equal(t, []string{"null", "@daily"}, []string{back.Get("every").JSON(), back.Get("cron").Str()})
		require.Equal(t, "Asia/Tokyo", s.As("one", "PUT", id, `{"zone":"Asia/Tokyo"}`, 200).Get("zone").Str())
	})
	t.Run("what cannot be is refused in words", func(t *testing.T) {
		s.T = t
		elsewhere := s.As("one", "POST", "/api/v2/canvases/"+s.Canvas("other", apitest.Echo)+"/sessions", `{}`, 201).Get("id").Str()
		for body, want := range map[string]string{
			`{}`:                             "canvas is empty; expected the id of a canvas",
			`{"canvas":"{c}"}`:               "either every or cron",
			`{"canvas":"{c}","every":"30s"}`: "every 30s is too often: once in 1m0s at most",
			`{"canvas":"{c}","cron":"*/10 * * * * *"}`:                         "is too often",
			`{"canvas":"{c}","cron":"61 * * * *"}`:                             `minute \"61\": values are 0 to 59`,
			`{"canvas":"{c}","cron":"0 0 30 2 *"}`:                             "names no time of the next five years",
			`{"canvas":"{c}","cron":"@daily","zone":"Mars/Base"}`:              `unknown time zone \"Mars/Base\"`,
			`{"canvas":"{c}","every":"1h","cron":"@daily"}`:                    "not both",
			`{"canvas":"{c}","every":"1h","name":""}`:                          "name must have",
			`{"canvas":"{c}","every":"1h","inputs":[1]}`:                       "inputs must be an object",
			`{"canvas":"{c}","every":60}`:                                      "every",
			`{"canvas":"{c}","evrey":"1h"}`:                                    "evrey",
			`{"canvas":"{c}","every":"1h","rev":3}`:                            "no rev",
			`{"canvas":"{c}","every":"1h","name":"` + strings.Repeat("x", 300): "",
		} {
			status := 422
			if want == "" {
				status, want = 400, "JSON"
			}
			require.Contains(t, s.As("one", "POST", "/api/v2/schedules", strings.ReplaceAll(body, "{c}", canvas), status).JSON(), want, body)
		}
		s.As("one", "POST", "/api/v2/schedules", `{"canvas":"none","every":"1h"}`, 404)
		s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h","name":"x","session":"none"}`, 404)
		s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h","name":"x","session":"`+elsewhere+`"}`, 404)
		s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h","name":"HOURLY"}`, 409)
		s.As("one", "PUT", id, `{"canvas":"`+elsewhere+`"}`, 422)
		s.As("one", "PUT", id, `{"every":"1s"}`, 422)
		require.Equal(t, 1, s.As("one", "GET", "/api/v2/schedules", "", 200).Get("items").Len(), "nothing is made by half")
	})
	t.Run("scopes", func(t *testing.T) {
		s.T = t
		for scopes, want := range map[string]int{`["read"]`: 403, `["run"]`: 403, `["edit","read"]`: 403, `["edit","run"]`: 201} {
			key := s.As("one", "POST", "/api/v2/keys", `{"scopes":`+scopes+`}`, 201).Get("key").Str()
			s.As(key, "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h","name":"of a key"}`, want)
			if want != 201 {
				s.As(key, "PUT", id, `{"paused":true}`, want)
			}
			if strings.Contains(scopes, "read") {
				s.As(key, "GET", id, "", 200)
			} else {
				s.As(key, "GET", id, "", 403)
			}
			if !strings.Contains(scopes, "edit") {
				s.As(key, "DELETE", id, "", 403)
			}
		}
	})
	t.Run("other tenants", func(t *testing.T) {
		s.T = t
		require.Zero(t, s.As("two", "GET", "/api/v2/schedules", "", 200).Get("items").Len())
		for method, body := range map[string]string{"GET": "", "PUT": `{"paused":true}`, "DELETE": ""} {
			s.As("two", method, id, body, 404)
		}
		s.As("two", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h"}`, 404)
		theirs := s.As("two", "POST", "/api/v2/canvases", `{"title":"t","dsl":`+apitest.Echo+`}`, 201).Get("id").Str()
		mine := s.As("one", "POST", "/api/v2/canvases/"+canvas+"/sessions", `{}`, 201).Get("id").Str()
		s.As("two", "POST", "/api/v2/schedules", `{"canvas":"`+theirs+`","every":"1h","session":"`+mine+`"}`, 404)
	})
	t.Run("it ends with its canvas, by each way that deletes one", func(t *testing.T) {
		s.T = t
		for i, remove := range []func(id string){
			func(id string) { s.As("one", "DELETE", "/api/v2/canvases/"+id, "", 204) },
			func(id string) { s.Good(s.Post("/v1/canvas/rm", `{"canvas_ids":["`+id+`"]}`)) },
			func(id string) { s.Good(s.Delete("/api/v1/agents/"+id, "")) },
		} {
			c := s.Canvas(fmt.Sprint("ending ", i), apitest.Echo)
			one := s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+c+`","every":"1h"}`, 201).Get("id").Str()
			remove(c)
			s.As("one", "GET", "/api/v2/schedules/"+one, "", 404)
		}
	})
	s.T = t
	s.As("one", "DELETE", id, "", 204)
	s.As("one", "DELETE", id, "", 404)
	kept, err := s.Clocks.List(t.Context())
	require.NoError(t, err)
	require.Len(t, kept, 1, "that of the key")
}

// The runs of a schedule are in the history with their source.
func TestRunsOfSchedules(t *testing.T) {
	s := apitest.New(t)
	working(s)
	canvas := s.Canvas("Clock", apitest.Echo)
	// Once a second is more often than the API accepts.
	often := s.SchedulesOf(time.Second)
	made, err := often.Put(t.Context(), schedule.Schedule{
		Tenant: "one", Name: "clock", When: schedule.When{Every: "1s"},
		Job: runs.Job{Canvas: canvas, Fresh: true, Query: engine.String("tick")},
	})
	require.NoError(t, err)
	s.As("one", "POST", "/api/v2/canvases/"+canvas+"/runs", `{"query":"by hand"}`, 202)
	var list engine.Value
	require.Eventually(t, func() bool {
		list = s.As("one", "GET", "/api/v2/runs?status=succeeded&schedule="+made.ID, "", 200)
		return list.Get("items").Len() >= 2
	}, 2*time.Minute, 20*time.Millisecond)
	for _, run := range list.Get("items").Elements() {
		require.Equal(t, []string{"schedule", made.ID, canvas}, []string{run.Get("source").Str(), run.Get("schedule").Str(), run.Get("canvas").Str()})
	}
	other := s.As("one", "GET", "/api/v2/runs?schedule=_%25", "", 200)
	require.Zero(t, other.Get("items").Len(), "the filter is no pattern")
	all := s.As("one", "GET", "/api/v2/runs?canvas="+canvas, "", 200)
	require.Contains(t, all.JSON(), `"source":"v2"`)
	shown := s.As("one", "GET", "/api/v2/schedules/"+made.ID, "", 200)
	last := shown.Get("last")
	require.NotEmpty(t, last.Get("run").Str())
	next := times(t, shown.Get("next"))
	require.Len(t, next, 3)
	require.Equal(t, time.Second, next[1].Sub(next[0]))
	v, err := s.Store.Runs.Get(t.Context(), "one", last.Get("run").Str())
	require.NoError(t, err)
	require.Equal(t, store.Run{Source: "schedule"}.Source, v.Source)
	s.As("one", "DELETE", "/api/v2/schedules/"+made.ID, "", 204)
}

// A tenant's schedules go with it.
func TestSchedulesOfARemovedTenant(t *testing.T) {
	s := apitest.New(t)
	tenant := s.As("one", "POST", "/api/v2/tenants", `{"name":"Three"}`, 201)
	key := tenant.Get("key").Str()
	canvas := s.As(key, "POST", "/api/v2/canvases", `{"title":"c","dsl":`+apitest.Echo+`}`, 201).Get("id").Str()
	s.As(key, "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1h"}`, 201)
	kept, err := s.Clocks.List(t.Context())
	require.NoError(t, err)
	require.Len(t, kept, 1)
	s.As("one", "DELETE", "/api/v2/tenants/"+tenant.Get("id").Str(), "", 204)
	kept, err = s.Clocks.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, kept)
}

// FuzzSchedule sends any body to the routes that read schedules.
func FuzzSchedule(f *testing.F) {
	s := apitest.New(f)
	id := s.Canvas("a", apitest.Echo)
	f.Add([]byte(`{"canvas":"{id}","cron":"1-5/2,*/3 0 ? jan-dec 0-7","zone":"Asia/Kathmandu","name":"n","paused":true}`))
	f.Add([]byte(`{"canvas":"{id}","every":"9999999h","inputs":{"a":[1e400]},"session":"new","rev":-1}`))
	f.Add([]byte(`{"canvas":"{id}","every":"1h","query":{"a":1},"user":null,"zone":""}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		text := strings.ReplaceAll(string(body), "{id}", id)
		for _, target := range []string{"POST /api/v2/schedules", "PUT /api/v2/schedules/{last}"} {
			method, path, _ := strings.Cut(target, " ")
			list, err := s.Schedules.List(t.Context(), "one")
			require.NoError(t, err)
			if len(list) > 0 {
				path = strings.ReplaceAll(path, "{last}", list[len(list)-1].ID)
			}
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(text))
			r.Header.Set("Authorization", "Bearer one")
			s.Fuzzed(t, r)
		}
		require.NoError(t, s.Schedules.DeleteOf(t.Context(), "one", ""))
	})
}
