package api

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/easel-canvas/easel/host/internal/app"
)

// metrics are the API's own numbers. Routes are labelled by their patterns, so
// that ids do not make new series.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	seconds  prometheus.Histogram
}

func newMetrics(registry *prometheus.Registry, runs *app.Runs) *metrics {
	m := &metrics{
		registry: registry,
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "easel_request_seconds", Help: "Time to answer a request, streams to their end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "easel_runs_total", Help: "Runs that ended on this host.",
		}, []string{"source", "status"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "easel_run_seconds", Help: "Time of a run on this host.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}),
	}
	registry.MustRegister(m.requests, m.runs, m.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "easel_runs_active", Help: "Runs that this host works on.",
	}, func() float64 { return float64(runs.Active()) }))
	return m
}

func (m *metrics) count(route string, began time.Time) {
	m.requests.WithLabelValues(route).Observe(time.Since(began).Seconds())
}

// Metrics serves the numbers without authentication; mount it on a private listener only.
func (a *API) Metrics() http.Handler {
	return promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{})
}
