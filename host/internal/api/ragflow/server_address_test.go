package ragflow_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// thief is a server that notes what requests to it carry.
type thief struct {
	*httptest.Server
	mu   sync.Mutex
	seen strings.Builder
}

func newThief(t *testing.T) *thief {
	s := &thief{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen.WriteString(r.URL.String() + "\n")
		for _, values := range r.Header {
			s.seen.WriteString(strings.Join(values, "\n"))
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *thief) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// storedServer returns all that is stored of a server, as JSON.
func storedServer(s *apitest.Site, id string) string {
	s.T.Helper()
	_, d, err := s.Services.Servers.Get(s.T.Context(), "one", id)
	require.NoError(s.T, err)
	text, err := json.Marshal(d)
	require.NoError(s.T, err)
	return string(text)
}

// Headers and variables that are not sent again stay with the address that they were entered for.
func TestKeptHeadersStayAtTheirAddress(t *testing.T) {
	s := apitest.New(t)
	at, evil := toolServer(t), newThief(t)
	made := func(url string) string {
		body := `{"name":"` + t.Name() + `","url":"` + url + `","server_type":"streamable-http",
			"headers":{"Authorization":"Bearer ${token}","X-Key":"hush"},
			"variables":{"token":"hush hush","home":"` + at + `"}}`
		return s.Good(s.Post("/v1/mcp_server/create", body)).Data().Get("id").Str()
	}
	const hidden = `{"Authorization":"********","X-Key":"********"}`
	userInfo := strings.Replace(evil.URL, "http://", "http://"+strings.TrimPrefix(at, "http://")+"@", 1)
	for name, c := range map[string]struct{ url, body string }{
		"address alone":          {at, `"url":"` + evil.URL + `"`},
		"hidden headers":         {at, `"url":"` + evil.URL + `","headers":` + hidden},
		"hidden variables":       {at, `"url":"` + evil.URL + `","variables":{"token":"********"}`},
		"headers that name them": {at, `"url":"` + evil.URL + `","headers":{"X":"${token}"}`},
		"address that names them": {
			at, `"url":"` + evil.URL + `/${token}","variables":{"token":"********"}`,
		},
		"variable of the address": {
			"${home}", `"headers":` + hidden + `,"variables":{"token":"********","home":"` + evil.URL + `"}`,
		},
		"user name of the address": {at, `"url":"` + userInfo + `"`},
		"path":                     {at, `"url":"` + at + `/other"`},
		"type as well":             {at, `"url":"` + evil.URL + `","server_type":"sse"`},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			for _, update := range []func(id string) apitest.Answer{
				func(id string) apitest.Answer {
					return s.Post("/v1/mcp_server/update", `{"mcp_id":"`+id+`","timeout":1,`+c.body+`}`)
				},
				func(id string) apitest.Answer {
					return s.Put("/0.27/api/v1/mcp/servers/"+id, `{"timeout":1,`+c.body+`}`)
				},
			} {
				id := made(c.url)
				s.Good(s.Put("/0.27/api/v1/mcp/servers/"+id, `{"description":"d","headers":`+hidden+`}`))
				require.Contains(t, storedServer(s, id), "hush hush", "they stay while the address does")
				require.Contains(t, storedServer(s, id), `"hush"`)
				s.Post("/0.27/api/v1/mcp/servers/"+id+"/test", `{"timeout":1,`+c.body+`}`)
				s.Good(update(id))
				require.NotContains(t, storedServer(s, id), "hush")
				require.NotContains(t, evil.text(), "hush")
				s.Good(s.Post("/v1/mcp_server/rm", `{"mcp_ids":["`+id+`"]}`))
			}
		})
	}
	require.NotEmpty(t, evil.text(), "the new addresses were asked for tools")
}

// What a server over stdio was given stays with its command, arguments and environment.
func TestKeptEnvironmentStaysWithItsCommand(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.MCP = &mcp.Client{Stdio: true} })
	const env = `"TOKEN":"********","HOME":"/x"`
	for name, c := range map[string]struct {
		body string
		kept bool
	}{
		"description":        {`"description":"d"`, true},
		"all as shown":       {`"command":"/nowhere/server","args":["--fast"],"env":{` + env + `}`, true},
		"command":            {`"command":"/nowhere/other","env":{` + env + `}`, false},
		"command alone":      {`"command":"/nowhere/other"`, false},
		"arguments":          {`"args":["--to","evil"]`, false},
		"another variable":   {`"env":{` + env + `,"LD_PRELOAD":"/evil.so"}`, false},
		"a variable's value": {`"env":{"TOKEN":"********","HOME":"/evil"}`, false},
		"a variable less":    {`"env":{"TOKEN":"********"}`, false},
		"another type":       {`"server_type":"sse","url":"http://127.0.0.1:1/","headers":{"X":"${token}"}`, false},
		"variables":          {`"env":{"TOKEN":"********","HOME":"${token}"},"variables":{"token":"********"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			made := s.Good(s.Post("/v1/mcp_server/create", `{"name":"child","server_type":"stdio",
				"command":"/nowhere/server","args":["--fast"],"env":{"TOKEN":"hush","HOME":"/x"},
				"variables":{"token":"hush hush"}}`))
			id := made.Data().Get("id").Str()
			s.Good(s.Put("/0.27/api/v1/mcp/servers/"+id, `{"timeout":1,`+c.body+`}`))
			if c.kept {
				require.Contains(t, storedServer(s, id), `"TOKEN":"hush"`)
				require.Contains(t, storedServer(s, id), "hush hush")
			} else {
				require.NotContains(t, storedServer(s, id), "hush")
			}
			s.Good(s.Post("/v1/mcp_server/rm", `{"mcp_ids":["`+id+`"]}`))
		})
	}
}

// A placeholder without a stored value is no value.
func TestHiddenValueOfANewServer(t *testing.T) {
	s := apitest.New(t)
	a := s.Good(s.Post("/v1/mcp_server/create", `{"name":"x","url":"http://127.0.0.1:1/","server_type":"sse",
		"headers":{"Authorization":"********","X":"y"},"timeout":1}`))
	require.JSONEq(t, `{"X":"********"}`, a.Data().Get("headers").JSON())
	item, err := s.Store.Items.Get(t.Context(), "one", app.ServerKind, a.Data().Get("id").Str())
	require.NoError(t, err)
	require.NotContains(t, string(item.Secret), "****")
}
