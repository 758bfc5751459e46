package faces_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestRequestsWithoutAKeyAreRefused(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	routes := 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need == api.NeedNone {
			return
		}
		routes++
		path := b.Fill(r.Path) + b.Query()
		require.NotContains(t, path, "{", "belongings.fill does not know a parameter")
		for _, auth := range []string{"", "Bearer", "Bearer ", "Basic b25lOm9uZQ==", "Bearer one two", "bearer\tnone", "wrong"} {
			body := b.Body()
			if method == "GET" {
				body = ""
			}
			a := s.Request(method, path, "", body, "Authorization", auth)
			require.NotEqual(t, 0, a.Code(), "%s %s with %q: %s", method, r.Path, auth, a.Text)
			require.NotContains(t, a.Text, "my secret")
			if auth == "" || auth == "Bearer" {
				require.Equal(t, 401, a.Status, "%s %s", method, r.Path)
			}
		}
	})
	require.Greater(t, routes, 150)
}

// sentName is the name in the bodies that tests send, which is new each time.
var sentName = regexp.MustCompile(`new\d+`)

// unknownLike returns an id that nothing has and that is a UUID of version 1 exactly if id is one:
// some routes look at that first.
func unknownLike(id string) string {
	b := []byte(apitest.Nowhere)
	b[12], b[16] = id[12], id[16]
	return string(b)
}

func TestAnotherTenantsIdsAreLikeUnknownOnes(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	unknownIDs := apitest.Unknown
	unknownIDs.Canvas, unknownIDs.Session = unknownLike(b.Canvas), unknownLike(b.Session)
	clean := func(a apitest.Answer) string {
		text := sentName.ReplaceAllString(a.Text, "new") // refusals repeat it
		text = strings.ReplaceAll(text, b.Chunk, apitest.Unknown.Chunk)
		text = strings.ReplaceAll(text, b.Dataset, apitest.Unknown.Dataset)
		for _, id := range []string{unknownIDs.Canvas, unknownIDs.Session, b.Document, b.Canvas, b.Session, b.Run, b.Message, b.Version, b.File, b.Server, b.Key, b.User, b.Secret, b.Provider, b.Schedule, b.Memory} {
			text = strings.ReplaceAll(text, id, apitest.Nowhere)
		}
		return text
	}
	compared := 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need == api.NeedNone || strings.Contains(r.Path, "logout") {
			return
		}
		body := func(b apitest.Belongings) string {
			if method == "GET" {
				return ""
			}
			return b.Body()
		}
		theirs := s.Request(method, b.Fill(r.Path)+b.Query(), "two", body(b))
		require.NotContains(t, theirs.Text, "my secret", "%s %s", method, r.Path)
		shown := strings.ReplaceAll(theirs.Text, "(one of state, mine, ", "") // a parameter of the inbox
		require.NotContains(t, shown, "mine", "%s %s", method, r.Path)
		unknown := s.Request(method, unknownIDs.Fill(r.Path)+unknownIDs.Query(), "two", body(unknownIDs))
		require.Equal(t, unknown.Status, theirs.Status, "%s %s: %s / %s", method, r.Path, theirs.Text, unknown.Text)
		if refusal := theirs.Code() > 0 || theirs.Status >= 400; refusal {
			compared++
			require.Equal(t, clean(unknown), clean(theirs), "%s %s", method, r.Path)
		}
	})
	require.Greater(t, compared, 80)
	// Everything is as it was.
	require.Equal(t, b.Title, s.Good(s.Get("/v1/canvas/get/"+b.Canvas)).Data().Get("title").Str())
	require.Equal(t, 1, s.Good(s.Get("/api/v1/agents/"+b.Canvas+"/sessions?id="+b.Session)).Data().Len())
	require.Equal(t, "1", s.Good(s.Post("/v1/mcp_server/list", `{}`)).Data().Get("total").Text())
	require.Equal(t, "my secret", s.Get("/v1/canvas/download?id="+b.File).Text)
	require.Equal(t, b.Secret, s.Get("/api/v2/secrets").Body.Get("items").At(0).Get("name").Str())
	require.Equal(t, b.Schedule, s.Get("/api/v2/schedules").Body.Get("items").At(0).Get("id").Str())
	require.Equal(t, b.Provider, s.Get("/api/v2/providers").Body.Get("items").At(0).Get("name").Str())
	_, err := s.Store.Users.ByPassword(t.Context(), "mine@x.org", "my secret password")
	require.NoError(t, err)
	keys, err := s.Store.Keys.List(t.Context(), "one")
	require.NoError(t, err)
	require.Len(t, keys, 1)
}

// TestBadBodies sends what no client should to every route that reads JSON. No
// answer may be an HTTP 500, and none may take long.
func TestBadBodies(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.MaxBody = 64 << 10 })
	id := s.Canvas("a", apitest.Echo)
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
	apitest.EachRoute(s, func(r api.Route, method string) {
		if method == "GET" || (r.Body == api.BodyUpload || r.Body == api.BodyWebhook) {
			return
		}
		here := apitest.Unknown
		here.Canvas = id
		path := here.Fill(r.Path)
		for name, body := range bodies {
			if name == "empty" && method == "DELETE" {
				continue // what the SDK sends
			}
			a := s.Request(method, path, "one", body)
			require.Less(t, a.Status, 500, "%s %s, %s: %s", method, r.Path, name, a.Text)
			require.NotContains(t, a.Text, "panic")
			if name == "large" && a.Code() == 0 {
				t.Fatalf("%s %s took a body above the limit", method, r.Path)
			}
		}
	})
}

func TestStrangePaths(t *testing.T) {
	s := apitest.New(t)
	s.Canvas("a", apitest.Echo)
	for _, path := range []string{
		"/v1/canvas/get/..%2f..%2fetc%2fpasswd", "/v1/canvas/get/%2e%2e", "/v1/canvas/../canvas/list/x", "/api/v1/agents/%00", "/api/v1/agents/%ff",
		"/v1/canvas/download?id=../../secret.key", "/v1/canvas/download?id=one%2F", "/api/v1/agents/a'%20OR%201=1--", "//api//v1//agents", "/0.27", "/api/v2/runs/*/events",
		"/api/v2/runs/" + strings.Repeat("x", 5000),
	} {
		a := s.Get(path)
		require.Less(t, a.Status, 500, path)
		require.NotEqual(t, 0, a.Code(), "%s: %s", path, a.Text)
	}
}

func TestSlowBodiesTimeOut(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.BodyTime = 100 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
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
	s := apitest.New(t)
	one, other := s.Canvas("a", apitest.Echo), s.Canvas("b", apitest.Echo)
	session := s.Good(s.Post("/api/v1/agents/"+one+"/sessions", `{}`)).Data().Get("id").Str()
	a := s.Post("/api/v1/agents/"+other+"/completions", `{"question":"x","session_id":"`+session+`"}`)
	require.Equal(t, 103, a.Code())
	require.Equal(t, api.WrongParent, a.Message())
	require.Equal(t, api.NoSession, s.Post("/api/v1/agents/"+one+"/completions", `{"question":"x","session_id":"forged"}`).Message())
	two := s.Request("POST", "/v1/canvas/set", "two", `{"title":"b","dsl":`+apitest.Echo+`}`).Data().Get("id").Str()
	require.Equal(t, api.NoSession, s.Request("POST", "/api/v1/agents/"+two+"/completions", "two", `{"session_id":"`+session+`"}`).Message())
}

// TestSlowReaderStallsNoOthers runs to the end while a reader takes nothing.
func TestSlowReaderStallsNoOthers(t *testing.T) {
	s := apitest.New(t)
	const records = 3000
	canvas := s.Canvas("c", apitest.Echo)
	write := func(id string, reader bool) (conn net.Conn, took time.Duration) {
		e, err := s.Log.Claim(t.Context(), runlog.Run{ID: id})
		require.NoError(t, err)
		require.NoError(
			t, s.Store.Runs.Start(t.Context(), store.Run{ID: id, Tenant: "one", Canvas: canvas, Message: "m " + id}),
		)
		if reader {
			conn, err = net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
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
