package ragflow_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestEditor(t *testing.T) {
	var forgotten []string
	s := apitest.New(t, func(c *apitest.Config) {
		c.ForgetTask = func(_ context.Context, task string) error {
			forgotten = append(forgotten, task)
			return nil
		}
	})
	id := s.Canvas("first", apitest.Echo)
	require.Equal(t, "first already exists.", s.Post("/v1/canvas/set", `{"title":"first","dsl":`+apitest.Echo+`}`).Message())
	require.Equal(t, "required argument are missing: dsl,title; ", s.Post("/v1/canvas/set", `{}`).Message())
	a := s.Good(s.Get("/v1/canvas/list?keywords=FIR"))
	require.Equal(t, id, a.Data().Get("canvas").At(0).Get("id").Str())
	require.Equal(t, "first", s.Good(s.Get("/v1/canvas/get/"+id)).Data().Get("title").Str())
	require.Equal(t, api.NoCanvas, s.Get("/v1/canvas/get/"+apitest.Nowhere).Message())

	a = s.Good(s.Post("/v1/canvas/set", `{"id":"`+id+`","title":"first","dsl":`+apitest.Formed+`}`))
	require.NotZero(t, a.Data().Get("update_time").Text())
	s.Good(s.Post("/v1/canvas/setting", `{"id":"`+id+`","title":"second","permission":"team","description":"d"}`))
	require.Equal(t, 101, s.Post("/v1/canvas/setting", `{"id":"`+id+`","title":"second","permission":"all"}`).Code())
	a = s.Good(s.Get("/v1/canvas/getlistversion/" + id))
	require.Equal(t, 2, a.Data().Len())
	a = s.Good(s.Get("/v1/canvas/getversion/" + a.Data().At(1).Get("id").Str()))
	require.Equal(t, engine.KindObject, a.Data().Get("dsl").Kind())
	require.Equal(t, "Version not found.", s.Get("/v1/canvas/getversion/"+apitest.Nowhere).Message())

	a = s.Good(s.Get("/v1/canvas/input_form?id=" + id + "&component_id=UserFillUp:F"))
	require.Equal(t, "City", a.Data().Get("city").Get("name").Str())
	require.Equal(t, 100, s.Get("/v1/canvas/input_form?id="+id+"&component_id=Missing:X").Code())
	s.Good(s.Post("/v1/canvas/set", `{"id":"`+id+`","title":"second","dsl":`+apitest.Echo+`}`))
	a = s.Good(s.Post("/v1/canvas/debug", `{"id":"`+id+`","component_id":"Message:A","params":{"sys.query":{"value":"Q"}}}`))
	require.Equal(t, "You said Q", a.Data().Get("content").Str())

	a = s.Post("/v1/canvas/completion", `{"id":"`+id+`","query":"hi"}`)
	list, done := a.Events()
	require.False(t, done)
	require.Equal(t, "workflow_finished", list[len(list)-1].Get("event").Str())
	_, has := list[0].Lookup("session_id")
	require.False(t, has)
	kept := s.Good(s.Get("/v1/canvas/get/" + id)).Data().Get("dsl")
	require.Equal(t, 2, kept.Get("history").Len(), "the editor's run is kept in the canvas")
	require.Equal(t, "{}", s.Good(s.Get("/v1/canvas/trace?canvas_id="+id+"&message_id="+list[0].Get("message_id").Str())).Data().JSON())
	a = s.Good(s.Post("/v1/canvas/reset", `{"id":"`+id+`"}`))
	require.Zero(t, a.Data().Get("history").Len())
	require.Equal(t, []string{kept.Get("task_id").Str()}, forgotten, "the keys of the task go with the conversation")
	require.Equal(t, "Only owner of canvas authorized for this operation.", s.Post("/v1/canvas/completion", `{"id":"`+apitest.Nowhere+`"}`).Message())

	s.Good(s.Post("/v1/canvas/rm", `{"canvas_ids":["`+id+`"]}`))
	require.Equal(t, 103, s.Post("/v1/canvas/rm", `{"canvas_ids":["`+id+`"]}`).Code())
	s.Good(s.Get("/v1/canvas/templates"))
	require.Equal(t, 4, s.Good(s.Get("/v1/canvas/prompts")).Data().Len())
}

func TestCancelStopsARun(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	best := time.Hour
	for n := 0; n < 5 && best >= time.Second; n++ { // a busy machine may be late, but not each time
		best = min(best, cancelOne(s, id))
	}
	require.Less(t, best, time.Second)
	s.Good(s.Request("PUT", "/v1/canvas/cancel/unknown", "one", ""))
	require.Equal(t, "Invalid action 'pause'. Only 'stop' is supported.", s.Request("PATCH", "/api/v1/tasks/x", "one", `{"action":"pause"}`).Message())
}

// cancelOne runs a canvas that does not end by itself, and returns the time from its cancel to the
// response.
func cancelOne(s *apitest.Site, canvas string) time.Duration {
	s.T.Helper()
	done := make(chan apitest.Answer, 1)
	go func() { done <- s.Post("/v1/canvas/completion", `{"id":"`+canvas+`"}`) }()
	var run store.Run
	require.Eventually(s.T, func() bool {
		list, _, err := s.Store.Runs.List(
			s.T.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{},
		)
		if err != nil || len(list) == 0 {
			return false
		}
		run = list[0]
		return true
	}, 2*time.Minute, time.Millisecond)
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+run.ID, "two", ""))
	select {
	case <-done:
		s.T.Fatal("another tenant stopped the run")
	case <-time.After(50 * time.Millisecond):
	}
	began := time.Now()
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+run.ID, "one", ""))
	a := <-done
	took := time.Since(began)
	require.Contains(s.T, a.Text, "Task has been canceled")
	return took
}

func TestRunContinuesWhenItsClientDisconnects(t *testing.T) {
	for _, leave := range []bool{false, true} {
		s := apitest.New(t, func(c *apitest.Config) { c.CancelOnLeave = leave })
		id := s.Canvas("a", apitest.Slow)
		run := s.Post("/api/v2/canvases/"+id+"/runs", `{}`).Body.Get("id").Str()
		stop := s.WatchBriefly("/api/v2/runs/" + run + "/events")
		stop()
		if leave {
			require.Eventually(t, func() bool { return s.Get("/api/v2/runs/"+run).Body.Get("status").Str() == store.RunCanceled }, 2*time.Minute, 5*time.Millisecond)
			continue
		}
		s.Gate <- struct{}{}
		require.Eventually(t, func() bool { return s.Get("/api/v2/runs/"+run).Body.Get("status").Str() == store.RunDone }, 2*time.Minute, 5*time.Millisecond)
	}
}

func TestEmbeddedPages(t *testing.T) {
	s := apitest.New(t)
	id, other := s.Canvas("a", apitest.Echo), s.Canvas("b", apitest.Echo)
	a := s.Good(s.Post("/v1/api/new_token", `{"canvas_id":"`+id+`"}`))
	beta := a.Data().Get("beta").Str()
	require.Len(t, beta, 32)
	a = s.Good(s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", beta, ""))
	require.Equal(t, "Welcome", a.Data().Get("prologue").Str())
	a = s.Request("POST", "/api/v1/agentbots/"+id+"/completions", beta, `{"query":"hi","session_id":null,"inputs":{}}`)
	require.Equal(t, "workflow_started node_started node_finished node_started message message message_end node_finished workflow_finished", a.Kinds())
	a = s.Good(s.Request("POST", "/api/v1/agentbots/"+id+"/completions", beta, `{"query":"hi","stream":false}`))
	require.Equal(t, "You said hi", a.Data().Get("data").Get("content").Str())
	require.Equal(t, "Can't find agent by ID: "+other, s.Request("POST", "/api/v1/agentbots/"+other+"/completions", beta, `{}`).Message())
	require.Equal(t, 109, s.Request("GET", "/api/v1/agents", beta, "").Code(), "a page's token opens nothing else")
	require.Equal(t, 401, s.Request("GET", "/0.27/api/v1/agents", beta, "").Status)
	require.Equal(t, `Authentication error: API key is invalid!"`, s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", "wrong", "").Message())
	a = s.Good(s.Request("GET", "/v1/canvas/getsse/"+id, beta, ""))
	require.Equal(t, "a", a.Data().Get("title").Str())
}

func TestUploads(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.MaxUpload = 1 << 20 })
	files := sketch.Canvas("begin Begin -> Message:A", `Message:A Message {"content":["{sys.files}"]}`)
	id := s.Canvas("a", files)
	body, kind := apitest.Form(`../../etc/"pass`+"\n"+`wd.txt`, "secret tea")
	a := s.Good(s.Request("POST", "/v1/canvas/upload/"+id, "one", body, "Content-Type", kind))
	file := a.Data()
	require.Equal(t, "passwd.txt", strings.ReplaceAll(file.Get("name").Str(), "%0A", ""))
	require.Equal(t, "10", file.Get("size").Text())
	got := s.Get("/v1/canvas/download?id=" + file.Get("id").Str() + "&created_by=one")
	require.Equal(t, "secret tea", got.Text)
	require.Contains(t, got.Header.Get("Content-Disposition"), "attachment")
	run := s.Good(s.Post("/api/v1/agents/"+id+"/completions", `{"stream":false,"question":"x","files":[`+file.JSON()+`]}`))
	require.Contains(t, run.Data().Get("data").Get("content").Str(), "secret tea")

	t.Run("another tenant's file is not read", func(t *testing.T) {
		require.Equal(t, "File not found.", s.Request("GET", "/v1/canvas/download?id="+file.Get("id").Str(), "two", "").Message())
		two := s.Request("POST", "/v1/canvas/set", "two", `{"title":"b","dsl":`+files+`}`).Data().Get("id").Str()
		run := s.Request("POST", "/api/v1/agents/"+two+"/completions", "two", `{"stream":false,"files":[`+file.JSON()+`]}`)
		require.Equal(t, 100, run.Code())
		require.NotContains(t, run.Text, "secret tea")
	})
	t.Run("too large", func(t *testing.T) {
		body, kind := apitest.Form("big.txt", strings.Repeat("x", 3<<20))
		require.Equal(t, 413, s.Request("POST", "/v1/canvas/upload/"+id, "one", body, "Content-Type", kind).Status)
	})
	t.Run("no file", func(t *testing.T) {
		require.Equal(t, 101, s.Post("/v1/canvas/upload/"+id, `{}`).Code())
	})
	t.Run("private addresses are refused", func(t *testing.T) {
		for _, address := range []string{s.URL, "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd", "gopher://x/"} {
			a := s.Post("/v1/canvas/upload/"+id+"?url="+address, "")
			require.Equal(t, 101, a.Code(), address)
		}
	})
}

func TestTokensAndLogin(t *testing.T) {
	s := apitest.New(t)
	a := s.Good(s.Post("/v1/system/new_token", `{"name":"n","scopes":["read"]}`))
	key := a.Data().Get("token").Str()
	require.True(t, strings.HasPrefix(key, "ragflow-"))
	require.Len(t, key, len("ragflow-")+43)
	require.Equal(t, 0, s.Request("GET", "/api/v1/agents", key, "").Code())
	require.Equal(t, 403, s.Request("POST", "/api/v1/agents", key, `{"title":"x","dsl":`+apitest.Echo+`}`).Status)
	list := s.Good(s.Get("/v1/system/token_list"))
	require.NotContains(t, list.Text, key, "a key is shown once")
	s.Good(s.Delete("/v1/system/token/"+key, ""))
	require.Equal(t, 109, s.Request("GET", "/api/v1/agents", key, "").Code())
	s.Good(s.Delete("/v1/system/token/"+key, ""))
	require.Equal(t, "required argument are missing: tokens,tenant_id; ", s.Post("/v1/api/rm", `{}`).Message())
	require.Equal(t, 6, s.Good(s.Get("/v1/api/stats")).Data().Len())

	u, err := s.Store.Users.Create(t.Context(), store.User{Email: "a@b.c", Nickname: "Ann"}, "pass word")
	require.NoError(t, err)
	require.NoError(t, s.Store.Members.Put(t.Context(), store.Member{Tenant: "one", User: u.ID, Role: "owner"}))
	require.Equal(t, 109, s.Request("POST", "/v1/user/login", "", `{"email":"a@b.c","password":"nope"}`).Code())
	a = s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"A@b.c","password":"cGFzcyB3b3Jk"}`))
	login := a.Header.Get("Authorization")
	require.NotEmpty(t, login)
	require.Equal(t, 0, s.Request("GET", "/v1/canvas/list", "", "", "Authorization", login).Code())
	cookie := strings.SplitN(a.Header.Get("Set-Cookie"), ";", 2)[0]
	require.Equal(t, 0, s.Request("GET", "/v1/canvas/list", "", "", "Cookie", cookie, api.PageHeader, api.PageItself).Code())
	require.Equal(t, 403, s.Request("POST", "/v1/canvas/rm", "", `{"canvas_ids":[]}`, "Cookie", cookie, api.PageHeader, api.PageItself).Status, "a foreign page could send this")
	require.Equal(t, 0, s.Request("POST", "/v1/canvas/rm", "", `{"canvas_ids":[]}`, "Cookie", cookie, api.PageHeader, api.PageItself, api.CSRFHeader, a.Header.Get(api.CSRFHeader)).Code())
	s.Request("GET", "/v1/user/logout", "", "", "Authorization", login)
	require.Equal(t, 401, s.Request("GET", "/v1/canvas/list", "", "", "Authorization", login).Status)
}

func TestRateOfAKey(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Rate = 5 })
	began, passed := time.Now(), 0
	for tries := 0; ; tries++ { // a slow machine may stay below the rate
		require.Less(t, tries, 1000)
		if s.Get("/v1/canvas/list").Status == 429 {
			break
		}
		passed++
	}
	require.GreaterOrEqual(t, passed, 5)
	require.LessOrEqual(t, float64(passed), 5+5*time.Since(began).Seconds())
	require.Equal(t, 200, s.Request("GET", "/v1/canvas/list", "two", "").Status)
}
