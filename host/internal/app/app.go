package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// Log is the run log; [Health] checks that it responds.
type Log interface {
	Healthy(ctx context.Context) error
}

// Config configures the services. Store, Log, Files, Runs, Schedules, Registry, Models and Quota
// are required.
type Config struct {
	Store *store.Store
	Log   Log
	Files *blobs.Store // uploads
	Runs  *runs.Runs
	// Traces keep runs; nil keeps none.
	Traces *traces.Traces
	// Schedules begin runs at set times.
	Schedules *schedule.Schedules
	Registry  *engine.Registry
	// Ports returns the ports of one run; used to debug single nodes.
	Ports func(j *Job) engine.Ports
	// Limits bound a node that is tried alone; runs have those of Runs.
	Limits engine.Limits
	// MCP reaches MCP servers; nil means that this host reaches none.
	MCP MCP
	// Templates are offered for new canvases.
	Templates []Template
	// Plugins are the installed plugins; nil when there can be none.
	Plugins Plugins
	// Tools runs the built-in tools for canvases that a page tries out; may be nil.
	Tools func(as *Job) engine.Tools
	// Documents reads uploaded files; nil makes a reader for each file.
	Documents *document.Reader
	// Models are the models of each tenant.
	Models *model.Tenants
	// Quota counts the model tokens of callers.
	Quota *quota.Meter
	// MaxUpload bounds an uploaded file, in bytes; 0 means 256 MiB.
	MaxUpload int64
	// Fetch reads a web page for uploads by address; nil refuses them.
	Fetch engine.HTTP
	// ForgetTask deletes the Redis keys of a task whose canvas is reset; may be nil.
	ForgetTask func(ctx context.Context, task string) error
	// TestDatabase connects to a database with the settings of an ExeSQL node; nil refuses it.
	TestDatabase func(ctx context.Context, settings engine.Value) error
	// Tables lists the tables of the database of an ExeSQL node, with the secrets that a job may
	// use; nil refuses it.
	Tables func(ctx context.Context, as *Job, params engine.Value) ([]string, error)
	// DatabaseFiles lists the SQLite files that canvases may open; nil means none.
	DatabaseFiles func() ([]string, error)
	// MissingLanguage returns why scripts of a language cannot run here; nil means that all can.
	MissingLanguage func(language string) error
	// InstallPython adds an interpreter for Python; nil where none can be added.
	InstallPython func(ctx context.Context) error
	// LogDamaged reports whether files of the run log were found damaged; nil means that nothing is
	// known.
	LogDamaged func() bool
	// DatabaseDamage is an error when pages of the database were found damaged; nil means that
	// nothing is known.
	DatabaseDamage func() error
	// Status describes the host; nil for none.
	Status func() Status
	// Datasets are the collections of documents.
	Datasets *Datasets
	// Sources are the names of datasets of other systems, which all tenants may use.
	Sources []string
	// Priced means that the host has prices of models.
	Priced bool
	// Currency is the code of their currency, such as USD; "" means an unnamed one.
	Currency string
	// Operator is the tenant whose owners, and keys with the scope host, operate the host. "" means
	// none.
	Operator string
	// SignIn are the OpenID providers of the operating tenant that the command line has.
	SignIn []ProviderConfig
	// SignInTransport reaches the OpenID providers of tenants; nil means any address.
	SignInTransport http.RoundTripper
	// Logger receives what an operator should know; nil means slog.Default.
	Logger *slog.Logger
}

// Services are everything that a host does for its callers.
type Services struct {
	Accounts *Accounts
	Audit    *Audit
	// Identities sign people in at OpenID providers.
	Identities *Identities
	Tenants    *Tenants
	Projects   *Projects
	Keys       *Keys
	Usage      *Usage
	Secrets    *Secrets
	Canvases   *Canvases
	Presence   *Presence
	Revisions  *Revisions
	Versions   *Versions
	Sessions   *Sessions
	Runs       *Runs
	Schedules  *Schedules
	Servers    *Servers
	Files      *Files
	Datasets   *Datasets
	Memories   *memories.Store
	Health     *Health
	Models     *model.Tenants
	Registry   *engine.Registry
	Plugins    Plugins // nil when there can be none
	// Tools runs the built-in tools for canvases that a page tries out; may be nil.
	Tools     func(as *Job) engine.Tools
	Templates Templates
	// TestDatabase connects to a database with the settings of an ExeSQL node.
	TestDatabase func(ctx context.Context, settings engine.Value) error
	// Tables lists the tables of the database of an ExeSQL node, with the secrets of a job.
	Tables func(ctx context.Context, as *Job, params engine.Value) ([]string, error)
	// DatabaseFiles lists the SQLite files that canvases may open.
	DatabaseFiles func() ([]string, error)
	Scripts       *Scripts
}

// New makes the services of a host.
func New(cfg Config) *Services {
	if cfg.MaxUpload == 0 {
		cfg.MaxUpload = 256 << 20
	}
	if cfg.TestDatabase == nil {
		cfg.TestDatabase = func(context.Context, engine.Value) error { return errNoDatabases }
	}
	if cfg.Tables == nil {
		cfg.Tables = func(context.Context, *Job, engine.Value) ([]string, error) { return nil, errNoDatabases }
	}
	if cfg.DatabaseFiles == nil {
		cfg.DatabaseFiles = func() ([]string, error) { return []string{}, nil }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	files := &Files{
		fetch: cfg.Fetch,
		box:   &upload.Box{Store: cfg.Store, Files: cfg.Files, Most: cfg.MaxUpload, Documents: cfg.Documents},
	}
	usage := &Usage{cfg.Store, cfg.Store.Uses, cfg.Quota, cfg.Priced, cfg.Currency}
	operates, presence := operator(cfg.Operator), NewPresence()
	accounts := &Accounts{store: cfg.Store, operator: operates}
	projects := &Projects{cfg.Store}
	kept := memories.New(cfg.Store, cfg.Models)
	canvases := &Canvases{
		cfg.Store, cfg.Runs, cfg.Schedules, cfg.Registry, cfg.ForgetTask, cfg.Plugins, cfg.Datasets, kept, cfg.Sources,
		cfg.Models, projects,
	}
	return &Services{
		Accounts: accounts, Audit: &Audit{cfg.Store, cfg.Logger}, Identities: newIdentities(cfg, accounts),
		Projects: projects,
		Tenants:  &Tenants{cfg.Store, cfg.Runs, cfg.Schedules, accounts, usage, files, operates, cfg.Traces},
		Keys:     &Keys{cfg.Store, usage, operates},
		Usage:    usage,
		Secrets:  &Secrets{cfg.Store},
		Canvases: canvases, Versions: &Versions{cfg.Store, canvases},
		Presence: presence, Revisions: NewRevisions(cfg.Store.Canvases.Revisions, presence, cfg.Logger),
		Sessions:     &Sessions{cfg.Store, cfg.Runs, canvases},
		Runs:         &Runs{cfg.Store, cfg.Runs, canvases, cfg.Ports, cfg.Limits, cfg.Traces},
		Schedules:    &Schedules{cfg.Schedules, canvases},
		Servers:      &Servers{cfg.Store, cfg.MCP, cfg.Logger},
		Files:        files,
		Datasets:     cfg.Datasets,
		Memories:     kept,
		Health:       &Health{cfg.Store, cfg.Log, cfg.LogDamaged, cfg.DatabaseDamage, cfg.Status},
		Models:       cfg.Models,
		TestDatabase: cfg.TestDatabase, Tables: cfg.Tables,
		DatabaseFiles: cfg.DatabaseFiles, Scripts: &Scripts{missing: cfg.MissingLanguage, install: cfg.InstallPython},
		Registry:  cfg.Registry,
		Plugins:   cfg.Plugins,
		Tools:     cfg.Tools,
		Templates: Templates{cfg.Templates, time.Now().UnixMilli()},
	}
}
