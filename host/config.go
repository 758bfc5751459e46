package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/external"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model"
)

// Sync selects what is synced to disk before it is acknowledged.
type Sync string

// The choices of [Config].Sync.
const (
	// SyncContract syncs accepted runs, their ends and session writes to disk; the events in
	// between survive the end of any process.
	SyncContract Sync = "contract"
	// SyncAlways syncs every event as well.
	SyncAlways Sync = "always"
	// SyncInterval leaves syncing to the operating system: the end of a process loses nothing,
	// power loss may lose the last moments.
	SyncInterval Sync = "interval"
)

// Source is a dataset of RAGFlow or of another system with the external knowledge API of Dify.
type Source = external.Setting

// Config configures a host. Dir, or NATS and Postgres, must be set.
type Config struct {
	// Dir is the data directory, which is created if missing. Only one process may use it.
	Dir string
	// NATS are addresses of an existing NATS with JetStream; empty runs one inside this process.
	NATS []string
	// NATSCredentials is a credentials file for NATS; "" means none.
	NATSCredentials string
	// Replicas is the number of NATS servers that store each message; 0 means 1.
	Replicas int
	// Postgres is the address of a database; "" keeps records in Dir.
	Postgres string
	// KeyFile holds the key that encrypts secrets; hosts that share a database need the same one.
	// "" means secret.key in Dir; the file is created if missing.
	KeyFile string
	// Sync is SyncContract by default.
	Sync Sync
	// AcceptLoss is the code of a loss of acknowledged records with which the host starts
	// nevertheless; the error of a refused start has it.
	AcceptLoss string
	// Lease is the time after which the runs of an unresponsive host are taken over; 0 means 10 s.
	Lease time.Duration
	// shortest is the least time between two runs of a schedule; 0 means a minute. Tests set it.
	shortest time.Duration

	// KeepRuns is the retention of ended runs in the history; 0 means forever. Sessions with their
	// messages stay in any case.
	KeepRuns time.Duration

	// Key is the API key of the first tenant; "" generates one at the first start.
	Key string
	// Models are the configured model providers; the zero value is the offline model. An
	// easel.models.json is read by [ModelsFromEnvironment].
	Models Models
	// Examples are folders of canvases that are offered as templates.
	Examples []string
	// InstallExamples saves the built-in examples and those folders' canvases
	// for the first tenant at the first start.
	InstallExamples bool
	// Traces sends spans of requests, runs and nodes to the collector that
	// OTEL_EXPORTER_OTLP_ENDPOINT and its companions name.
	Traces bool
	// TrustedProxies are addresses and ranges of proxies whose X-Forwarded-For, or else Forwarded,
	// is the origin of a request; empty means that the origin is the address of the connection.
	TrustedProxies []string
	// Metrics is the host:port at which Prometheus reads metrics without a key; "" means only
	// /metrics of the handler, which requires one.
	Metrics string
	// RedisDoor is the host:port of a built-in Redis endpoint with RAGFlow's keys ({task}-cancel,
	// {task}-logs); "" opens none.
	RedisDoor string
	// RedisPassword is required from clients of the built-in Redis endpoint; "" generates one at
	// the first start.
	RedisPassword string
	// RedisRemote allows the endpoint to listen beyond loopback.
	RedisRemote bool
	// Redis is the URL of an existing Redis or Valkey in which the same keys
	// are watched and written; "" means none.
	Redis string
	// PluginSignatures selects the handling of a plugin without a trusted signature: "require"
	// refuses it, "warn" logs it, "off" does not check; "" means warn.
	PluginSignatures string
	// Plugins is the folder of installed plugins; "" means plugins in Dir.
	Plugins string
	// NoTools disables the built-in tools, such as web searches; nodes that need one fail when they
	// are reached.
	NoTools bool
	// SQLiteDir is a folder of SQLite files that ExeSQL may read; "" allows none. It must not
	// contain Dir.
	SQLiteDir string
	// SQLSockets allows ExeSQL to use Unix sockets of database servers, which may take everybody
	// who reaches them for the user of this process; leave it off on a host that tenants share.
	SQLSockets bool
	// Browser is the path of a Chromium that renders pages for Browser nodes; "" reads pages
	// without one.
	Browser string
	// Knowledge is a folder whose sub-folders of documents are the datasets of all tenants, by
	// their names; sub-folders of @ID are datasets of the tenant ID. "" means none.
	Knowledge string
	// Files is the bucket of an S3-compatible service for uploaded files and the originals and
	// chunks of datasets, s3://BUCKET/PREFIX?endpoint=https://HOST; "" stores them on NATS.
	// FilesKey and FilesSecret are its credentials; without them those of the AWS credentials file
	// or of the machine's role are used.
	Files, FilesKey, FilesSecret string
	// Index is the address of the index of datasets that all hosts share: postgres://...,
	// "postgres" for the database of Postgres, or https://HOST:9200/PREFIX of OpenSearch or
	// Elasticsearch; "" keeps an index in Dir of each host.
	Index string
	// Embedding is the embedding model of new datasets: URL#MODEL of an OpenAI-compatible server,
	// or a folder with a model, or several with commas between them, of which the first is for new
	// datasets and the others for those that name them; "" is the encoder for English in the
	// program, if it was built in, and "none" means that datasets are searched by words.
	// EmbeddingKey is the key, or keys in the same order with commas between them.
	Embedding, EmbeddingKey string
	// OCR is the address of a service that reads images and scanned pages, with POST /ocr as
	// LiteParse's servers have it and #LANGUAGE behind it; "" uses the program tesseract where it
	// is installed. OCRKey is its key.
	OCR, OCRKey string
	// PDFPages is the number of pages up to which a PDF is read; 0 means 2,000.
	PDFPages int
	// Sources are datasets of other systems, which Retrieval nodes name like those of the host.
	Sources []Source
	// Rerank is a reranking model that searches may name: URL#MODEL of a server with Cohere's API,
	// or URL#MODEL@SHAPE with shape jina, ragflow or tei; "" means none. RerankKey is its key.
	Rerank, RerankKey string
	// DatasetBytes and DatasetChunks bound the datasets of a tenant; 0 means no bound.
	DatasetBytes, DatasetChunks int64
	// IngestWorkers is the number of documents this host parses at once; 0 means 2.
	IngestWorkers int
	// AllowPrivate allows canvases to use private and local addresses, also of model providers and
	// MCP servers.
	AllowPrivate bool
	// MCPStdio allows tenants to add MCP servers that run as processes of this
	// machine; leave it off on a host that tenants share.
	MCPStdio bool
	// CancelOnLeave stops a run when the client that began it disconnects.
	CancelOnLeave bool
	// Rate is the limit of requests per second of one key or login, unless the key has another; 0
	// means none.
	Rate float64
	// TokensPerDay is the limit of model tokens of a key, a login or an embedding page per day
	// (UTC), unless the key has another; 0 means none.
	TokensPerDay int64
	// CORS are the origins whose pages may call the API with a key, such as
	// https://example.org; empty means any, and "none" alone means none.
	CORS []string
	// Memory is the memory limit of this host in bytes; 0 means that of the process: the limit of
	// its control group, else the machine's memory. Requests, documents and runs have fixed shares
	// of it and are refused beyond them.
	Memory int64
	// Limits bound each run; a zero field is the engine's default, a negative one
	// no limit.
	Limits engine.Limits
	// Prices are the prices of models; see the engine's option.
	Prices engine.Prices
	// Currency is the code of their currency, such as USD, in which all costs are counted; "" means
	// an unnamed one, or dollars without Prices.
	Currency string
	// Rates has what a unit of other currencies is worth in it, by code: the price lists of vendors
	// are in their currencies, and count only with a rate.
	Rates map[string]float64
	// SignIn are OpenID providers at which people of the first tenant sign in.
	SignIn []app.ProviderConfig
	// Approval names nodes, components and tools that only run after approval by a person.
	Approval []string
	// Concurrency and MaxSteps are the options of the engine for each run; 0 is its
	// default.
	Concurrency, MaxSteps int
	// ModelLimits bound the model calls of each run, each tenant and each model on this host; zero
	// fields mean unbounded. Limits in the model configuration replace those for models.
	ModelLimits ModelLimits
	// Python are the folders that are searched for an interpreter for scripts in Python, in order;
	// see `easel python`.
	Python []string
	// InstallPython adds an interpreter to the first of these folders; nil if the page cannot.
	InstallPython func(ctx context.Context) error
	// CodeExecutor is the URL of a sandbox of RAGFlow that runs all scripts; ""
	// runs them on this machine.
	CodeExecutor string
	// CodeExecutorToken is the token that the sandbox requires; "" is none.
	CodeExecutorToken string
	// ScriptWorker is the command that runs one script in a separate process; without it JavaScript
	// runs in this process, and Python does not run. With the argument python it runs an
	// interpreter of Python.
	ScriptWorker []string
	// PluginCompiler is the command that compiles one plugin in a separate process, with bounds of
	// time and memory; without it plugins are compiled in this process.
	PluginCompiler []string
	// Version is reported to clients.
	Version string
	// Log is the log for the operator; nil means slog.Default.
	Log *slog.Logger
}

// Models are model providers, see the model configuration file.
type Models = model.Config

// ModelLimits bound model calls.
type ModelLimits = limit.Config

// ModelsFromEnvironment reads the model configuration that the environment
// names. getenv is os.Getenv outside of tests.
func ModelsFromEnvironment(getenv func(string) string) (Models, error) {
	return model.FromEnvironment(getenv)
}
