package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/blobs"
	docs "github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Log is the run log; the API asks for its health.
type Log interface {
	Healthy(ctx context.Context) error
}

// Config is what the API serves from. Store, Log, Files, Runs, Registry, Models
// and Quota are required.
type Config struct {
	Store    *store.Store
	Log      Log
	Files    *blobs.Store // uploads
	Runs     *runs.Runs
	Registry *engine.Registry
	// Ports gives the world of one run; used to debug single nodes.
	Ports func(j *runs.Job) engine.Ports
	// MCP reaches MCP servers; nil says that there are none here.
	MCP Servers
	// Templates are offered to people who begin a canvas.
	Templates []Template
	// Plugins are the installed plugins; nil when there can be none.
	Plugins Plugins
	// Documents reads what is uploaded to webhooks; nil makes a reader for each
	// file.
	Documents *docs.Reader
	// Models are the models of each tenant; required.
	Models *model.Tenants
	// Quota counts the model tokens of callers; required.
	Quota *quota.Meter
	// CancelOnLeave stops a run whose only reader, the client that began it,
	// disconnects. Without it the run continues.
	CancelOnLeave bool
	// MaxBody bounds bodies of the class bodyCanvas, in bytes; 0 means 32 MiB.
	MaxBody int64
	// Memory is what requests with bodies above 16 KiB may hold together, with what is decoded from
	// them; SmallMemory is that of the others. nil means a share of the memory of the process.
	Memory, SmallMemory *memlimit.Budget
	// MaxUpload bounds an uploaded file, in bytes; 0 means 256 MiB.
	MaxUpload int64
	// BodyTime is how long a request may take to arrive; 0 means 60 s, and ten
	// times that for uploads.
	BodyTime time.Duration
	// Limits bound a node that is tried alone; runs have those of Runs.
	Limits engine.Limits
	// Rate is how many requests per second one key or login may make, unless its
	// key says otherwise; 0 means any.
	Rate float64
	// TrustedProxies are those whose X-Forwarded-For or Forwarded says where a
	// request comes from; see [ParseProxies].
	TrustedProxies []netip.Prefix
	// Operator is the tenant whose unlimited keys and owners administer the host:
	// its tenants. "" means none.
	Operator string
	// Origins are the origins whose pages may call the API; empty means any, and
	// "none" alone means none.
	Origins []string
	// Fetch reads a web page for uploads by address; nil refuses them.
	Fetch engine.HTTP
	// ForgetTask deletes the Redis keys of a task whose canvas is reset; nil when there are none.
	ForgetTask func(ctx context.Context, task string) error
	// Version is reported to clients.
	Version string
	// Metrics gets the API's own numbers; nil makes a registry of its own.
	Metrics *prometheus.Registry
	// Logger takes what an operator should know; nil means slog.Default.
	Logger *slog.Logger
	// LogDamaged reports whether files of the run log were found damaged; nil means that nothing
	// is known.
	LogDamaged func() bool
}

// API answers requests. It is safe for concurrent use.
type API struct {
	cfg     Config
	routes  router
	cors    cors
	metrics *metrics
	rates   rates
	brake   *loginBrake
	hooks   throttle // of webhooks, by canvas
	guesses throttle // of their tokens and passwords, by canvas and network
	tests   webhookTests
	spec    func() []byte // the OpenAPI document, made once
	began   int64         // Unix milliseconds
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
	if cfg.MaxUpload == 0 {
		cfg.MaxUpload = 256 << 20
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
	a := &API{
		cfg: cfg, cors: newCORS(cfg.Origins), rates: rates{perSecond: cfg.Rate}, brake: newLoginBrake(),
		began: time.Now().UnixMilli(),
	}
	a.metrics = newMetrics(cfg.Metrics, cfg.Runs)
	a.routes = newRouter(allRoutes())
	a.spec = sync.OnceValue(a.openAPI)
	return a
}

// Handler answers all requests of the API.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }

// Count notes a run that ended; it is what [runs.Config].Report wants.
func (a *API) Count(j *runs.Job, end runs.End, took time.Duration) {
	a.metrics.runs.WithLabelValues(j.Source, end.Status).Inc()
	a.metrics.seconds.Observe(took.Seconds())
}

// allRoutes is every path the API answers, both dialects' and our own.
func allRoutes() []route {
	var all []route
	for _, group := range [][]route{
		agentRoutes, sessionRoutes, completionRoutes, canvasRoutes, versionRoutes, botRoutes, fileRoutes, webhookRoutes,
		mcpRoutes, pluginRoutes, tokenRoutes, loginRoutes, systemRoutes, absentRoutes,
	} {
		for _, r := range group {
			all = append(all, r)
			r.path, r.newer = newerPrefix+r.path, true
			all = append(all, r)
		}
	}
	return slices.Concat(all, ownRoutes(), llmRoutes, pageRoutes, healthRoutes)
}

// ownRoutes is every path of our own API.
func ownRoutes() []route {
	return slices.Concat(v2Routes, v2VersionRoutes, v2AccountRoutes, v2ScheduleRoutes, v2ModelRoutes, v2RelayRoutes)
}

// newerPrefix stands before the paths of the 0.27 dialect.
const newerPrefix = "/0.27"
