package host

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/easel-canvas/easel/host/internal/runs/traces"
)

// newMetrics returns the metrics of the process; the API adds its metrics.
func (h *Host) newMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "easel_build_info", Help: "Always 1; the label is the version.",
		ConstLabels: prometheus.Labels{"version": h.cfg.Version},
	})
	build.Set(1)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build)
	h.memory.register(r)
	registerDamage(r, h.conn, h.damage.get)
	registerTraces(r, func() traces.Counts { return h.traces.Counts() })
	return r
}

// metricsDoor is the listener at which Prometheus reads metrics without a key. It serves nothing
// else.
type metricsDoor struct {
	listener net.Listener
	server   *http.Server
}

// openMetrics listens at the configured address.
func (h *Host) openMetrics() (err error) {
	if h.cfg.Metrics == "" {
		return nil
	}
	d := &h.metrics
	if d.listener, err = net.Listen("tcp", h.cfg.Metrics); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", h.api.Metrics())
	d.server = &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(h.cfg.Log.Handler(), slog.LevelWarn),
	}
	h.work.Go(func() {
		if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
			h.cfg.Log.Error("metrics are served no more", "err", err)
		}
	})
	return nil
}

func (d *metricsDoor) close() error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}

// Metrics returns the address of the metrics listener without authentication; "" without a
// listener.
func (h *Host) Metrics() string {
	if h.metrics.listener == nil {
		return ""
	}
	return h.metrics.listener.Addr().String()
}
