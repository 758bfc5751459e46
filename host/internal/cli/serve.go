package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host"
)

var serveCommand = command{
	name: "serve", args: "[FLAGS]",
	summary: "serves canvases over HTTP",
	help: `
All data is stored in one data directory, without further requirements. The first start creates an API key. A terminal
shows it; otherwise it is written to api.key in the data directory. With --nats and --postgres any number of hosts
share the work.

Each flag can also be set by the environment: EASEL_ and its name in capitals, with _ for -, as in EASEL_ADDR. Settings
that do not belong on a command line have no flag:
  EASEL_API_KEY                 the API key of the first tenant, instead of a generated one
  EASEL_CODE_EXECUTOR_TOKEN     the token that the sandbox of --code-executor requires
  EASEL_REDIS_PASSWORD          the password of the Redis endpoint, instead of a generated one
  OTEL_EXPORTER_OTLP_ENDPOINT   where traces of requests, runs and nodes are sent, without prompts; see OpenTelemetry
                                for the other OTEL_ variables
` + modelHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		s := &server{}
		s.define(fs)
		return s.run
	},
}

// server is the serve command with its flags.
type server struct {
	settings
	addr, keyFile, logs string
	pythonDir           string
	limits              limits
	calls               modelLimits
	prices              prices
	approval            names
	signIn              signIn
	paces               paces
	memory              byteSize
	datasetBytes        byteSize
	sources             string
	madeKey             bool // the key file is new
	printLink           bool
	cfg                 host.Config
}

// define adds the flags.
func (s *server) define(fs *flag.FlagSet) {
	s.flags = fs
	fs.StringVar(&s.addr, "addr", "127.0.0.1:9380", "`HOST:PORT` to listen on")
	fs.StringVar(&s.cfg.Dir, "data", defaultData, "`DIR` that holds everything")
	fs.String("nats", "", "`URL,...` of an existing NATS with JetStream")
	fs.StringVar(&s.cfg.NATSCredentials, "nats-credentials", "", "credentials `FILE` for NATS")
	fs.IntVar(&s.cfg.Replicas, "nats-replicas", 0, "how many NATS servers keep each message; 0 means 1")
	fs.StringVar(&s.cfg.Postgres, "postgres", "", "`URL` of a PostgreSQL database for the records")
	fs.StringVar(&s.cfg.KeyFile, "key-file", "", "`FILE` with the key that seals secrets, the same for all hosts of "+
		"a database; default secret.key in the data directory")
	fs.StringVar((*string)(&s.cfg.Sync), "sync", string(host.SyncContract),
		"when writes are synced to disk: contract, always or interval")
	fs.StringVar(&s.cfg.AcceptLoss, "accept-loss", "",
		"`CODE` of a loss of acknowledged records, from the error of a refused start; starts with what is left")
	fs.DurationVar(&s.cfg.Lease, "lease", 0,
		"time without a heartbeat after which other hosts take over a host's runs; 0 means 10s")
	fs.DurationVar(&s.cfg.KeepRuns, "keep-runs", 0,
		"how long finished runs stay in the history, such as 2160h; 0 means forever. Sessions are not deleted")
	fs.String("examples", "", "`DIR,...` of canvases offered as templates")
	fs.BoolVar(&s.cfg.InstallExamples, "install-examples", false, "save the templates as canvases at the first start")
	fs.String("trusted-proxy", "", "`CIDR,...` of proxies whose X-Forwarded-For is trusted; none when left out")
	fs.StringVar(&s.keyFile, "api-key-file", "", "`FILE` with the API key; created with a new key when missing")
	fs.BoolVar(&s.printLink, "print-link", false,
		"print the link that signs in once, also when standard output is not a terminal; it is written to "+linkFile+
			" in the data directory when left out")
	fs.StringVar(&s.cfg.Metrics, "metrics-addr", "",
		"`HOST:PORT` that serves metrics to Prometheus without a key; /metrics of --addr requires one")
	fs.StringVar(&s.cfg.RedisDoor, "redis-door", "",
		"`HOST:PORT` of a Redis endpoint with RAGFlow's keys, such as TASK-cancel")
	fs.BoolVar(&s.cfg.RedisRemote, "redis-door-remote", false, "allow the Redis endpoint to listen beyond this machine")
	fs.StringVar(&s.cfg.Redis, "redis", "", "`URL` of an existing Redis to watch and write the same keys in")
	fs.StringVar(&s.cfg.Plugins, "plugins", "",
		"`DIR` of installed plugins; plugins in the data directory when left out")
	fs.StringVar(&s.cfg.PluginSignatures, "plugin-signatures", "warn",
		"signatures of plugins: require a trusted one, warn without one, or off")
	fs.BoolVar(&s.cfg.NoTools, "no-tools", false, noToolsUsage)
	fs.StringVar(&s.cfg.SQLiteDir, "sqlite", "", sqliteUsage)
	fs.BoolVar(&s.cfg.SQLSockets, "sql-sockets", false, sqlSocketsUsage+"; not for a host with several tenants")
	fs.StringVar(&s.cfg.Browser, "browser", "", browserUsage)
	fs.StringVar(&s.pythonDir, "python", "", "`DIR` of the Python interpreter for CodeExec; "+
		"python in the data directory, the user's folder or the program's when left out")
	fs.StringVar(&s.cfg.CodeExecutor, "code-executor", "", executorUsage)
	fs.StringVar(&s.cfg.Knowledge, "knowledge", "",
		"`DIR` whose sub-folders of documents are the datasets; those of @ID only for the tenant ID")
	fs.StringVar(&s.cfg.Files, "files", "", filesUsage)
	fs.StringVar(&s.cfg.Index, "index", "", indexUsage)
	fs.StringVar(&s.cfg.Embedding, "embedding", "", embeddingUsage)
	fs.StringVar(&s.cfg.OCR, "ocr", "", ocrUsage)
	fs.IntVar(&s.cfg.PDFPages, "pdf-pages", 0, pagesUsage)
	fs.StringVar(&s.sources, "sources", "", sourcesUsage)
	fs.StringVar(&s.cfg.Rerank, "rerank", "",
		"reranking model that searches may name: `URL#MODEL[@SHAPE]` with shape cohere, jina, ragflow or tei, and the "+
			"key in EASEL_RERANK_KEY")
	fs.Var(&s.datasetBytes, "dataset-bytes", "`SIZE` of all documents in the datasets of a tenant; 0 means no limit")
	fs.Int64Var(&s.cfg.DatasetChunks, "dataset-chunks", 0, "chunks in the datasets of a tenant; 0 means no limit")
	fs.IntVar(&s.cfg.IngestWorkers, "ingest-workers", 0, "documents that this host parses concurrently; 0 means 2")
	fs.BoolVar(&s.cfg.AllowPrivate, "allow-private", false,
		"allow canvases, model providers and MCP servers to use private and local addresses")
	fs.BoolVar(&s.cfg.MCPStdio, "mcp-stdio", false,
		"allow MCP servers that run as local processes; not for a host with several tenants")
	fs.BoolVar(&s.cfg.CancelOnLeave, "cancel-on-disconnect", false,
		"cancel a run when the client that started it disconnects")
	fs.Float64Var(&s.cfg.Rate, "rate", 0, "requests per second of one key or login; 0 means no limit")
	fs.Int64Var(&s.cfg.TokensPerDay, "tokens-per-day", 0,
		"model tokens per day (UTC) of one key or login, unless the key has its own limit; 0 means no limit")
	fs.Var(&s.limits, "limit", limitUsage())
	fs.Var(&s.calls, "model-limit", modelLimitUsage())
	fs.Var(&s.prices, "prices", pricesUsage)
	fs.Var(&s.approval, "approval", approvalUsage)
	fs.Var(&s.signIn, "oidc", signInUsage)
	s.paces.flags(fs)
	fs.String("cors", "",
		"`ORIGIN,...` whose pages may call the API, such as https://example.org, or none; any when left out")
	fs.Var(&s.memory, "memory",
		"`SIZE` of memory for this host, such as 1GiB; 0 means the limit of its container, else the machine's memory")
	fs.StringVar(&s.logs, "log", "text", "format of log lines on standard error: text or json")
}

// stopTime bounds open requests after the program is signalled to stop. Runs are handed over in any
// case.
const stopTime = 5 * time.Second

func (s *server) run(ctx context.Context, a *app, args []string) error {
	if len(args) > 0 {
		return misuse("serve", "unexpected argument %q", args[0])
	}
	if err := s.configure(a); err != nil {
		return &usageError{"serve", err}
	}
	// Listen first: a second process fails before it touches the data.
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("%w; --addr chooses another address", err)
	}
	if addr, ok := listener.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		s.cfg.Log.Warn(
			"other machines can reach this address, and keys travel unencrypted; put a proxy with TLS in front", "addr",
			addr.String())
	}
	defer s.limitMemory(a.getenv)()
	s.warnOfOpenKeys()
	s.warnOfSync()
	h, err := host.New(ctx, s.cfg)
	if err != nil {
		return errors.Join(s.trouble(err), listener.Close())
	}
	s.greet(ctx, a, listener.Addr().String(), h)
	defer s.removeLink()
	return errors.Join(s.serve(ctx, listener, h), h.Close())
}

func (s *server) serve(ctx context.Context, l net.Listener, h *host.Host) error {
	srv := &http.Server{
		Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
		ConnState:      newConnections(s.cfg.Memory).watch,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.cfg.Log.Info("stopping")
	h.Stop() // a turn that waits for its session would block its request
	late, done := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer done()
	err := srv.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		return srv.Close() // streams of runs that continue elsewhere
	}
	return err
}

const embeddingUsage = "embedding model of new datasets: `URL#MODEL` of an OpenAI-compatible server with the key in " +
	"EASEL_EMBEDDING_KEY, or a folder with a model; further ones that datasets may name, and their keys, after " +
	"commas; when left out, the encoder for English in the program if it was built in; none searches by words only"
