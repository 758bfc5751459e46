package api

import (
	"bytes"
	"context"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

func TestEditor(t *testing.T) {
	var forgotten []string
	s := newSite(t, func(c *Config) {
		c.ForgetTask = func(_ context.Context, task string) error {
			forgotten = append(forgotten, task)
			return nil
		}
	})
	id := s.canvas("first", echo)
	require.Equal(t, "first already exists.", s.post("/v1/canvas/set", `{"title":"first","dsl":`+echo+`}`).message())
	require.Equal(t, "required argument are missing: dsl,title; ", s.post("/v1/canvas/set", `{}`).message())
	a := s.good(s.get("/v1/canvas/list?keywords=FIR"))
	require.Equal(t, id, a.data().Get("canvas").At(0).Get("id").Str())
	require.Equal(t, "first", s.good(s.get("/v1/canvas/get/"+id)).data().Get("title").Str())
	require.Equal(t, noCanvas, s.get("/v1/canvas/get/"+nowhere).message())

	a = s.good(s.post("/v1/canvas/set", `{"id":"`+id+`","title":"first","dsl":`+formed+`}`))
	require.NotZero(t, a.data().Get("update_time").Text())
	s.good(s.post("/v1/canvas/setting", `{"id":"`+id+`","title":"second","permission":"team","description":"d"}`))
	require.Equal(t, 101, s.post("/v1/canvas/setting", `{"id":"`+id+`","title":"second","permission":"all"}`).code())
	a = s.good(s.get("/v1/canvas/getlistversion/" + id))
	require.Equal(t, 2, a.data().Len())
	a = s.good(s.get("/v1/canvas/getversion/" + a.data().At(1).Get("id").Str()))
	require.Equal(t, engine.KindObject, a.data().Get("dsl").Kind())
	require.Equal(t, "Version not found.", s.get("/v1/canvas/getversion/"+nowhere).message())

	a = s.good(s.get("/v1/canvas/input_form?id=" + id + "&component_id=UserFillUp:F"))
	require.Equal(t, "City", a.data().Get("city").Get("name").Str())
	require.Equal(t, 100, s.get("/v1/canvas/input_form?id="+id+"&component_id=Nobody:X").code())
	s.good(s.post("/v1/canvas/set", `{"id":"`+id+`","title":"second","dsl":`+echo+`}`))
	a = s.good(s.post("/v1/canvas/debug", `{"id":"`+id+`","component_id":"Message:A","params":{"sys.query":{"value":"Q"}}}`))
	require.Equal(t, "You said Q", a.data().Get("content").Str())

	a = s.post("/v1/canvas/completion", `{"id":"`+id+`","query":"hi"}`)
	list, done := a.events()
	require.False(t, done)
	require.Equal(t, "workflow_finished", list[len(list)-1].Get("event").Str())
	_, has := list[0].Lookup("session_id")
	require.False(t, has)
	kept := s.good(s.get("/v1/canvas/get/" + id)).data().Get("dsl")
	require.Equal(t, 2, kept.Get("history").Len(), "the editor's run is kept in the canvas")
	require.Equal(t, "{}", s.good(s.get("/v1/canvas/trace?canvas_id="+id+"&message_id="+list[0].Get("message_id").Str())).data().JSON())
	a = s.good(s.post("/v1/canvas/reset", `{"id":"`+id+`"}`))
	require.Zero(t, a.data().Get("history").Len())
	require.Equal(t, []string{kept.Get("task_id").Str()}, forgotten, "the keys of the task go with the conversation")
	require.Equal(t, "Only owner of canvas authorized for this operation.", s.post("/v1/canvas/completion", `{"id":"`+nowhere+`"}`).message())

	s.good(s.post("/v1/canvas/rm", `{"canvas_ids":["`+id+`"]}`))
	require.Equal(t, 103, s.post("/v1/canvas/rm", `{"canvas_ids":["`+id+`"]}`).code())
	s.good(s.get("/v1/canvas/templates"))
	require.Equal(t, 4, s.good(s.get("/v1/canvas/prompts")).data().Len())
}

func TestCancelStopsARun(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", slow)
	best := time.Hour
	for n := 0; n < 5 && best >= time.Second; n++ { // a busy machine may be late, but not each time
		best = min(best, s.cancelOne(id))
	}
	require.Less(t, best, time.Second)
	s.good(s.request("PUT", "/v1/canvas/cancel/unknown", "one", ""))
	require.Equal(t, "Invalid action 'pause'. Only 'stop' is supported.", s.request("PATCH", "/api/v1/tasks/x", "one", `{"action":"pause"}`).message())
}

// cancelOne runs a canvas that does not end by itself, and says how long after its cancel the
// answer came.
func (s *site) cancelOne(canvas string) time.Duration {
	s.t.Helper()
	done := make(chan answer, 1)
	go func() { done <- s.post("/v1/canvas/completion", `{"id":"`+canvas+`"}`) }()
	var run store.Run
	require.Eventually(s.t, func() bool {
		list, _, err := s.store.Runs(s.t.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{})
		if err != nil || len(list) == 0 {
			return false
		}
		run = list[0]
		return true
	}, time.Minute, time.Millisecond)
	s.good(s.request("PUT", "/v1/canvas/cancel/"+run.ID, "two", ""))
	select {
	case <-done:
		s.t.Fatal("another tenant stopped the run")
	case <-time.After(50 * time.Millisecond):
	}
	began := time.Now()
	s.good(s.request("PUT", "/v1/canvas/cancel/"+run.ID, "one", ""))
	a := <-done
	took := time.Since(began)
	require.Contains(s.t, a.text, "Task has been canceled")
	return took
}

func TestRunGoesOnWhenItsClientLeaves(t *testing.T) {
	for _, leave := range []bool{false, true} {
		s := newSite(t, func(c *Config) { c.CancelOnLeave = leave })
		id := s.canvas("a", slow)
		run := s.post("/api/v2/canvases/"+id+"/runs", `{}`).body.Get("id").Str()
		stop := s.watchBriefly("/api/v2/runs/" + run + "/events")
		stop()
		if leave {
			require.Eventually(t, func() bool { return s.get("/api/v2/runs/"+run).body.Get("status").Str() == store.RunCanceled }, time.Minute, 5*time.Millisecond)
			continue
		}
		s.gate <- struct{}{}
		require.Eventually(t, func() bool { return s.get("/api/v2/runs/"+run).body.Get("status").Str() == store.RunDone }, time.Minute, 5*time.Millisecond)
	}
}

func TestEmbeddedPages(t *testing.T) {
	s := newSite(t)
	id, other := s.canvas("a", echo), s.canvas("b", echo)
	a := s.good(s.post("/v1/api/new_token", `{"canvas_id":"`+id+`"}`))
	beta := a.data().Get("beta").Str()
	require.Len(t, beta, 32)
	a = s.good(s.request("GET", "/api/v1/agentbots/"+id+"/inputs", beta, ""))
	require.Equal(t, "Welcome", a.data().Get("prologue").Str())
	a = s.request("POST", "/api/v1/agentbots/"+id+"/completions", beta, `{"query":"hi","session_id":null,"inputs":{}}`)
	require.Equal(t, "workflow_started node_started node_finished node_started message message message_end node_finished workflow_finished", a.kinds())
	a = s.good(s.request("POST", "/api/v1/agentbots/"+id+"/completions", beta, `{"query":"hi","stream":false}`))
	require.Equal(t, "You said hi", a.data().Get("data").Get("content").Str())
	require.Equal(t, "Can't find agent by ID: "+other, s.request("POST", "/api/v1/agentbots/"+other+"/completions", beta, `{}`).message())
	require.Equal(t, 109, s.request("GET", "/api/v1/agents", beta, "").code(), "a page's token opens nothing else")
	require.Equal(t, 401, s.request("GET", "/0.27/api/v1/agents", beta, "").status)
	require.Equal(t, `Authentication error: API key is invalid!"`, s.request("GET", "/api/v1/agentbots/"+id+"/inputs", "wrong", "").message())
	a = s.good(s.request("GET", "/v1/canvas/getsse/"+id, beta, ""))
	require.Equal(t, "a", a.data().Get("title").Str())
}

// form is a multipart body with one file.
func form(name, content string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func TestUploads(t *testing.T) {
	s := newSite(t, func(c *Config) { c.MaxUpload = 1 << 20 })
	files := parts([4]string{"begin", "Begin", `{}`, "Message:A"}, [4]string{"Message:A", "Message", `{"content":["{sys.files}"]}`, ""})
	id := s.canvas("a", files)
	body, kind := form(`../../etc/"pass`+"\n"+`wd.txt`, "secret tea")
	a := s.good(s.request("POST", "/v1/canvas/upload/"+id, "one", body, "Content-Type", kind))
	file := a.data()
	require.Equal(t, "passwd.txt", strings.ReplaceAll(file.Get("name").Str(), "%0A", ""))
	require.Equal(t, "10", file.Get("size").Text())
	got := s.get("/v1/canvas/download?id=" + file.Get("id").Str() + "&created_by=one")
	require.Equal(t, "secret tea", got.text)
	require.Contains(t, got.header.Get("Content-Disposition"), "attachment")
	run := s.good(s.post("/api/v1/agents/"+id+"/completions", `{"stream":false,"question":"x","files":[`+file.JSON()+`]}`))
	require.Contains(t, run.data().Get("data").Get("content").Str(), "secret tea")

	t.Run("another tenant's file is not read", func(t *testing.T) {
		require.Equal(t, "File not found.", s.request("GET", "/v1/canvas/download?id="+file.Get("id").Str(), "two", "").message())
		two := s.request("POST", "/v1/canvas/set", "two", `{"title":"b","dsl":`+files+`}`).data().Get("id").Str()
		run := s.request("POST", "/api/v1/agents/"+two+"/completions", "two", `{"stream":false,"files":[`+file.JSON()+`]}`)
		require.Equal(t, 100, run.code())
		require.NotContains(t, run.text, "secret tea")
	})
	t.Run("too large", func(t *testing.T) {
		body, kind := form("big.txt", strings.Repeat("x", 3<<20))
		require.Equal(t, 413, s.request("POST", "/v1/canvas/upload/"+id, "one", body, "Content-Type", kind).status)
	})
	t.Run("no file", func(t *testing.T) {
		require.Equal(t, 101, s.post("/v1/canvas/upload/"+id, `{}`).code())
	})
	t.Run("private addresses are refused", func(t *testing.T) {
		for _, address := range []string{s.url, "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd", "gopher://x/"} {
			a := s.post("/v1/canvas/upload/"+id+"?url="+address, "")
			require.Equal(t, 101, a.code(), address)
		}
	})
}

func TestTokensAndLogin(t *testing.T) {
	s := newSite(t)
	a := s.good(s.post("/v1/system/new_token", `{"name":"n","scopes":["read"]}`))
	key := a.data().Get("token").Str()
	require.True(t, strings.HasPrefix(key, "ragflow-"))
	require.Len(t, key, len("ragflow-")+43)
	require.Equal(t, 0, s.request("GET", "/api/v1/agents", key, "").code())
	require.Equal(t, 403, s.request("POST", "/api/v1/agents", key, `{"title":"x","dsl":`+echo+`}`).status)
	list := s.good(s.get("/v1/system/token_list"))
	require.NotContains(t, list.text, key, "a key is shown once")
	s.good(s.delete("/v1/system/token/"+key, ""))
	require.Equal(t, 109, s.request("GET", "/api/v1/agents", key, "").code())
	s.good(s.delete("/v1/system/token/"+key, ""))
	require.Equal(t, "required argument are missing: tokens,tenant_id; ", s.post("/v1/api/rm", `{}`).message())
	require.Equal(t, 6, s.good(s.get("/v1/api/stats")).data().Len())

	u, err := s.store.CreateUser(t.Context(), store.User{Email: "a@b.c", Nickname: "Ann"}, "pass word")
	require.NoError(t, err)
	require.NoError(t, s.store.PutMember(t.Context(), store.Member{Tenant: "one", User: u.ID, Role: "owner"}))
	require.Equal(t, 109, s.request("POST", "/v1/user/login", "", `{"email":"a@b.c","password":"nope"}`).code())
	a = s.good(s.request("POST", "/v1/user/login", "", `{"email":"A@b.c","password":"cGFzcyB3b3Jk"}`))
	login := a.header.Get("Authorization")
	require.NotEmpty(t, login)
	require.Equal(t, 0, s.request("GET", "/v1/canvas/list", "", "", "Authorization", login).code())
	cookie := strings.SplitN(a.header.Get("Set-Cookie"), ";", 2)[0]
	require.Equal(t, 0, s.request("GET", "/v1/canvas/list", "", "", "Cookie", cookie, pageHeader, pageItself).code())
	require.Equal(t, 403, s.request("POST", "/v1/canvas/rm", "", `{"canvas_ids":[]}`, "Cookie", cookie, pageHeader, pageItself).status, "a foreign page could send this")
	require.Equal(t, 0, s.request("POST", "/v1/canvas/rm", "", `{"canvas_ids":[]}`, "Cookie", cookie, pageHeader, pageItself, csrfHeader, a.header.Get(csrfHeader)).code())
	s.request("GET", "/v1/user/logout", "", "", "Authorization", login)
	require.Equal(t, 401, s.request("GET", "/v1/canvas/list", "", "", "Authorization", login).status)
}

func TestRateOfAKey(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Rate = 5 })
	began, passed := time.Now(), 0
	for tries := 0; ; tries++ { // a slow machine asks less often than that
		require.Less(t, tries, 1000)
		if s.get("/v1/canvas/list").status == 429 {
			break
		}
		passed++
	}
	require.GreaterOrEqual(t, passed, 5)
	require.LessOrEqual(t, float64(passed), 5+5*time.Since(began).Seconds())
	require.Equal(t, 200, s.request("GET", "/v1/canvas/list", "two", "").status)
}
