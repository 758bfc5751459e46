package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// belongings are ids of everything tenant one has.
type belongings struct {
	title, canvas, session, run, message, version, file, server, key string
	user, secret, provider, tenant, schedule                         string // of furnishAll
}

// furnished counts belongings, so that each has titles of its own.
var furnished int

func (s *site) furnish() belongings {
	s.t.Helper()
	var b belongings
	furnished++
	b.title = fmt.Sprintf("mine %d", furnished)
	b.canvas = s.canvas(b.title, echo)
	b.version = s.good(s.get("/v1/canvas/getlistversion/" + b.canvas)).data().At(0).Get("id").Str()
	b.session = s.good(s.post("/api/v1/agents/"+b.canvas+"/sessions", `{}`)).data().Get("id").Str()
	a := s.good(s.post("/api/v1/agents/"+b.canvas+"/completions", `{"question":"my secret","stream":false,"session_id":"`+b.session+`"}`))
	b.run, b.message = a.body.Get("data").Get("task_id").Str(), a.body.Get("data").Get("message_id").Str()
	body, kind := form("f.txt", "my secret")
	b.file = s.good(s.request("POST", "/v1/canvas/upload/"+b.canvas, "one", body, "Content-Type", kind)).data().Get("id").Str()
	b.server = s.good(s.post("/v1/mcp_server/create", `{"name":"`+b.title+`","url":"http://127.0.0.1:1/","server_type":"sse"}`)).data().Get("id").Str()
	keys, err := s.store.Keys(s.t.Context(), "one")
	require.NoError(s.t, err)
	b.key = keys[0].ID
	return b
}

// furnishAll adds what takes longer to make.
func (s *site) furnishAll() belongings {
	s.t.Helper()
	b := s.furnish()
	u, err := s.store.CreateMember(s.t.Context(), store.Member{Tenant: "one", Role: roleOwner}, store.User{Email: "mine@x.org", Nickname: b.title}, "my secret password")
	require.NoError(s.t, err)
	b.user, b.secret, b.provider, b.tenant = u.ID, "mine.secret", "mine", "one"
	b.schedule = s.as("one", "POST", "/api/v2/schedules", `{"canvas":"`+b.canvas+`","every":"24h","query":"my secret"}`, 201).Get("id").Str()
	require.NoError(s.t, s.store.PutSecret(s.t.Context(), "one", b.secret, []byte("my secret"), nil))
	require.NoError(s.t, s.api.cfg.Models.Put(s.t.Context(), "one", model.Provider{Name: b.provider, BaseURL: "http://127.0.0.1:1", Key: "my secret"}))
	return b
}

// nobodys are belongings that nobody has.
var nobodys = belongings{
	canvas: nowhere, session: nowhere, run: nowhere, message: nowhere, version: nowhere, file: nowhere, server: nowhere, key: nowhere,
	user: nowhere, secret: nowhere, provider: nowhere, tenant: nowhere, schedule: nowhere,
}

// fill puts ids into the parameters of a path.
func (b belongings) fill(path string) string {
	mcp := strings.Contains(path, "mcp")
	return strings.NewReplacer(
		"{sid}", b.session, "{vid}", b.version, "{message}", b.message, "{task}", b.run, "{component}", "Message:A", "{token}", b.key, "{key}", b.key,
		"{user}", b.user, "{name}", b.secret, "{provider}", b.provider, "{tenant}", b.tenant, "{schedule}", b.schedule, "{plugin}", b.provider,
		"{id}", map[bool]string{true: b.server, false: b.idFor(path)}[mcp],
	).Replace(path)
}

func (b belongings) idFor(path string) string {
	switch {
	case strings.Contains(path, "/runs/"):
		return b.run
	case strings.Contains(path, "/attachments/"):
		return b.file
	}
	return b.canvas
}

// body names everything of the owner at once; each route takes what it knows.
func (b belongings) body() string {
	return fmt.Sprintf(`{"id":%q,"agent_id":%q,"canvas_id":%q,"canvas_ids":[%q],"session_id":%q,"session":%q,"ids":[%q],
		"component_id":"Message:A","params":{},"mcp_id":%q,"mcp_ids":[%q],"tool_name":"x","arguments":{},"tools":[],"tokens":[%q],"tenant_id":"one",
		"title":"stolen","permission":"team","name":"new%d","url":"http://127.0.0.1:1/","server_type":"sse","action":"stop","timeout":1,
		"dsl":%s,"model":"m","messages":[{"role":"user","content":"x"}],"question":"x","node":"Message:A","inputs":{},"query":"x","stream":false}`,
		b.canvas, b.canvas, b.canvas, b.canvas, b.session, b.session, b.session, b.server, b.server, b.key, time.Now().UnixNano(), echo)
}

func (b belongings) query() string {
	return fmt.Sprintf("?id=%s&component_id=Message:A&canvas_id=%s&message_id=%s&mcp_id=%s&created_by=one&user_id=one", b.canvas, b.canvas, b.message, b.server)
}

// eachRoute calls a test with every route and a method that it takes.
func eachRoute(f func(r route, method string)) {
	for _, r := range allRoutes() {
		for m := range strings.FieldsSeq(strings.ReplaceAll(r.method, webhookMethods, "GET POST")) {
			f(r, m)
		}
	}
}

func TestNobodyGetsIn(t *testing.T) {
	s := newSite(t)
	b := s.furnishAll()
	routes := 0
	eachRoute(func(r route, method string) {
		if r.need == needNone {
			return
		}
		routes++
		path := b.fill(r.path) + b.query()
		require.NotContains(t, path, "{", "belongings.fill does not know a parameter")
		for _, auth := range []string{"", "Bearer", "Bearer ", "Basic b25lOm9uZQ==", "Bearer one two", "bearer\tnone", "wrong"} {
			body := b.body()
			if method == "GET" {
				body = ""
			}
			a := s.request(method, path, "", body, "Authorization", auth)
			require.NotEqual(t, 0, a.code(), "%s %s with %q: %s", method, r.path, auth, a.text)
			require.NotContains(t, a.text, "my secret")
			if auth == "" || auth == "Bearer" {
				require.Equal(t, 401, a.status, "%s %s", method, r.path)
			}
		}
	})
	require.Greater(t, routes, 150)
}

func TestAnotherTenantsIdsAreLikeUnknownOnes(t *testing.T) {
	s := newSite(t)
	b := s.furnishAll()
	clean := func(a answer) string {
		text := a.text
		for _, id := range []string{b.canvas, b.session, b.run, b.message, b.version, b.file, b.server, b.key, b.user, b.secret, b.provider, b.schedule} {
			text = strings.ReplaceAll(text, id, nowhere)
		}
		return text
	}
	compared := 0
	eachRoute(func(r route, method string) {
		if r.need == needNone || strings.Contains(r.path, "logout") {
			return
		}
		body := func(b belongings) string {
			if method == "GET" {
				return ""
			}
			return b.body()
		}
		theirs := s.request(method, b.fill(r.path)+b.query(), "two", body(b))
		require.NotContains(t, theirs.text, "my secret", "%s %s", method, r.path)
		require.NotContains(t, theirs.text, "mine", "%s %s", method, r.path)
		unknown := s.request(method, nobodys.fill(r.path)+nobodys.query(), "two", body(nobodys))
		require.Equal(t, unknown.status, theirs.status, "%s %s: %s / %s", method, r.path, theirs.text, unknown.text)
		if refusal := theirs.code() > 0 || theirs.status >= 400; refusal {
			compared++
			require.Equal(t, unknown.text, clean(theirs), "%s %s", method, r.path)
		}
	})
	require.Greater(t, compared, 80)
	// Everything is as it was.
	require.Equal(t, b.title, s.good(s.get("/v1/canvas/get/"+b.canvas)).data().Get("title").Str())
	require.Equal(t, 1, s.good(s.get("/api/v1/agents/"+b.canvas+"/sessions?id="+b.session)).data().Len())
	require.Equal(t, "1", s.good(s.post("/v1/mcp_server/list", `{}`)).data().Get("total").Text())
	require.Equal(t, "my secret", s.get("/v1/canvas/download?id="+b.file).text)
	require.Equal(t, b.secret, s.get("/api/v2/secrets").body.Get("items").At(0).Get("name").Str())
	require.Equal(t, b.schedule, s.get("/api/v2/schedules").body.Get("items").At(0).Get("id").Str())
	require.Equal(t, b.provider, s.get("/api/v2/providers").body.Get("items").At(0).Get("name").Str())
	_, err := s.store.UserByPassword(t.Context(), "mine@x.org", "my secret password")
	require.NoError(t, err)
	keys, err := s.store.Keys(t.Context(), "one")
	require.NoError(t, err)
	require.Len(t, keys, 1)
}

// TestBadBodies sends what no client should to every route that reads JSON. No
// answer may be an HTTP 500, and none may take long.
func TestBadBodies(t *testing.T) {
	s := newSite(t, func(c *Config) { c.MaxBody = 64 << 10 })
	id := s.canvas("a", echo)
	deep := strings.Repeat("[", 100_000)
	bodies := map[string]string{
		"no JSON": `{"title":`, "list": `[]`, "text": `"x"`, "number": `7`, "null": `null`, "empty": "", "zero byte": "{\"id\":\"a\x00b\"}",
		"deep": deep, "large": `{"title":"` + strings.Repeat("x", 100<<10) + `"}`, "not UTF-8": "{\"title\":\"\xff\xfe\"}", "doubled": `{"id":"a","id":{}}`,
		"huge number": `{"id":1e999999,"stream":1e999999}`,
		"lists": `{"id":[1],"title":[2],"dsl":[3],"agent_id":[4],"session_id":[5],"query":[6],"inputs":[7],"files":{"a":1},"ids":"x","canvas_ids":"x","mcp_ids":7,
			"params":[1],"messages":"x","model":[1],"tokens":5,"stream":[],"url":{},"name":{},"server_type":{},"mcpServers":[],"tools":{},"arguments":[],"permission":{}}`,
		"objects": `{"id":{},"title":{},"dsl":"{","agent_id":{},"session_id":{},"query":{},"inputs":"x","files":"x","ids":{},"canvas_ids":{},"mcp_ids":{},
			"params":"x","messages":{},"tokens":{},"from":{},"pins":7,"node":{},"nth":"x","seq":-7,"email":{},"password":{}}`,
	}
	eachRoute(func(r route, method string) {
		if method == "GET" || r.body.streamed() {
			return
		}
		here := nobodys
		here.canvas = id
		path := here.fill(r.path)
		for name, body := range bodies {
			if name == "empty" && method == "DELETE" {
				continue // what the SDK sends
			}
			a := s.request(method, path, "one", body)
			require.Less(t, a.status, 500, "%s %s, %s: %s", method, r.path, name, a.text)
			require.NotContains(t, a.text, "panic")
			if name == "large" && a.code() == 0 {
				t.Fatalf("%s %s took a body above the limit", method, r.path)
			}
		}
	})
}

func TestStrangePaths(t *testing.T) {
	s := newSite(t)
	s.canvas("a", echo)
	for _, path := range []string{
		"/v1/canvas/get/..%2f..%2fetc%2fpasswd", "/v1/canvas/get/%2e%2e", "/v1/canvas/../canvas/list/x", "/api/v1/agents/%00", "/api/v1/agents/%ff",
		"/v1/canvas/download?id=../../secret.key", "/v1/canvas/download?id=one%2F", "/api/v1/agents/a'%20OR%201=1--", "//api//v1//agents", "/0.27", "/api/v2/runs/*/events",
		"/api/v2/runs/" + strings.Repeat("x", 5000),
	} {
		a := s.get(path)
		require.Less(t, a.status, 500, path)
		require.NotEqual(t, 0, a.code(), "%s: %s", path, a.text)
	}
}

func TestSlowBodiesAreGivenUp(t *testing.T) {
	s := newSite(t, func(c *Config) { c.BodyTime = 100 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /api/v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer one\r\nContent-Length: 1000\r\n\r\n{\"ti")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestTimeout, res.StatusCode)
}

func TestForgedSessions(t *testing.T) {
	s := newSite(t)
	one, other := s.canvas("a", echo), s.canvas("b", echo)
	session := s.good(s.post("/api/v1/agents/"+one+"/sessions", `{}`)).data().Get("id").Str()
	a := s.post("/api/v1/agents/"+other+"/completions", `{"question":"x","session_id":"`+session+`"}`)
	require.Equal(t, 103, a.code())
	require.Equal(t, wrongParent, a.message())
	require.Equal(t, noSession, s.post("/api/v1/agents/"+one+"/completions", `{"question":"x","session_id":"forged"}`).message())
	two := s.request("POST", "/v1/canvas/set", "two", `{"title":"b","dsl":`+echo+`}`).data().Get("id").Str()
	require.Equal(t, noSession, s.request("POST", "/api/v1/agents/"+two+"/completions", "two", `{"session_id":"`+session+`"}`).message())
}

// TestSlowReaderStallsNobody runs to the end while a reader takes nothing.
func TestSlowReaderStallsNobody(t *testing.T) {
	s := newSite(t)
	const records = 3000
	write := func(id string, reader bool) (conn net.Conn, took time.Duration) {
		e, err := s.log.Claim(t.Context(), runlog.Run{ID: id})
		require.NoError(t, err)
		require.NoError(t, s.store.StartRun(t.Context(), store.Run{ID: id, Tenant: "one", Canvas: "c", Message: "m " + id}))
		if reader {
			conn, err = net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			require.NoError(t, err)
			_, err = io.WriteString(conn, "GET /api/v2/runs/"+id+"/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer one\r\n\r\n")
			require.NoError(t, err)
		}
		data := []byte(`{"event":"message","data":{"content":"` + strings.Repeat("x", 4000) + `"}}`)
		began := time.Now()
		for range records {
			require.NoError(t, e.Buffer(t.Context(), runlog.Record{Kind: "message", Data: data}))
		}
		require.NoError(t, e.End(t.Context()))
		return conn, time.Since(began)
	}
	var conn net.Conn
	for n := 0; ; n++ { // a busy machine may be late, but not each time
		_, alone := write(fmt.Sprint("unread", n), false)
		c, took := write(fmt.Sprint("long", n), true)
		defer c.Close()
		if conn = c; took < 3*alone+2*time.Second {
			break
		}
		require.Less(t, n, 4, "%s, and %s without a reader", took, alone)
	}
	// The reader wakes up and gets everything.
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	got := 0
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		if strings.HasPrefix(in.Text(), "data: ") {
			got++
		}
		if got == records {
			break
		}
	}
	require.Equal(t, records, got)
}
