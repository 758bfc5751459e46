// Package host serves agent canvases over HTTP.
//
// [New] opens what a host needs: the records store, the run log, models and
// everything else that canvases reach through the engine's ports. [Host.Handler]
// answers requests, and the runs it accepts go on in the background until
// [Host.Close], which hands them to whoever opens the same storage next.
//
// One process with a data directory needs nothing installed. With addresses of
// a NATS and a PostgreSQL, any number of hosts share the work.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/runner"
	"github.com/easel-canvas/easel/host/internal/script"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
	"github.com/easel-canvas/easel/host/internal/web"
)

// Sync says what is on the disk before it is acknowledged.
type Sync string

// The choices of [Config].Sync.
const (
	// SyncContract puts accepted runs, their ends and session writes on the
	// disk; the events in between survive the end of any process.
	SyncContract Sync = "contract"
	// SyncAlways puts every event on the disk as well.
	SyncAlways Sync = "always"
	// SyncInterval leaves it to the operating system: the end of a process
	// loses nothing, power loss may lose the last moments.
	SyncInterval Sync = "interval"
)

// Config says how a host works. Dir, or NATS and Postgres, must be set.
type Config struct {
	// Dir is the data directory; made when missing. One process may use it.
	Dir string
	// NATS are addresses of an existing NATS with JetStream; empty runs one
	// inside this process.
	NATS []string
	// NATSCredentials is a credentials file for NATS; "" means none.
	NATSCredentials string
	// Replicas is how many NATS servers keep each message; 0 means 1.
	Replicas int
	// Postgres is the address of a database; "" keeps records in Dir.
	Postgres string
	// Sync is SyncContract unless told otherwise.
	Sync Sync
	// Lease is how long a host may be silent before others take its runs; 0
	// means 10 s.
	Lease time.Duration

	// Key is the API key of the first tenant; "" makes one at the first start.
	Key string
	// Models are the configured model providers; the zero value answers
	// offline. An easel.models.json is read by [ModelsFromEnvironment].
	Models Models
	// Examples are folders of canvases that are offered as templates.
	Examples []string
	// AllowPrivate lets canvases reach private and local addresses.
	AllowPrivate bool
	// CancelOnLeave stops a run when the client that began it disconnects.
	CancelOnLeave bool
	// Rate is how many requests per second one key may make; 0 means any.
	Rate float64
	// ScriptWorker is the command that runs one script in a process of its
	// own; without it scripts run in this process.
	ScriptWorker []string
	// Version is told to clients.
	Version string
	// Log takes what an operator should know; nil means slog.Default.
	Log *slog.Logger
}

// Models are model providers, see the model configuration file.
type Models = model.Config

// ModelsFromEnvironment reads the model configuration that the environment
// names. getenv is os.Getenv outside of tests.
func ModelsFromEnvironment(getenv func(string) string) (Models, error) {
	return model.FromEnvironment(getenv)
}

// Host is a running host. It is safe for concurrent use.
type Host struct {
	cfg    Config
	store  *store.Store
	log    *runner.Log
	runs   *durable.Runs
	models *model.Models
	mcp    *mcp.Client
	web    *web.Client
	api    *api.API

	// Key is the API key that was made for the first tenant at this start; ""
	// when there was one already. It is shown nowhere else.
	Key string

	stop context.CancelFunc
	work sync.WaitGroup
}

// New opens a host and begins to work on runs that were left unfinished.
func New(ctx context.Context, cfg Config) (*Host, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Sync == "" {
		cfg.Sync = SyncContract
	}
	h := &Host{cfg: cfg}
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) (err error) {
	cfg := &h.cfg
	switch cfg.Sync {
	case SyncAlways, SyncContract, SyncInterval:
	default:
		return fmt.Errorf("sync %q: always, contract or interval is needed", cfg.Sync)
	}
	sync := store.SyncAlways
	if cfg.Sync == SyncInterval {
		sync = store.SyncInterval
	}
	if h.store, err = store.Open(ctx, store.Config{Dir: cfg.Dir, URL: cfg.Postgres, Sync: sync}); err != nil {
		return err
	}
	if h.models, err = model.New(cfg.Models); err != nil {
		return fmt.Errorf("model configuration: %w", err)
	}
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return err
	}
	h.web = &web.Client{AllowPrivate: cfg.AllowPrivate}
	h.mcp = &mcp.Client{Transport: h.web.Transport(), Version: cfg.Version}
	templates, err := readTemplates(registry, cfg.Examples)
	if err != nil {
		return err
	}
	if h.log, err = runner.Open(ctx, runner.Config{
		Dir: cfg.Dir, URLs: cfg.NATS, Credentials: cfg.NATSCredentials, Replicas: cfg.Replicas,
		SyncAlways: cfg.Sync == SyncAlways, Lease: cfg.Lease, Log: cfg.Log,
		Dead: func(ctx context.Context, l *runner.Lease) error { return h.runs.Dead(ctx, l) },
	}); err != nil {
		return err
	}
	h.runs = durable.New(durable.Config{
		Store: h.store, Log: h.log, Registry: registry, Ports: h.ports, Logger: cfg.Log,
		Report: func(j *durable.Job, end durable.End, took time.Duration) { h.api.Count(j, end, took) },
	})
	h.api = api.New(api.Config{
		Store: h.store, Log: h.log, Runs: h.runs, Registry: registry, Ports: h.ports, MCP: h.mcp, Templates: templates,
		Models: h.modelList, CancelOnLeave: cfg.CancelOnLeave, Rate: cfg.Rate, Fetch: h.web, Version: cfg.Version, Logger: cfg.Log,
	})
	if err := h.firstTenant(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	h.work.Go(func() {
		if err := h.runs.Work(working); err != nil {
			cfg.Log.Error("this host takes no runs over", "err", err)
		}
	})
	return nil
}

// Handler answers all requests.
func (h *Host) Handler() http.Handler { return h.api.Handler() }

// Close hands the runs of this host over and closes its storage.
func (h *Host) Close() error {
	if h.stop != nil {
		h.stop()
	}
	var err error
	if h.log != nil {
		err = h.log.Close()
	}
	if h.runs != nil {
		h.runs.Close()
	}
	h.work.Wait()
	if h.store != nil {
		err = errors.Join(err, h.store.Close())
	}
	return err
}

// ports is the world of one run.
func (h *Host) ports(j *durable.Job) engine.Ports {
	return engine.Ports{
		Model:   h.models,
		Files:   (&upload.Box{Store: h.store, Log: h.log}).Of(j.Tenant),
		HTTP:    &web.Client{AllowPrivate: h.cfg.AllowPrivate, Secrets: secrets{h.store, j.Tenant}},
		Code:    &script.Runner{Worker: h.cfg.ScriptWorker},
		MCP:     &mcp.Port{Client: h.mcp, Owner: j.Tenant + " " + j.ID, Find: mcp.Finder(h.store, j.Tenant)},
		Secrets: secrets{h.store, j.Tenant},
	}
}

// secrets resolves a tenant's secrets by name.
type secrets struct {
	store  *store.Store
	tenant string
}

func (s secrets) Secret(ctx context.Context, name string) (string, error) {
	value, err := s.store.OpenSecret(ctx, s.tenant, name)
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("secret %q %w", name, web.ErrNoSecret)
	}
	return string(value), err
}

// modelList describes the configured models.
func (h *Host) modelList() []engine.Value {
	if !h.models.Configured() {
		return []engine.Value{engine.Object("id", "offline", "provider", "easel", "about", "answers without a language model")}
	}
	var out []engine.Value
	for _, p := range h.cfg.Models.Providers {
		for _, m := range p.Models {
			out = append(out, engine.Object("id", m.Name+"@"+p.Name, "provider", p.Name))
		}
	}
	return out
}
