// Package apitest serves the whole API of a host to tests, with two tenants, and reads its answers.
package apitest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/faces"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// Quiet drops what is logged.
var Quiet = runstest.Quiet

// Site is a host's API with two tenants, "one" and "two", whose keys are their names.
type Site struct {
	*runstest.Host
	API       *api.API
	Services  *app.Services
	Runs      *runs.Runs
	Traces    *traces.Traces
	Clocks    *schedule.Clocks
	Schedules *schedule.Schedules
	Quota     *quota.Meter
	Datasets  *datasettest.Fixture
	URL       string
	// Memory and SmallMemory are the budgets of requests.
	Memory, SmallMemory *memlimit.Budget
	// StopParsing ends the worker that parses queued documents, for a test that claims them.
	StopParsing func()
}

type (
	appConfig = app.Config
	apiConfig = api.Config
)

// Config configures a site; a test changes what it needs.
type Config struct {
	appConfig
	apiConfig
}

// New serves a site until the test ends.
func New(t testing.TB, change ...func(*Config)) *Site {
	s := &Site{Host: runstest.New(t)}
	s.Logging = runlog.Config{Collect: traces.Select, Hold: func(run string) bool { return s.Traces.Hold(run) }}
	s.Start = func() (stop func()) {
		s.assemble(change)
		written := s.writeTraces()
		return func() {
			s.Runs.Close()
			written()
			require.NoError(t, s.Quota.Close())
		}
	}
	s.Open()
	s.serve()
	return s
}

// assemble makes the API on the storage of the site.
func (s *Site) assemble(change []func(*Config)) {
	s.Quota = countedQuota(s.Store)
	models := &model.Tenants{Records: s.Store.Items, Account: func(tenant, caller string) model.Account {
		return s.Quota.Of(tenant, caller)
	}}
	models.Remember(s.Store.Lessons)
	ports := func(j *app.Job) engine.Ports {
		m := models.Of(j.Tenant, j.Caller)
		files := &upload.Box{Store: s.Store, Files: s.NATS.Files}
		party := upload.Party{
			Tenant: j.Tenant, By: upload.ByRun, Canvas: j.Canvas, Session: j.Session, Visitor: j.VisitorKey,
		}
		return engine.Ports{
			Model: m, Speech: m, Files: files.Of(party), Parser: files.ParserOf(party), HTTP: &web.Client{},
			Documents: files.Maker(party),
			Memory: memories.New(s.Store, models).Of(memories.Principal{
				Viewer: access.Viewer{Tenant: j.Tenant, User: j.Actor.User}, Caller: j.Caller,
			}, j.VisitorKey),
		}
	}
	s.Traces = traces.New(traces.Config{
		Store: s.Store, Log: s.Log, Bytes: traces.NewDirectory(filepath.Join(s.Dir, "traces")),
		Alone: true, Logger: Quiet, Now: s.Now,
	})
	s.Runs = runs.New(runs.Config{
		Store: s.Store, Log: s.Log, Registry: s.Registry, Ports: ports, Logger: Quiet,
		Trace: s.Traces.Take, Kept: s.Traces.Records,
		Report: func(j *app.Job, end app.End, took time.Duration) { s.API.Count(j, end, took) },
		Due:    func(ctx context.Context, j *app.Job) (bool, error) { return s.Schedules.Due(ctx, j) },
	})
	var err error
	s.Clocks, err = schedule.OpenClocks(s.T.Context(), s.NATS.Conn)
	require.NoError(s.T, err)
	s.Schedules = s.SchedulesOf(0)
	cfg := &Config{
		app.Config{
			Store: s.Store, Log: s.Log, Files: s.NATS.Files, Runs: s.Runs, Traces: s.Traces, Schedules: s.Schedules,
			Registry: s.Registry, Ports: ports,
			MCP: &mcp.Client{}, Models: models, Quota: s.Quota, Operator: "one", Fetch: &web.Client{}, Logger: Quiet,
		},
		api.Config{BodyTime: time.Minute, Logger: Quiet},
	}
	s.Datasets = datasettest.New(s.T, datasettest.Options{Store: s.Store, Files: s.NATS.Files, Idle: true})
	cfg.appConfig.Datasets = s.Datasets.Datasets
	for _, f := range change {
		f(cfg)
	}
	if cfg.Memory == nil {
		cfg.Memory = memlimit.New("requests", memlimit.Process()/16)
	}
	if cfg.SmallMemory == nil {
		cfg.SmallMemory = memlimit.New("small requests", memlimit.Process()/64)
	}
	s.Memory, s.SmallMemory = cfg.Memory, cfg.SmallMemory
	s.Services = app.New(cfg.appConfig)
	cfg.apiConfig.Services = s.Services
	s.API = faces.New(cfg.apiConfig, "")
}

// writeTraces keeps runs until it is stopped.
func (s *Site) writeTraces() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.T.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Traces.Work(ctx)
	}()
	return func() { cancel(); <-done }
}

// SchedulesOf returns the schedules of the site with another shortest period.
func (s *Site) SchedulesOf(shortest time.Duration) *schedule.Schedules {
	return schedule.New(schedule.Config{
		Store: s.Store, Clocks: s.Clocks, Runs: s.Runs, Shortest: shortest, Logger: Quiet,
	})
}

// countedQuota counts tokens from a time that is far from midnight.
func countedQuota(s *store.Store) *quota.Meter {
	began := time.Now()
	return quota.New(quota.Config{
		Store: s.Tokens, Uses: s.Uses, Log: Quiet,
		Now: func() time.Time { return CountedDay.Add(time.Since(began)) },
	})
}

// serve listens until the test ends, and makes the keys of the tenants.
func (s *Site) serve() {
	server := httptest.NewServer(s.API.Handler())
	s.URL = server.URL
	s.T.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.Close()
	})
	s.parse()
	for _, tenant := range []string{"one", "two"} {
		key := store.Key{Tenant: tenant, User: tenant, Name: tenant, Scopes: app.Scopes}
		_, _, err := s.Store.Keys.Create(s.T.Context(), key, tenant)
		require.NoError(s.T, err)
	}
}

// parse works on queued documents until the test ends, before what it works with is closed.
func (s *Site) parse() {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.T.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Datasets.Ingester.Run(ctx)
	}()
	s.StopParsing = func() { stop(); <-done }
	s.T.Cleanup(s.StopParsing)
}

// Frozen stops the clock that limits attempts to log in, so that on a slow machine no attempt is
// given back while a test uses them up.
func Frozen(c *Config) { c.Now = func() time.Time { return CountedDay } }

// CountedDay is when sites begin to count tokens, far from midnight.
var CountedDay = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Text   string
	Body   engine.Value // null when it is no JSON
}

// Code returns the code of the dialects' envelope, -1 without one.
func (a Answer) Code() int {
	n, ok := a.Body.Get("code").Int()
	if !ok {
		return -1
	}
	return int(n)
}

// Message is the message of the envelope.
func (a Answer) Message() string { return a.Body.Get("message").Str() }

// Data is the data of the envelope.
func (a Answer) Data() engine.Value {
	return a.Body.Get("data")
}

// Events are the JSON frames of a stream, and whether it ended with [DONE].
func (a Answer) Events() (list []engine.Value, done bool) {
	in := bufio.NewScanner(strings.NewReader(a.Text))
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

// Kinds are the names of a stream's events.
func (a Answer) Kinds() string {
	list, done := a.Events()
	var out []string
	for _, e := range list {
		out = append(out, e.Get("event").Str())
	}
	if done {
		out = append(out, "[DONE]")
	}
	return strings.Join(out, " ")
}

// Request makes a request with a key, "" for none; header holds pairs.
func (s *Site) Request(method, path, key, body string, header ...string) Answer {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, bytes.NewReader([]byte(body)))
	require.NoError(s.T, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.Do(http.DefaultClient, req)
}

// Do sends a request of any client.
func (s *Site) Do(client *http.Client, req *http.Request) Answer {
	s.T.Helper()
	res, err := client.Do(req)
	require.NoError(s.T, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(s.T, err)
	out := Answer{Status: res.StatusCode, Header: res.Header, Text: string(data)}
	if v, err := engine.ParseJSON(data); err == nil {
		out.Body = v
	}
	return out
}

// Get requests a path as tenant one.
func (s *Site) Get(path string) Answer { return s.Request("GET", path, "one", "") }

// Post sends a body as tenant one.
func (s *Site) Post(path, body string) Answer { return s.Request("POST", path, "one", body) }

// Put replaces something as tenant one.
func (s *Site) Put(path, body string) Answer { return s.Request("PUT", path, "one", body) }

// Delete deletes something as tenant one.
func (s *Site) Delete(path, body string) Answer { return s.Request("DELETE", path, "one", body) }

// Good requires an Answer with code 0.
func (s *Site) Good(a Answer) Answer {
	s.T.Helper()
	require.Equal(s.T, 200, a.Status, a.Text)
	require.Equal(s.T, 0, a.Code(), a.Text)
	return a
}

// Documents of canvases, and an id that nothing has.
var (
	Echo = sketch.Canvas(
		`begin Begin {"prologue":"Welcome"} -> Message:A`, `Message:A Message {"content":["You said {sys.query}"]}`)
	Slow = sketch.Canvas(
		"begin Begin -> Wait:W", "Wait:W Wait -> Message:A", `Message:A Message {"content":["{Wait:W@result}"]}`)
	Broken = sketch.Canvas(
		"begin Begin -> Message:A", `Message:A Message {"content":["before"]} -> Invoke:X`,
		`Invoke:X Invoke {"url":"http://127.0.0.1:1/","method":"get"}`)
	Formed = sketch.Canvas(
		"begin Begin -> UserFillUp:F",
		`UserFillUp:F UserFillUp {"enable_tips":true,"tips":"Your city?",
			"inputs":{"city":{"name":"City","type":"line","optional":false}}} -> Message:A`,
		`Message:A Message {"content":["City {UserFillUp:F@city}"]}`)
	Nowhere = "00000000000000000000000000000000"
)

// Canvas saves a canvas of tenant one and returns its id.
func (s *Site) Canvas(title, dsl string) string {
	s.T.Helper()
	a := s.Good(s.Post("/v1/canvas/set", `{"title":"`+title+`","dsl":`+dsl+`}`))
	return a.Data().Get("id").Str()
}
