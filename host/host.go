// Package host serves agent canvases over HTTP.
//
// [New] opens the store of records, the run log, models and everything else that canvases reach
// through the engine's ports. [Host.Handler] serves requests, and the runs it accepts continue in
// the background until [Host.Close], which hands them over to the next host with the same storage.
//
// One process with a data directory has no further requirements. With addresses of a NATS and a
// PostgreSQL, any number of hosts share the work.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/faces"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/code"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/nats/kv"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/telemetry"
	"github.com/easel-canvas/easel/host/internal/tools"
)

// Host is a running host. It is safe for concurrent use.
type Host struct {
	cfg       Config
	store     *store.Store
	conn      *broker.Conn // NATS, which holds the next four
	log       *runlog.Log
	files     *blobs.Store
	keys      *kv.Store
	reserve   *disk.Reserve // of the data directory; nil if nothing is stored there
	clocks    *schedule.Clocks
	schedules *schedule.Schedules
	runs      *runs.Runs
	ports     func(j *runs.Job) engine.Ports // of a run
	models    *model.Tenants
	quota     *quota.Meter
	mcp       *mcp.Client
	web       *web.Client
	api       *api.API
	redis     redisKeys
	spans     *telemetry.Tracer // nil sends none
	traces    *traces.Traces    // runs after their end

	control *http.Server
	metrics metricsDoor
	memory  budgets
	started time.Time
	damage  damage
	// accounts creates the codes of sign-in links.
	accounts *app.Accounts
	// runMemory is the part of memory.runs that active runs hold.
	runMemory *runMemory

	plugins   *plugins // nil where the machine cannot run any
	tools     *tools.Set
	ownTools  ownPlugins
	documents document.Reader
	scripts   *code.Port
	knowledge *folder.Folder // nil without documents
	datasets  *datasets.Datasets
	ingesting sync.WaitGroup

	// Key is the API key that was created for the first tenant at this start; "" if there was one
	// already. It is not available anywhere else.
	Key string
	// RedisKey is the password that was created for the Redis endpoint at this start; "" if none
	// was created. It is not available anywhere else.
	RedisKey string

	stop context.CancelFunc
	work sync.WaitGroup
}

// New opens a host and continues unfinished runs.
func New(ctx context.Context, cfg Config) (*Host, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Sync == "" {
		cfg.Sync = SyncContract
	}
	if cfg.Currency == "" && len(cfg.Prices) == 0 {
		cfg.Currency = "USD"
	}
	h := &Host{cfg: cfg, memory: newBudgets(cfg.Memory), started: time.Now()}
	h.runMemory = newRunMemory(h.memory.runs, h.memory.limit)
	if cfg.Dir != "" {
		h.runMemory.file = filepath.Join(cfg.Dir, "memory.json")
	}
	if cfg.Postgres == "" || len(cfg.NATS) == 0 {
		h.reserve = disk.NewReserve(cfg.Dir)
	}
	h.documents.Memory, h.documents.Log = h.memory.documents, cfg.Log
	h.documents.Limits.Pages = cfg.PDFPages
	var err error
	if h.documents.OCR, err = cfg.ocr(); err != nil {
		return nil, err
	}
	if cfg.Dir != "" {
		h.documents.CacheDir = filepath.Join(cfg.Dir, "cache", "documents")
	}
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) (err error) {
	cfg := &h.cfg
	if err := api.CheckOrigins(cfg.CORS); err != nil {
		return fmt.Errorf("cors: %w", err)
	}
	proxies, err := api.ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return fmt.Errorf("trusted proxy: %w", err)
	}
	if cfg.Traces {
		if h.spans, err = telemetry.Open(ctx, telemetry.Config{Version: cfg.Version, Log: cfg.Log}); err != nil {
			return err
		}
	}
	if err := checkDataDir(cfg); err != nil {
		return err
	}
	// The run log first: its lock keeps other processes out of the data directory.
	if err = h.openLog(ctx); err != nil {
		return err
	}
	if err = h.runMemory.readFormer(cfg.Log); err != nil {
		return err
	}
	if err = h.openStore(ctx); err != nil {
		return err
	}
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return err
	}
	registry.Host = true
	if err := h.openPlugins(ctx, registry); err != nil {
		return err
	}
	if err := h.openScripts(registry); err != nil {
		return err
	}
	h.tools = newTools(h)
	h.web = &web.Client{AllowPrivate: cfg.AllowPrivate}
	numbers := h.newMetrics()
	if err := h.openQuota(numbers); err != nil {
		return err
	}
	if err := h.openModels(); err != nil {
		return err
	}
	h.mcp = &mcp.Client{Transport: h.web.Transport(), Version: cfg.Version, Stdio: cfg.MCPStdio}
	templates, err := readTemplates(registry, cfg.Examples)
	if err != nil {
		return err
	}
	if err := h.openDatasets(ctx); err != nil {
		return err
	}
	ports := h.newPorts()
	if err := h.openRuns(ctx, registry, ports); err != nil {
		return err
	}
	h.api = newAPI(h, registry, ports, templates, proxies, numbers)
	if err := h.firstTenant(ctx, templates); err != nil {
		return err
	}
	if err := h.openRedis(ctx); err != nil {
		return err
	}
	if err := h.openControl(); err != nil {
		return err
	}
	if err := h.openMetrics(); err != nil {
		return err
	}
	h.begin(ctx)
	return nil
}

// openRuns opens the run manager and the schedules.
func (h *Host) openRuns(ctx context.Context, registry *engine.Registry, ports *ports) (err error) {
	cfg := &h.cfg
	if h.traces, err = newTraces(ctx, h); err != nil {
		return err
	}
	h.runs = runs.New(runs.Config{
		Store: h.store, Log: h.log, Registry: registry, Ports: ports.of, Logger: cfg.Log,
		Due:    func(ctx context.Context, j *runs.Job) (bool, error) { return h.schedules.Due(ctx, j) },
		Limits: cfg.Limits, Prices: cfg.Prices, Approval: cfg.Approval, Concurrency: cfg.Concurrency,
		MaxSteps: cfg.MaxSteps, Full: h.runMemory.Full, Suspect: h.runMemory.Suspect,
		PlanBytes: h.memory.plans, Documents: h.memory.canvases, KeepRuns: cfg.KeepRuns,
		Trace: h.traces.Take, Kept: h.traces.Records,
		Report: h.ended, Watch: h.watch, WatchPast: h.redis.wanted(cfg), Parent: h.spans.Parent,
	})
	h.schedules = schedule.New(schedule.Config{
		Store: h.store, Clocks: h.clocks, Runs: h.runs, Triggers: triggersOf(h.plugins),
		Shortest: cfg.shortest, Logger: cfg.Log,
	})
	return nil
}

// newAPI connects the services and the APIs over them.
func newAPI(
	h *Host, registry *engine.Registry, ports *ports, templates []app.Template, proxies []netip.Prefix,
	numbers *prometheus.Registry,
) *api.API {
	cfg := &h.cfg
	services := app.New(app.Config{
		Store: h.store, Log: h.log, Files: h.files, Runs: h.runs, Traces: h.traces, Schedules: h.schedules,
		Registry: registry, Ports: ports.of, Limits: cfg.Limits,
		MCP: h.mcp, Plugins: h.pluginPort(), Documents: &h.documents, Templates: templates, Models: h.models,
		Quota: h.quota, Operator: firstTenantID, Fetch: h.web, ForgetTask: h.redis.forget, Logger: cfg.Log,
		LogDamaged: func() bool { return len(h.conn.Damage()) > 0 }, DatabaseDamage: h.damage.get,
		TestDatabase: ports.testDatabase, Tables: ports.tables, Tools: ports.guestTools(),
		DatabaseFiles: ports.databases.Files, MissingLanguage: h.scripts.Missing, InstallPython: cfg.InstallPython,
		Datasets: h.datasets.Service, Sources: ports.sources.Names(),
		Priced: true, Currency: cfg.Currency, SignIn: cfg.SignIn, SignInTransport: h.web.Transport(),
		Status: func() app.Status { return statusOf(h) },
	})
	h.accounts = services.Accounts
	return faces.New(api.Config{
		Services: services, Origins: cfg.CORS, TrustedProxies: proxies, CancelOnLeave: cfg.CancelOnLeave,
		Rate: cfg.Rate, Connections: memlimit.Connections(h.memory.limit),
		Metrics: numbers, Logger: cfg.Log, Memory: h.memory.requests, SmallMemory: h.memory.small,
	}, cfg.Version)
}

// statusOf returns the status of a host.
func statusOf(h *Host) app.Status {
	log := "embedded NATS"
	if len(h.cfg.NATS) > 0 {
		log = "NATS cluster"
	}
	return app.Status{Version: h.cfg.Version, Started: h.started, Log: log, Memory: h.memory.list()}
}

// begin takes over the unfinished runs of this host and of others.
func (h *Host) begin(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	h.reserve.Started()
	h.work.Go(func() {
		if err := h.runs.Work(working); err != nil {
			h.cfg.Log.Error("takeover loop stopped", "err", err)
		}
	})
	h.work.Go(func() { h.traces.Work(working) })
	h.work.Go(func() { h.schedules.Work(working) })
	h.ingesting.Go(func() { h.datasets.Ingester.Run(working) })
	h.work.Go(func() { h.runMemory.guard(working.Done(), h.runs, h.cfg.Log) })
	h.work.Go(func() { warmTools(working, h) })
	h.redis.work(working, h)
	h.plugins.watch(working, h)
}

// watch receives the records of runs on this host.
func (h *Host) watch(j *runs.Job, r runlog.Record, again bool) {
	h.redis.watch(j, r)
	h.spans.Watch(j, r, again)
}

// ended is called for every run this host finishes.
func (h *Host) ended(j *runs.Job, end runs.End, took time.Duration) {
	h.mcp.End(mcpOwner(j))
	h.quota.Settle()
	h.spans.End(j, end)
	h.api.Count(j, end, took)
	h.redis.end(j, end)
}

// Stop accepts no new runs: requests that start one return 503, as do those that wait for their
// session, so that a server around [Host.Handler] can shut down. Accepted runs continue until
// [Host.Close], which stops as well.
func (h *Host) Stop() {
	if h.runs != nil {
		h.runs.Stop()
	}
}

// Close stops, hands the runs of this host over and closes its storage.
func (h *Host) Close() error {
	h.Stop()
	if h.stop != nil {
		h.stop()
	}
	// Users of the run log close before it.
	h.ingesting.Wait()
	err := errors.Join(h.closeControl(), h.metrics.close(), h.redis.close())
	err = errors.Join(err, h.closeLog())
	if h.runs != nil {
		h.runs.Close()
	}
	h.work.Wait()
	if h.mcp != nil {
		h.mcp.Close()
	}
	if h.knowledge != nil {
		err = errors.Join(err, h.knowledge.Close())
	}
	if h.scripts != nil {
		err = errors.Join(err, h.scripts.Close())
	}
	err = errors.Join(err, h.closeDatasets(), h.plugins.close(), h.ownTools.close(), h.documents.Close(),
		h.spans.Close())
	if h.quota != nil {
		err = errors.Join(err, h.quota.Close())
	}
	return errors.Join(err, h.closeStore())
}
