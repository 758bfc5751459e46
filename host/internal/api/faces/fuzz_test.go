package faces_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// FuzzBody sends any body to the routes with the most members.
func FuzzBody(f *testing.F) {
	s := apitest.New(f)
	id := s.Canvas("a", apitest.Echo)
	f.Add([]byte(`{"title":"t","dsl":` + apitest.Echo + `}`))
	f.Add([]byte(`{"id":"{id}","inputs":{"a":{"value":1}},"files":[{"id":"x"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"text":1}]}],"model":1,"metadata":[]}`))
	f.Add([]byte(`{"base_url":"http://127.0.0.1:1","key":"k","models":[{"name":"m","kind":"chat"}]}`))
	f.Add([]byte(`{"name":"n","scopes":["read"],"rate":1,"expires":"2099-01-01T00:00:00Z"}`))
	paths := []string{
		"/v1/canvas/set", "/api/v1/agents_openai/" + id + "/chat/completions", "/api/v1/agents/" + id + "/completions",
		"/api/v2/canvases/" + id + "/runs", "/v1/mcp_server/import", "/api/v2/canvases/" + id + "/validate", "/v1/canvas/debug",
		"/api/v2/keys", "/api/llm/chat/completions", "/api/v2/runs/x/rerun", "/login",
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range paths {
			r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(strings.ReplaceAll(string(body), "{id}", id)))
			r.Header.Set("Authorization", "Bearer one")
			s.Fuzzed(t, r)
		}
		r := httptest.NewRequestWithContext(t.Context(), "PUT", "/api/v2/providers/P", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer one")
		s.Fuzzed(t, r)
	})
}

// FuzzRequest sends any path, query and headers.
func FuzzRequest(f *testing.F) {
	s := apitest.New(f)
	b := s.FurnishAll()
	apitest.EachRoute(s, func(r api.Route, method string) {
		f.Add(method, r.Path, "id={id}&page=1&desc=True", "Bearer one", "a=b", "1-2")
	})
	f.Add("GET", "/api/v1/agents/%2e%2e/%00", "page=-1&page_size=9999999999999999999&orderby=1;--", "Bearer", "easel_login=", "9~9")
	f.Fuzz(func(t *testing.T, method, path, query, auth, cookie, last string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://host/", strings.NewReader(`{"id":"`+b.Canvas+`"}`))
		if err != nil || strings.Contains(strings.ToLower(path), "/logout") {
			return
		}
		// Ids are filled in here: they differ between the processes that share a corpus.
		if r.URL, err = r.URL.Parse("/" + strings.TrimLeft(b.Fill(path), "/")); err != nil {
			return
		}
		r.URL.RawQuery, r.RemoteAddr = b.Fill(query), last
		for name, v := range map[string]string{"Authorization": auth, "Cookie": cookie, "Last-Event-ID": last, "Content-Type": cookie, "Origin": last, "Accept-Language": auth} {
			r.Header.Set(name, v)
		}
		s.Fuzzed(t, r)
	})
}

// FuzzWebhook sends any body of any type to a webhook that takes everything.
func FuzzWebhook(f *testing.F) {
	s := apitest.New(f)
	const schema = `"schema":{"body":{"properties":{"a":{"type":"number"},"b":{"type":"array<object>"},"c":{"type":"file"}}},"query":{"properties":{"q":{"type":"boolean"}}}},`
	id := s.Canvas("w", apitest.Hook(schema+`"security":{"auth_type":"none","allow_anonymous":true,"rate_limit":{"limit":1000000,"per":"second"}}`))
	token := s.Canvas("j", apitest.Hook(`"security":{"auth_type":"jwt","jwt":{"secret":"s"},"rate_limit":{"limit":1000000,"per":"second"}}`))
	body, kind := apitest.Form("a.txt", "tea")
	f.Add("application/json", "q=true", "", []byte(`{"a":"7","b":[{}],"c":1}`))
	f.Add(kind, "q=x", "Bearer eyJhbGciOiJub25lIn0.e30.", []byte(body))
	f.Add("application/x-www-form-urlencoded", "", "Bearer a.b.c", []byte("a=%zz&b=1"))
	f.Add("multipart/form-data; boundary=x", "", "", []byte("--x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, kind, query, auth string, body []byte) {
		for _, canvas := range []string{id, token} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", "http://host/api/v1/webhook/"+canvas, strings.NewReader(string(body)))
			require.NoError(t, err)
			r.URL.RawQuery, r.RemoteAddr = query, "127.0.0.1:1"
			r.Header.Set("Content-Type", kind)
			r.Header.Set("Authorization", auth)
			s.Fuzzed(t, r)
		}
	})
}
