package api

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/logtest"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
	"github.com/easel-canvas/easel/host/internal/web"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// site is a host's API with two tenants, "one" and "two", whose keys are their
// names.
type site struct {
	t     testing.TB
	api   *API
	store *store.Store
	nats  *logtest.Storage
	log   *runlog.Log // of nats
	runs  *runs.Runs
	quota *quota.Meter
	gate  chan struct{} // a Wait node passes when it can receive
	url   string
}

func newSite(t testing.TB, change ...func(*Config)) *site {
	s := &site{t: t, gate: make(chan struct{}, 100)}
	dir := t.TempDir()
	var err error
	s.store, err = store.Open(t.Context(), store.Config{Dir: dir, Sync: store.SyncInterval})
	require.NoError(t, err)
	s.nats = logtest.OpenUntil(t, broker.Config{Dir: dir})
	s.log = s.nats.Log
	reg, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	require.NoError(t, reg.Add(engine.Spec{Name: "Wait", Hidden: true, New: func() engine.Component { return waiter{s} }}))
	began := time.Now()
	s.quota = quota.New(quota.Config{Store: s.store, Log: quiet, Now: func() time.Time { return countedDay.Add(time.Since(began)) }})
	models := &model.Tenants{Store: s.store, Account: func(tenant, caller string) model.Account { return s.quota.Of(tenant, caller) }}
	ports := func(j *runs.Job) engine.Ports {
		m := models.Of(j.Tenant, j.Caller)
		return engine.Ports{Model: m, Speech: m, Files: (&upload.Box{Store: s.store, Files: s.nats.Files}).Of(j.Tenant), HTTP: &web.Client{}}
	}
	s.runs = runs.New(runs.Config{
		Store: s.store, Log: s.log, Clocks: s.nats.Schedules, Registry: reg, Ports: ports, Logger: quiet,
		Report: func(j *runs.Job, end runs.End, took time.Duration) { s.api.Count(j, end, took) },
	})
	cfg := Config{
		Store: s.store, Log: s.log, Files: s.nats.Files, Runs: s.runs, Registry: reg, Ports: ports, Logger: quiet, Fetch: &web.Client{},
		MCP: &mcp.Client{}, Models: models, Quota: s.quota, Operator: "one", BodyTime: time.Minute,
	}
	for _, f := range change {
		f(&cfg)
	}
	s.api = New(cfg)
	server := httptest.NewServer(s.api.Handler())
	s.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		require.NoError(t, s.nats.Close())
		s.runs.Close()
		require.NoError(t, s.quota.Close())
		require.NoError(t, s.store.Close())
	})
	for _, tenant := range []string{"one", "two"} {
		_, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: tenant, User: tenant, Name: tenant}, tenant)
		require.NoError(t, err)
	}
	return s
}

// countedDay is when sites begin to count tokens, far from midnight.
var countedDay = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type waiter struct{ s *site }

func (w waiter) Run(ctx context.Context, call *engine.Call) error {
	select {
	case <-w.s.gate:
		call.Out("result", engine.String("waited"))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	body   engine.Value // null when it is no JSON
}

func (a answer) code() int {
	n, ok := a.body.Get("code").Int()
	if !ok {
		return -1
	}
	return int(n)
}

func (a answer) message() string { return a.body.Get("message").Str() }
func (a answer) data() engine.Value {
	return a.body.Get("data")
}

// events are the JSON frames of a stream, and whether it ended with [DONE].
func (a answer) events() (list []engine.Value, done bool) {
	in := bufio.NewScanner(strings.NewReader(a.text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		text, ok := strings.CutPrefix(in.Text(), "data:")
		if !ok {
			continue
		}
		if strings.TrimSpace(text) == "[DONE]" {
			done = true
			continue
		}
		v, err := engine.ParseJSONText(text)
		if err == nil {
			list = append(list, v)
		}
	}
	return list, done
}

// kinds are the names of a stream's events.
func (a answer) kinds() string {
	list, done := a.events()
	var out []string
	for _, e := range list {
		out = append(out, e.Get("event").Str())
	}
	if done {
		out = append(out, "[DONE]")
	}
	return strings.Join(out, " ")
}

func (s *site) request(method, path, key, body string, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
	require.NoError(s.t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.do(http.DefaultClient, req)
}

func (s *site) do(client *http.Client, req *http.Request) answer {
	s.t.Helper()
	res, err := client.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	out := answer{status: res.StatusCode, header: res.Header, text: string(data)}
	if v, err := engine.ParseJSON(data); err == nil {
		out.body = v
	}
	return out
}

func (s *site) get(path string) answer          { return s.request("GET", path, "one", "") }
func (s *site) post(path, body string) answer   { return s.request("POST", path, "one", body) }
func (s *site) put(path, body string) answer    { return s.request("PUT", path, "one", body) }
func (s *site) delete(path, body string) answer { return s.request("DELETE", path, "one", body) }

// good requires an answer with code 0.
func (s *site) good(a answer) answer {
	s.t.Helper()
	require.Equal(s.t, 200, a.status, a.text)
	require.Equal(s.t, 0, a.code(), a.text)
	return a
}

// parts writes a document of nodes: id, component, params, downstream.
func parts(nodes ...[4]string) string {
	var list []string
	for _, n := range nodes {
		down := "[]"
		if n[3] != "" {
			down = `["` + strings.ReplaceAll(n[3], " ", `","`) + `"]`
		}
		list = append(list, `"`+n[0]+`":{"obj":{"component_name":"`+n[1]+`","params":`+n[2]+`},"downstream":`+down+`,"upstream":[]}`)
	}
	return `{"components":{` + strings.Join(list, ",") + `}}`
}

var (
	echo    = parts([4]string{"begin", "Begin", `{"prologue":"Welcome"}`, "Message:A"}, [4]string{"Message:A", "Message", `{"content":["You said {sys.query}"]}`, ""})
	slow    = parts([4]string{"begin", "Begin", `{}`, "Wait:W"}, [4]string{"Wait:W", "Wait", `{}`, "Message:A"}, [4]string{"Message:A", "Message", `{"content":["{Wait:W@result}"]}`, ""})
	broken  = parts([4]string{"begin", "Begin", `{}`, "Message:A"}, [4]string{"Message:A", "Message", `{"content":["before"]}`, "Invoke:X"}, [4]string{"Invoke:X", "Invoke", `{"url":"http://127.0.0.1:1/","method":"get"}`, ""})
	formed  = parts([4]string{"begin", "Begin", `{}`, "UserFillUp:F"}, [4]string{"UserFillUp:F", "UserFillUp", `{"enable_tips":true,"tips":"Your city?","inputs":{"city":{"name":"City","type":"line","optional":false}}}`, "Message:A"}, [4]string{"Message:A", "Message", `{"content":["City {UserFillUp:F@city}"]}`, ""})
	nowhere = "00000000000000000000000000000000"
)

// canvas saves a canvas of tenant one and gives its id.
func (s *site) canvas(title, dsl string) string {
	s.t.Helper()
	a := s.good(s.post("/v1/canvas/set", `{"title":"`+title+`","dsl":`+dsl+`}`))
	return a.data().Get("id").Str()
}
