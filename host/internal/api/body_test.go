package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Every route of every dialect declares the maximum size of its body, and one that a caller without
// a key reaches accepts no more than a name and a password.
func TestRoutesDeclareBodies(t *testing.T) {
	s := apitest.New(t)
	for _, r := range s.API.Routes() {
		get := r.Method == "GET"
		require.NotEqual(t, api.BodyUndeclared, r.Body, "%s %s: declare its body in the table", r.Method, r.Path)
		require.Equal(t, get, r.Body == api.BodyNone, "%s %s: a route that only reads has no body, others have one", r.Method, r.Path)
		if r.Need == api.NeedNone {
			require.Contains(t, []api.BodyClass{api.BodyNone, api.BodyTiny, api.BodyWebhook}, r.Body, "%s %s", r.Method, r.Path)
		}
		require.Equal(t, strings.Contains(r.Path, "webhook") && !get, r.Body == api.BodyWebhook, r.Path)
	}
}

// rawRequest sends the head of a request without its body, and returns the response.
func rawRequest(s *apitest.Site, head string) *http.Response {
	s.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(s.T, err)
	s.T.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")
	require.NoError(s.T, err)
	require.NoError(s.T, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(s.T, err)
	_, err = io.ReadAll(res.Body)
	require.NoError(s.T, err)
	return res
}

// A request that can be refused by its head is refused by it: the response arrives before the body
// is sent.
func TestRefusedBeforeTheBodyIsRead(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	apitest.EachRoute(s, func(r api.Route, method string) {
		if method == "GET" {
			return
		}
		head := fmt.Sprintf("%s %s HTTP/1.1\nHost: x\nContent-Length: %d", method, b.Fill(r.Path), 1<<40)
		expected := http.StatusRequestEntityTooLarge
		if r.Need != api.NeedNone {
			require.Equal(t, http.StatusUnauthorized, rawRequest(s, head).StatusCode, "%s without a key", r.Path)
			require.Equal(t, http.StatusUnauthorized, rawRequest(s, head+"\nExpect: 100-continue").StatusCode, "%s without a key", r.Path)
			head += "\nAuthorization: Bearer one"
		}
		switch {
		case r.Body == api.BodyWebhook && !strings.HasPrefix(r.Path, "/api/webhooks/"):
			expected = http.StatusBadRequest // there is no such webhook, which counts first
		case strings.Contains(r.Path, "logout"):
			return // ends the login
		}
		res := rawRequest(s, head)
		require.Equal(t, expected, res.StatusCode, "%s %s", method, r.Path)
		require.True(t, res.Close, "%s %s: the body is not waited for", method, r.Path)
		if r.Body != api.BodyWebhook {
			packed := strings.Replace(head, fmt.Sprint(1<<40), "10\nContent-Encoding: gzip", 1)
			require.Equal(t, http.StatusUnsupportedMediaType, rawRequest(s, packed).StatusCode, "%s %s", method, r.Path)
		}
	})
}

// Texts that decode to many times their size are refused before they are decoded, from every
// sender.
func TestDecodedBodiesAreBounded(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Memory = memlimit.New("requests", 8<<20) })
	id := s.Canvas("a", apitest.Echo)
	zeros := `{"email":[` + strings.Repeat("0,", 7000) + `0]}`
	nested := `{"password":"` + strings.Repeat("x", 100) + `","x":[` + strings.Repeat("[[[[0]]]],", 1400) + `0]}`
	for name, body := range map[string]string{"zeros": zeros, "nested": nested, "large": strings.Repeat(" ", 17<<10) + `{}`} {
		for _, path := range []string{"/v1/user/login", "/0.27/api/v1/auth/login", "/login"} {
			require.Equal(t, http.StatusRequestEntityTooLarge, s.Request("POST", path, "", body).Status, "%s to %s", name, path)
		}
	}
	many := `{"query":"x","inputs":{"a":[` + strings.Repeat("0,", 1<<20) + `0]}}`
	runs := "/api/v2/canvases/" + id + "/runs"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := s.Post(runs, many)
	runtime.ReadMemStats(&after)
	require.Equal(t, http.StatusRequestEntityTooLarge, a.Status, a.Text)
	require.Equal(t, "body_too_large", a.Body.Get("error").Get("code").Str())
	require.Contains(t, a.Body.Get("error").Get("message").Str(), "--memory raises it")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20), "2 MB of text in the client and in the host, and not what it becomes")
	require.Equal(t, http.StatusAccepted, s.Post(runs, `{"query":"x","inputs":{"a":[0]}}`).Status)
	require.Zero(t, s.Memory.Used())
	require.Zero(t, s.SmallMemory.Used())
}

// While other requests hold the budget, a large one waits a moment and is refused with the time to
// come back; small ones are answered.
func TestFullBudgetRefusesLargeBodies(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Memory = memlimit.New("requests", 1<<20) })
	id := s.Canvas("a", apitest.Echo)
	holder := s.Memory.Open()
	require.NoError(t, holder.Grow(1<<20))
	var refusals sync.WaitGroup
	for path, code := range map[string]string{
		"/api/v2/canvases/" + id + "/runs":                  `"code":"unavailable"`,
		"/api/v1/agents/" + id + "/completions":             `"code":500`,
		"/api/v1/agents_openai/" + id + "/chat/completions": `"code":500`,
		"/api/llm/chat/completions":                         `"type":"api_error"`,
	} {
		refusals.Go(func() {
			a := s.Post(path, `{"query":"`+strings.Repeat("x", 100<<10)+`"}`)
			assert.Equal(t, http.StatusServiceUnavailable, a.Status, a.Text)
			assert.Contains(t, a.Text, code)
			assert.Equal(t, "2", a.Header.Get("Retry-After"))
		})
	}
	require.Equal(t, 109, s.Request("POST", "/v1/user/login", "", `{"email":"a@x.org","password":"none"}`).Code())
	require.Equal(t, http.StatusOK, s.Get("/healthz").Status)
	refusals.Wait()
	holder.Close()
	require.Equal(t, http.StatusAccepted, s.Post("/api/v2/canvases/"+id+"/runs", `{"query":"x"}`).Status)
}

// Forms are bounded by their fields, parts and headers, not by their bytes alone.
func TestFormsAreBounded(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	part := "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv\r\n"
	for name, c := range map[string]struct{ path, kind, body string }{
		"fields of a page":    {"/login", "application/x-www-form-urlencoded", strings.Repeat("a&", 8000)},
		"fields":              {"/v1/canvas/set", "application/x-www-form-urlencoded", strings.Repeat("a&", 100_000)},
		"parts of a page":     {"/login", "multipart/form-data; boundary=b", strings.Repeat(part, 400)},
		"parts":               {"/v1/canvas/set", "multipart/form-data; boundary=b", strings.Repeat(part, 10_000)},
		"parts of an upload":  {"/v1/canvas/upload/" + id, "multipart/form-data; boundary=b", strings.Repeat(part, 100_000)},
		"header":              {"/v1/canvas/set", "multipart/form-data; boundary=b", "--b\r\nX: " + strings.Repeat("x", 500<<10)},
		"header of an upload": {"/v1/canvas/upload/" + id, "multipart/form-data; boundary=b", "--b\r\nX: " + strings.Repeat("x", 5<<20)},
		"before the parts":    {"/v1/canvas/upload/" + id, "multipart/form-data; boundary=b", strings.Repeat("x\n", 1<<20)},
	} {
		a := s.Request("POST", c.path, "one", c.body, "Content-Type", c.kind)
		require.Equal(t, http.StatusRequestEntityTooLarge, a.Status, "%s: %s", name, a.Text)
	}
}

func TestURLsAreBounded(t *testing.T) {
	s := apitest.New(t)
	require.Equal(t, http.StatusBadRequest, s.Get("/api/v2/canvases?"+strings.Repeat("a&", 1000)).Status)
	require.Equal(t, http.StatusRequestURITooLong, s.Get("/api/v2/canvases?keywords="+strings.Repeat("a", 20<<10)).Status)
	require.Equal(t, http.StatusOK, s.Get("/api/v2/canvases?keywords="+strings.Repeat("a", 10<<10)).Status)
}

// A stream of minutes does not hold the body of its request, nor what of it the run does not use.
func TestStreamsHoldNoBodies(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Slow)
	const streams, size = 50, 1 << 20
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	body := `{"query":"x","unused":"` + strings.Repeat("x", size) + `"}`
	before := heap()
	for range streams {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v2/canvases/"+id+"/runs", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer one")
		req.Header.Set("Accept", "text/event-stream")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { res.Body.Close() })
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	require.Zero(t, s.Memory.Used(), "streams hold nothing of the budget")
	held := heap() - before
	t.Logf("%d open streams hold %d KiB each", streams, held/streams>>10)
	require.Less(t, held, int64(streams*size/2))
	for range streams {
		s.Gate <- struct{}{}
	}
}
