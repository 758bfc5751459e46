package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/external"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/tools/native"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

const modelHelp = `Models come from easel.models.json or the environment:
  OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL     an OpenAI-compatible endpoint
  EASEL_MODEL_FILE                                  another configuration file
  EASEL_MODEL_BASE_URL, _KEY, _PROVIDER, _NAMES, _DEFAULT   an endpoint under your own name
  EASEL_MODEL_SPEECH, _VOICE, _EMBEDDING            the models for speech and for embeddings
  EASEL_MODEL_TRANSCRIPTION                         the model that writes down speech
Without any, the offline model answers: it calls no language model, and its answers state that.
Secrets of canvases, {{secret:NAME}}, come from EASEL_SECRET_NAME; EASEL_SECRET_NAME_HOSTS lists the hosts they may be
sent to.
`

// world holds the flags for everything outside the engine: models, datasets, scripts, tools.
type world struct {
	model     string
	knowledge string
	sources   string
	private   bool
	noTools   bool
	mcp       string
	sqlite    string
	sockets   bool
	browser   string
	ocr       string
	save      string
	paces     paces
	limits    limits
	calls     modelLimits
	prices    prices
	approval  names
	seed      uint64
	scripts   scriptPlace
	tape      *enginetest.SecretsTape // collects used secrets; nil does not
	canvas    engine.Value            // what runs; null if it is not known yet

	uploads files.Uploads
}

func (w *world) flags(fs *flag.FlagSet) {
	fs.StringVar(&w.model, "model", "", "model for all model calls: `ID` is offline, scripted:FILE, or MODEL@PROVIDER")
	fs.StringVar(&w.knowledge, "knowledge", "", "`DIR` whose sub-folders of documents are the datasets")
	fs.StringVar(&w.sources, "sources", "", sourcesUsage)
	fs.BoolVar(&w.private, "allow-private", false,
		"allow Invoke, tools and MCP servers to use private and local addresses")
	fs.BoolVar(&w.noTools, "no-tools", false, noToolsUsage)
	fs.StringVar(&w.mcp, "mcp", "",
		"`FILE` of MCP servers by the ids that Agents use: {\"mcpServers\": {ID: {url} or {command, args, env}}}")
	fs.StringVar(&w.sqlite, "sqlite", "", sqliteUsage)
	fs.BoolVar(&w.sockets, "sql-sockets", false, sqlSocketsUsage)
	fs.StringVar(&w.browser, "browser", "", browserUsage)
	fs.StringVar(&w.ocr, "ocr", "", ocrUsage)
	fs.StringVar(&w.save, "save", "",
		"`DIR` for files that a canvas creates (output_format); none are created when left out")
	w.scripts.flags(fs)
	w.paces.flags(fs)
	fs.Var(&w.limits, "limit", limitUsage())
	fs.Var(&w.calls, "model-limit", modelLimitUsage())
	fs.Var(&w.prices, "prices", pricesUsage)
	fs.Var(&w.approval, "approval", approvalUsage)
	fs.Uint64Var(&w.seed, "seed", 0, "seed of random choices; 0 means a random seed")
}

// options returns the engine's options for one run.
func (w *world) options(a *app) (engine.Options, error) {
	config, err := model.FromEnvironment(a.getenv)
	if err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	config.Currency, config.Rates = w.prices.accounting(), w.prices.rates
	models, err := model.New(config)
	if err != nil {
		return engine.Options{}, &usageError{"", fmt.Errorf("model configuration: %w", err)}
	}
	limiter, err := limit.New(w.calls.Config)
	if err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	models.Limit(limiter, "local", "run")
	chosen, err := models.Select(w.model)
	if err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	var secrets engine.Secrets = web.Environment{Lookup: os.LookupEnv}
	if w.tape != nil {
		w.tape.Secrets = secrets
		secrets = w.tape
	}
	servers, err := w.servers(a, secrets)
	if err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	ports := engine.Ports{
		Model: chosen, Speech: models, MCP: servers, Files: w.runFiles(a),
		Parser: &w.uploads, Counter: chunking.Counter{},
		Secrets: secrets,
		HTTP:    &web.Client{AllowPrivate: w.private, Secrets: secrets},
	}
	scripts, err := w.scripts.port(a)
	if err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	ports.Code = scripts
	if w.save != "" {
		ports.Code = scripts.With(w.runFiles(a).Save)
	}
	if err := sql.CheckFolder(w.sqlite, hostDir(a)); err != nil {
		return engine.Options{}, &usageError{"", fmt.Errorf("--sqlite: %w", err)}
	}
	ports.Tools = w.tools(a, secrets, chosen)
	if dir, err := os.UserCacheDir(); err == nil { // without it, PDF files take a second longer
		w.uploads.Documents.CacheDir = filepath.Join(dir, "easel", "documents")
	}
	if w.uploads.Documents.OCR, err = imageReader(a, w.ocr); err != nil {
		return engine.Options{}, &usageError{"", err}
	}
	if w.save != "" {
		ports.Documents = w.made(a)
	}
	if ports.Retriever, err = w.retriever(a); err != nil {
		return engine.Options{}, err
	}
	return engine.Options{
		Ports: ports, TenantID: "local", Concurrency: w.paces.concurrency, MaxSteps: w.paces.maxSteps,
		Limits: w.limits.Limits, Prices: w.prices.Prices, Approval: w.approval, Seed: w.seed, Internal: true,
	}, nil
}

// retriever searches the folder of documents and the external sources.
func (w *world) retriever(a *app) (engine.Retriever, error) {
	others, err := readSources(a, w.sources)
	if err != nil {
		return nil, &usageError{"", err}
	}
	if w.knowledge == "" {
		return external.Open(others, nil).Retriever(nil), nil
	}
	if info, err := os.Stat(w.knowledge); err != nil || !info.IsDir() {
		return nil, misuse("", "--knowledge %s: not a folder", w.knowledge)
	}
	documents, err := folder.Open(context.Background(), folder.Config{
		Root: w.knowledge, Wait: -1, Images: w.uploads.Documents.OCR != nil,
		Cutter: ingest.DocumentCutter{Reader: &w.uploads.Documents},
		Logger: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, err
	}
	a.atEnd(documents.Close)
	return external.Open(others, nil).Retriever(documents.Retriever("")), nil
}

// made returns the folder for files that a canvas creates.
func (w *world) made(a *app) files.Made {
	return files.Made{Dir: w.save, Saved: func(path string) { fmt.Fprintln(a.err, "saved", path) }}
}

// runFiles returns the files that nodes of the run read and create.
func (w *world) runFiles(a *app) files.RunFiles {
	return files.RunFiles{Uploads: &w.uploads, Made: w.made(a)}
}

// tools returns the runner of components with outside effects: some in this process, all others as
// sandboxed modules.
func (w *world) tools(a *app, secrets engine.Secrets, chosen engine.Model) engine.Tools {
	network := &web.Client{AllowPrivate: w.private}
	port := &native.Port{
		Network: network, Documents: &w.uploads.Documents,
		Databases: &sql.Runner{Network: network, Dir: w.sqlite, HostDir: hostDir(a), Sockets: w.sockets},
		Files:     w.runFiles(a), Secrets: secrets,
		Model: chosen, Chromium: w.browser,
	}
	if !w.noTools {
		set := a.tools(w.private)
		if callsTools(a.registry, w.canvas) {
			warm(a, set)
		}
		port.Others = set.Port("local", secrets)
	}
	return port
}

// hostDir returns the data directory of a host on this machine, as commands on it find it; "" if it
// does not exist.
func hostDir(a *app) string {
	dir := cmp.Or(a.getenv("EASEL_DATA"), defaultData)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return dir
}

// servers returns the MCP servers of --mcp and of addresses in canvases. Commands in the file are
// allowed, since the user chose it.
func (w *world) servers(a *app, secrets engine.Secrets) (engine.MCP, error) {
	var set mcp.Set
	if w.mcp != "" {
		var err error
		if set, err = mcp.ReadSet(w.mcp); err != nil {
			return nil, err
		}
	}
	client := &mcp.Client{
		Transport: (&web.Client{AllowPrivate: w.private}).Transport(), Version: hostVersion(), Stdio: true,
	}
	a.atEnd(func() error { client.Close(); return nil })
	return &mcp.Port{Client: client, Owner: "local", Find: set.Find, Save: w.runFiles(a).Save, Secrets: secrets}, nil
}

// worker returns the command of a script worker, this program. Without its path, scripts run in
// process.
func worker(command string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, command}
}
