package v2_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// counting is a provider whose every answer costs 10 tokens.
func counting(t *testing.T) *model.Models {
	t.Helper()
	const usage = `"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(text), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}],%s}`, usage)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}`+"\n\n")
		if strings.Contains(string(text), `"include_usage":true`) {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[],%s}\n\n", usage)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	host, err := model.New(model.Config{Providers: []model.Provider{{Name: "Vendor", BaseURL: server.URL + "/v1", Models: []model.Entry{{Name: "m"}}}}})
	require.NoError(t, err)
	return host
}

var asking = sketch.Canvas("begin Begin -> LLM:L",
	`LLM:L LLM {"llm_id":"m@Vendor","prompts":[{"role":"user","content":"{sys.query}"}]} -> Message:A`,
	`Message:A Message {"content":["{LLM:L@content}"]}`)

// answered runs a canvas and returns the run at its end.
func answered(s *apitest.Site, key, canvas string) engine.Value {
	s.T.Helper()
	a := s.Request("POST", "/api/v2/canvases/"+canvas+"/runs", key, `{"query":"hi"}`)
	require.Equal(s.T, 202, a.Status, a.Text)
	s.Request("GET", a.Body.Get("events_url").Str(), key, "") // ends with the run
	return s.As(key, "GET", "/api/v2/runs/"+a.Body.Get("id").Str(), "", 200)
}

const usedUpText = `quota of 20 tokens for today is used up; it is renewed at `

func TestQuotaOfAKey(t *testing.T) {
	host := counting(t)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	canvas := s.Canvas("Asking", asking)
	made := s.As("one", "POST", "/api/v2/keys", `{"name":"small","scopes":["read","run"],"tokens_per_day":20}`, 201)
	require.Equal(t, "20", made.Get("tokens_per_day").Text())
	key := made.Get("key").Str()

	usage := s.As(key, "GET", "/api/v2/me/usage", "", 200)
	require.Equal(t, `{"tokens_per_day":20,"tokens_today":0}`, usage.Get("caller").JSON())
	require.Equal(t, `{"tokens_today":0}`, usage.Get("tenant").JSON())
	require.Equal(t, "2026-11-22T00:00:00Z", usage.Get("resets_at").Str())

	run := answered(s, key, canvas)
	require.Equal(t, "succeeded", run.Get("status").Str(), run.JSON())
	a := s.Request("POST", apitest.Completions, key, apitest.Ask("m@Vendor", "hi", true))
	require.Equal(t, 200, a.Status)
	require.NotContains(t, a.Text, "usage", "the client has not asked for the report")
	require.Equal(t, `{"tokens_per_day":20,"tokens_today":20}`, s.As(key, "GET", "/api/v2/me/usage", "", 200).Get("caller").JSON())

	t.Run("pages are refused", func(t *testing.T) {
		for _, stream := range []bool{true, false} {
			a := s.Request("POST", apitest.Completions, key, apitest.Ask("m@Vendor", "hi", stream))
			require.Equal(t, 429, a.Status)
			problem := a.Body.Get("error")
			require.Equal(t, "insufficient_quota insufficient_quota", problem.Get("code").Str()+" "+problem.Get("type").Str())
			require.Contains(t, problem.Get("message").Str(), "the caller's "+usedUpText+"2026-11-22T00:00:00Z")
			after, err := strconv.Atoi(a.Header.Get("Retry-After"))
			require.NoError(t, err)
			require.InDelta(t, 12*60*60-300, after, 300)
		}
	})
	t.Run("a run says why it cannot go on", func(t *testing.T) {
		s.T = t
		run := answered(s, key, canvas)
		require.Equal(t, "failed", run.Get("status").Str())
		require.Contains(t, run.Get("error").Str(), usedUpText)
		records, err := s.Runs.Records(t.Context(), run.Get("id").Str())
		require.NoError(t, err)
		require.Contains(t, string(records[len(records)-1].Data), "quota_used_up")
		events := s.Request("GET", run.Get("events_url").Str(), key, "").Text
		require.Contains(t, events, usedUpText, "the component tells it")
	})
	t.Run("others of the tenant go on", func(t *testing.T) {
		s.T = t
		require.Equal(t, "succeeded", answered(s, "one", canvas).Get("status").Str())
	})
	t.Run("it is listed, and can be raised", func(t *testing.T) {
		s.T = t
		list := s.As("one", "GET", "/api/v2/keys", "", 200).Get("items")
		require.Equal(t, "small 20 20", fmt.Sprint(list.At(0).Get("name").Str(), " ", list.At(0).Get("tokens_per_day").Text(), " ", list.At(0).Get("tokens_today").Text()))
		require.Equal(t, "one 0 10", fmt.Sprint(list.At(1).Get("name").Str(), " ", list.At(1).Get("tokens_per_day").Text(), " ", list.At(1).Get("tokens_today").Text()))
		path := "/api/v2/keys/" + made.Get("id").Str()
		for _, k := range []string{key, "two"} {
			status := map[string]int{key: 403, "two": 404}[k]
			s.As(k, "PUT", path, `{"tokens_per_day":1000}`, status)
		}
		s.As("one", "PUT", "/api/v2/keys/"+apitest.Nowhere, `{"tokens_per_day":1000}`, 404)
		for _, body := range []string{`{"tokens_per_day":-1}`, `{"tokens_per_day":1000000000000001}`, `{"tokens_per_day":9223372036854775808}`, `{"tokens_per_day":1e30}`, `{"tokens_per_day":1.5}`, `{"tokens_per_day":"7"}`, `{"rate":-1}`, `{"tokens":1}`} {
			s.As("one", "PUT", path, body, 422)
			s.As("one", "POST", "/api/v2/keys", body, 422)
		}
		changed := s.As("one", "PUT", path, `{"tokens_per_day":1000,"rate":600}`, 200)
		require.Equal(t, "1000 20 600", fmt.Sprint(changed.Get("tokens_per_day").Text(), " ", changed.Get("tokens_today").Text(), " ", changed.Get("rate").Text()))
		require.True(t, changed.Get("key").IsNull())
		require.Equal(t, `["read","run"]`, s.As("one", "PUT", path, `{}`, 200).Get("scopes").JSON(), "what is not named stays")
		require.Eventually(t, func() bool {
			return s.Request("POST", apitest.Completions, key, apitest.Ask("m@Vendor", "hi", false)).Status == 200
		}, 2*time.Minute, 50*time.Millisecond)
	})
}

func TestQuotaOfATenant(t *testing.T) {
	host := counting(t)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	made := s.As("one", "POST", "/api/v2/tenants", `{"name":"Three","tokens_per_day":20}`, 201)
	require.Equal(t, "20", made.Get("tokens_per_day").Text())
	key, path := made.Get("key").Str(), "/api/v2/tenants/"+made.Get("id").Str()
	again := s.As("one", "POST", path+"/keys", `{}`, 201).Get("key").Str()
	for _, k := range []string{key, again} {
		require.Equal(t, 200, s.Request("POST", apitest.Completions, k, apitest.Ask("m@Vendor", "hi", false)).Status)
	}
	for _, k := range []string{key, again} {
		a := s.Request("POST", apitest.Completions, k, apitest.Ask("m@Vendor", "hi", false))
		require.Equal(t, 429, a.Status)
		require.Contains(t, a.Body.Get("error").Get("message").Str(), "the tenant's "+usedUpText)
		usage := s.As(k, "GET", "/api/v2/me/usage", "", 200)
		require.Equal(t, `{"tokens_today":10} {"tokens_per_day":20,"tokens_today":20}`, usage.Get("caller").JSON()+" "+usage.Get("tenant").JSON())
		s.As(k, "PUT", path, `{"tokens_per_day":0}`, 403)
		s.As(k, "GET", "/api/v2/tenants", "", 403)
	}
	require.Equal(t, 200, s.Request("POST", apitest.Completions, "two", apitest.Ask("m@Vendor", "hi", false)).Status, "another tenant is not limited")
	for _, body := range []string{`{"tokens_per_day":-1}`, `{"tokens_per_day":1000000000000001}`} {
		s.As("one", "PUT", path, body, 422)
		s.As("one", "POST", "/api/v2/tenants", `{"name":"x",`+body[1:], 422)
	}
	s.As("one", "PUT", "/api/v2/tenants/"+apitest.Nowhere, `{"tokens_per_day":1}`, 404)
	require.Equal(t, "20", s.As("one", "PUT", path, `{}`, 200).Get("tokens_today").Text())
	for _, v := range s.As("one", "GET", "/api/v2/tenants", "", 200).Get("items").Elements() {
		require.Equal(t, "20 20", v.Get("tokens_per_day").Text()+" "+v.Get("tokens_today").Text())
	}
	require.Equal(t, "0", s.As("one", "PUT", path, `{"tokens_per_day":0}`, 200).Get("tokens_per_day").Text())
	require.Eventually(t, func() bool {
		return s.Request("POST", apitest.Completions, key, apitest.Ask("m@Vendor", "hi", false)).Status == 200
	}, 2*time.Minute, 50*time.Millisecond)
}

// The tokens of a run count for the principal that started it, and those of a run without one for
// its tenant.
func TestTokensCountForTheCallerOrTheTenant(t *testing.T) {
	host := counting(t)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	canvas := s.Canvas("Asking", asking)
	used := func() map[string]int64 {
		require.NoError(t, s.Quota.Flush())
		got, err := s.Store.Tokens.ByCaller(t.Context(), "one", s.Quota.Today())
		require.NoError(t, err)
		return got
	}
	keys, err := s.Store.Keys.List(t.Context(), "one")
	require.NoError(t, err)
	key := keys[0].Caller()
	for i, try := range []func() apitest.Answer{
		func() apitest.Answer { return s.Post("/v1/canvas/completion", `{"id":"`+canvas+`","query":"hi"}`) },
		func() apitest.Answer {
			return s.Post("/api/v1/agents/"+canvas+"/completions", `{"question":"hi","stream":false}`)
		},
		func() apitest.Answer {
			return s.Post("/api/v1/agents_openai/"+canvas+"/chat/completions", `{"model":"x","stream":false,"messages":[{"role":"user","content":"hi"}]}`)
		},
		func() apitest.Answer {
			return s.Post("/v1/canvas/debug", `{"id":"`+canvas+`","component_id":"LLM:L","params":{"sys.query":{"value":"hi"}}}`)
		},
	} {
		a := try()
		require.Equal(t, 200, a.Status, a.Text)
		require.Equal(t, map[string]int64{"": int64(10 * (i + 1)), key: int64(10 * (i + 1))}, used(), a.Text)
	}
	beta, err := s.Store.Betas.For(t.Context(), "one", canvas)
	require.NoError(t, err)
	a := s.Request("POST", "/api/v1/agentbots/"+canvas+"/completions", beta.Text, `{"question":"hi","stream":false}`)
	require.Equal(t, 200, a.Status, a.Text)
	require.EqualValues(t, 10, used()["beta "+beta.ID])
	require.EqualValues(t, 50, used()[""])

	made := s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+canvas+`","name":"daily","every":"24h"}`, 201)
	kept, err := s.Schedules.Get(t.Context(), "one", made.Get("id").Str())
	require.NoError(t, err)
	require.Equal(t, key, kept.Job.Caller, "a schedule is no way around the quota of who made it")
}

// Without a provider no tokens are counted and no call is refused.
func TestQuotaAndTheOfflineModel(t *testing.T) {
	s := apitest.New(t)
	tight := store.Key{Tenant: "one", TokensPerDay: 1, Scopes: app.Scopes}
	_, _, err := s.Store.Keys.Create(t.Context(), tight, "tight")
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, 200, s.Request("POST", apitest.Completions, "tight", apitest.Ask("", "hi", false)).Status)
	}
	require.Equal(t, "0", s.As("tight", "GET", "/api/v2/me/usage", "", 200).Get("caller").Get("tokens_today").Text())
}

func TestTokensAndCostOfARun(t *testing.T) {
	host := counting(t)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host, c.Models.Operator = host, "one" })
	dsl, err := engine.ParseJSON([]byte(asking))
	require.NoError(t, err)
	prices := engine.Object("m", engine.Object("input", 100, "output", 400))
	priced := dsl.With("settings", engine.Object("prices", prices)).JSON()
	canvas := s.Canvas("Priced", priced)
	byDefault := s.Canvas("Priced by default", strings.Replace(priced, `"m@Vendor"`, `""`, 1))
	for _, each := range []string{canvas, byDefault} {
		run := answered(s, "one", each)
		require.Equal(t, "10 0.0019", run.Get("tokens").Text()+" "+run.Get("cost").Text(), run.JSON())
	}

	s.Good(s.Post("/api/v1/agents/"+canvas+"/completions", `{"question":"x","stream":false}`))
	tokens := s.Good(s.Get("/v1/api/stats?canvas_id=" + canvas)).Data().Get("tokens")
	require.Equal(t, "10.0", tokens.At(0).At(1).Text(), "%s of the session", tokens.JSON())

	s.As("one", "PUT", "/api/v2/models/prices", `{"prices":{"m@Vendor":{"input":1000,"output":4000}}}`, 200)
	for _, each := range []string{canvas, byDefault} {
		run := answered(s, "one", each)
		require.Equal(t, "0.019", run.Get("cost").Text(), "the price that the tenant has set comes first")
	}
}
