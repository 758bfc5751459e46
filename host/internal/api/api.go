package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// Config configures an API. Services and Routes are required.
type Config struct {
	Services *app.Services
	Routes   []Route // of all faces
	// Unrouted answers an unknown path, and with known one that has other methods; nil answers
	// text.
	Unrouted func(r *Request, known bool)
	// Fail answers failures of routes that set no form; nil answers text.
	Fail ErrorForm
	// CancelOnLeave stops a run whose only reader, the client that started it, disconnects. Without
	// it the run continues.
	CancelOnLeave bool
	// MaxBody bounds bodies of the class BodyCanvas, in bytes; 0 means 32 MiB.
	MaxBody int64
	// Memory bounds what requests with bodies above 16 KiB hold together, decoded values included;
	// SmallMemory bounds the others. nil means a share of the memory of the process.
	Memory, SmallMemory *memlimit.Budget
	// BodyTime bounds the arrival of a request; 0 means 60 s, and ten times that for uploads.
	BodyTime time.Duration
	// Recheck is the interval at which event streams check whether their key or login is still
	// valid; 0 means 15 s.
	Recheck time.Duration
	// Connections bounds the connections of the host; 0 means any. Event streams
	// of one caller or tenant get a part of them.
	Connections int
	// Rate bounds the requests per second of one key or login, unless its key sets another; 0 means
	// any.
	Rate float64
	// TrustedProxies are the proxies whose X-Forwarded-For or Forwarded names the client; see
	// [ParseProxies].
	TrustedProxies []netip.Prefix
	// Origins are the origins whose pages may call the API; empty means any, and "none" alone means
	// none.
	Origins []string
	// Now returns the time by which attempts to log in are limited; nil means time.Now.
	Now func() time.Time
	// Metrics gets the API's own numbers; nil makes a separate registry.
	Metrics *prometheus.Registry
	// Logger receives what an operator should know; nil means slog.Default.
	Logger *slog.Logger
}

// API answers requests. It is safe for concurrent use.
type API struct {
	cfg     Config
	routes  router
	cors    cors
	metrics *metrics
	rates   rates
	streams streams
	outages outages
}

// New makes the API of a host.
func New(cfg Config) *API {
	if cfg.MaxBody == 0 {
		cfg.MaxBody = 32 << 20
	}
	if cfg.Memory == nil {
		cfg.Memory = memlimit.New("requests", memlimit.Process()/16)
	}
	if cfg.SmallMemory == nil {
		cfg.SmallMemory = memlimit.New("small requests", memlimit.Process()/64)
	}
	if cfg.BodyTime == 0 {
		cfg.BodyTime = time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Unrouted == nil {
		cfg.Unrouted = unrouted
	}
	if cfg.Fail == nil {
		cfg.Fail = failPlain
	}
	a := &API{cfg: cfg, cors: newCORS(cfg.Origins), rates: rates{perSecond: cfg.Rate}}
	a.streams.connections = cfg.Connections
	a.metrics = newMetrics(cfg.Metrics, cfg.Services.Runs)
	a.routes = newRouter(append(cfg.Routes, a.ownRoutes()...))
	return a
}

// Handler answers all requests of the API.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }

// Routes lists what the API answers, in all dialects.
func (a *API) Routes() []Route { return a.routes.list }

// Route finds the route of a request; nil if no route matches.
func (a *API) Route(r *http.Request) *Route {
	found, _, _ := a.routes.find(r)
	return found
}

// Count notes a run that ended; it is the Report of the run manager.
func (a *API) Count(j *app.Job, end app.End, took time.Duration) {
	a.metrics.runs.WithLabelValues(j.Source, end.Status).Inc()
	a.metrics.seconds.Observe(took.Seconds())
}
