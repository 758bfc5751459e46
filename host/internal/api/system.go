package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
)

var systemRoutes = []route{
	{method: "GET", path: "/v1/system/version", body: bodyNone, need: needUser, scope: scopeRead, answer: (*API).version},
	{method: "GET", path: "/api/v1/system/version", body: bodyNone, need: needUser, scope: scopeRead, answer: (*API).version},
	{method: "GET", path: "/v1/system/config", body: bodyNone, need: needNone, answer: (*API).config},
	{method: "GET", path: "/api/v1/system/config", body: bodyNone, need: needNone, answer: (*API).config},
	{method: "GET", path: "/v1/system/ping", body: bodyNone, need: needNone, answer: (*API).ping},
	{method: "GET", path: "/api/v1/system/ping", body: bodyNone, need: needNone, answer: (*API).ping},
	{method: "GET", path: "/v1/system/healthz", body: bodyNone, need: needNone, answer: (*API).ready},
	{method: "GET", path: "/api/v1/system/healthz", body: bodyNone, need: needNone, answer: (*API).ready},
	{method: "GET", path: "/v1/system/status", body: bodyNone, scope: scopeRead, answer: (*API).status},
	{method: "GET", path: "/api/v1/system/status", body: bodyNone, scope: scopeRead, answer: (*API).status},
}

var healthRoutes = []route{
	{method: "GET", path: "/healthz", body: bodyNone, need: needNone, answer: (*API).healthy},
	{method: "GET", path: "/readyz", body: bodyNone, need: needNone, answer: (*API).ready},
	{method: "GET", path: "/metrics", body: bodyNone, scope: scopeMetrics, answer: (*API).serveMetrics},
}

func (a *API) version(c *call) error { return c.ok(engine.String(a.cfg.Version)) }

// config says what a login page offers: registration is off, and passwords always log in. There
// is no other kind of login that it could be switched off for.
func (a *API) config(c *call) error {
	return c.ok(engine.Object("registerEnabled", 0, "disablePasswordLogin", false))
}

func (a *API) ping(c *call) error { return c.plain("pong") }

func (a *API) healthy(c *call) error { return c.plain("ok\n") }

func (c *call) plain(text string) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = c.w.Write([]byte(text)) // the client is gone when this fails
	return nil
}

// pingTime bounds a look at the database and the run log.
const pingTime = 3 * time.Second

// ready says whether records and run log can be reached.
func (a *API) ready(c *call) error {
	ctx, done := context.WithTimeout(c.ctx(), pingTime)
	defer done()
	check := func(err error) string {
		if err != nil {
			if c.ctx().Err() == nil { // else the client has disconnected
				a.cfg.Logger.Warn("not ready", "err", err)
			}
			return "nok"
		}
		return "ok"
	}
	records, log := check(a.cfg.Store.Ping(ctx)), check(a.cfg.Log.Healthy(ctx))
	status, all := http.StatusOK, "ok"
	if records != "ok" || log != "ok" {
		status, all = http.StatusServiceUnavailable, "nok"
	}
	state := engine.Object("status", all, "db", records, "log", log)
	if a.cfg.logDamaged() {
		state = state.With("log_files", engine.String("damaged"))
	}
	return c.send(status, state)
}

// logDamaged reports whether the run log has lost messages because its files are damaged. The host
// still serves everything else.
func (c *Config) logDamaged() bool { return c.LogDamaged != nil && c.LogDamaged() }

// status is the state of the host's parts under the original's names: the run log keeps files and
// short-lived keys, which the original has in its storage and in Redis.
func (a *API) status(c *call) error {
	ctx, done := context.WithTimeout(c.ctx(), pingTime)
	defer done()
	part := func(kind, name string, ping func(context.Context) error) engine.Value {
		began := time.Now()
		err := ping(ctx)
		elapsed := strconv.FormatFloat(float64(time.Since(began).Microseconds())/1000, 'f', 1, 64)
		v := engine.Object(kind, name, "status", "green", "elapsed", elapsed)
		if err != nil {
			a.cfg.Logger.Warn("part of the host is not available", "part", kind, "err", err)
			v = v.With("status", engine.String("red")).With("error", engine.String(name+" does not answer"))
		}
		return v
	}
	storage := part("storage", "nats", a.cfg.Log.Healthy)
	if storage.Get("status").Text() == "green" && a.cfg.logDamaged() {
		storage = storage.With("status", engine.String("yellow"))
		storage = storage.With("error", engine.String("files are damaged; see the log"))
	}
	return c.ok(engine.Object(
		"database", part("database", a.cfg.Store.Engine(), a.cfg.Store.Ping), "storage", storage,
		"runs", a.cfg.Runs.Active(), "task_executor_heartbeats", engine.Object(),
	))
}

// metrics are the API's own numbers. Routes are labelled by their patterns, so
// that ids do not make new series.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	seconds  prometheus.Histogram
}

func newMetrics(registry *prometheus.Registry, runs *runs.Runs) *metrics {
	m := &metrics{
		registry: registry,
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "easel_request_seconds", Help: "Time to answer a request, streams to their end.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "easel_runs_total", Help: "Runs that ended on this host.",
		}, []string{"source", "status"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "easel_run_seconds", Help: "Time of a run on this host.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}),
	}
	registry.MustRegister(m.requests, m.runs, m.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "easel_runs_active", Help: "Runs that this host works on.",
	}, func() float64 {
		if runs == nil {
			return 0
		}
		return float64(runs.Active())
	}))
	return m
}

func (m *metrics) count(route string, began time.Time) {
	m.requests.WithLabelValues(route).Observe(time.Since(began).Seconds())
}

func (a *API) serveMetrics(c *call) error {
	a.Metrics().ServeHTTP(c.w, c.r)
	return nil
}

// Metrics answers with the numbers, whoever asks; for a place that only those
// reach who may know them.
func (a *API) Metrics() http.Handler {
	return promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{})
}

// contentLength is how many bytes the body of a request has, -1 when that is not known: net/http
// has decided between Content-Length and Transfer-Encoding.
func contentLength(r *http.Request) int64 { return r.ContentLength }
