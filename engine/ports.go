package engine

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine/block"
)

// Ports are the engine's only access to the outside. Each may be nil: a component that needs a
// missing one fails with ErrNoPort, except as noted at the field.
type Ports struct {
	Model     Model
	Retriever Retriever // nil finds nothing
	Files     Files
	Documents Documents
	Speech    Voice // nil stays silent
	HTTP      HTTP
	Code      Code
	Tools     Tools
	MCP       MCP
	Canvases  Canvases
	Memory    Memory   // nil remembers nothing, and warns
	Cancel    Cancel   // nil: only the context cancels
	Secrets   Secrets  // nil knows none
	Budget    Budget   // nil: the memory of the run is not accounted
	Parser    Parser   // nil reads the text of files, without their layout
	Counter   Counter  // nil estimates tokens by the number of characters
	Embedder  Embedder // nil leaves chunks without vectors
	Clock     Clock    // nil is the system's clock
	IDs       IDs      // nil makes random ids
}

// Retriever searches passages.
type Retriever interface {
	// Retrieve finds passages for a query, best first. A dataset that does not exist is an error
	// naming it.
	Retrieve(ctx context.Context, q *RetrievalQuery) (Found, error)
}

// MetadataLister is implemented by a Retriever that can list the metadata of its documents. With
// it, the model chooses conditions for the filter methods auto and semi_auto; without it the
// retriever gets the method and may ignore it.
type MetadataLister interface {
	// Metadata returns the metadata of datasets: key -> list of the values that occur.
	Metadata(ctx context.Context, datasets []string) (Value, error)
}

// RetrievalQuery is one search.
type RetrievalQuery struct {
	Text                string
	Datasets            []string // ids or names
	Memories            []string // ids; Datasets is empty then
	TopN                int      // maximum number of passages, at least 1
	TopK                int      // number of candidates; 0 for the retriever's default
	SimilarityThreshold float64  // 0 to 1; minimum similarity
	KeywordWeight       float64  // 0 to 1, of words; that of meaning is the rest to 1
	Rerank              string   // reranking model; "" is none
	KnowledgeGraph      bool     // also search the knowledge graph
	TOC                 bool     // select passages by tables of contents
	Filter              Value    // meta_data_filter with references substituted; null is none
	UserID              string   // user whose memories are searched
}

// Value returns the query without the user and without empty members.
func (q *RetrievalQuery) Value() Value {
	b := NewObject(12).Set("query", String(q.Text))
	for _, list := range [...]struct {
		name string
		ids  []string
	}{{"datasets", q.Datasets}, {"memories", q.Memories}} {
		if len(list.ids) > 0 {
			b.Set(list.name, Strings(list.ids...))
		}
	}
	b.Set("top_n", Int(int64(q.TopN))).Set("top_k", Int(int64(q.TopK)))
	b.Set("similarity_threshold", Float(q.SimilarityThreshold)).Set("keyword_weight", Float(q.KeywordWeight))
	if q.Rerank != "" {
		b.Set("rerank", String(q.Rerank))
	}
	if q.KnowledgeGraph {
		b.Set("knowledge_graph", Bool(true))
	}
	if q.TOC {
		b.Set("toc", Bool(true))
	}
	if q.Filter.Truthy() {
		b.Set("filter", q.Filter)
	}
	return b.Value()
}

// Found are passages and the documents they come from.
type Found struct {
	Chunks  []Value // keys as in the original: chunk_id, content_with_weight, doc_id, docnm_kwd, ...
	DocAggs []Value // {doc_name, doc_id, count}
	// Diagnostics list the parts of the query that were not honoured.
	Diagnostics []string
}

// Files reads uploads.
type Files interface {
	// Read returns the text of an uploaded file, or a data URL for an image. file is the upload
	// descriptor {id, name, mime_type, created_by, ...}.
	Read(ctx context.Context, file Value) (string, error)
}

// Parser reads documents with their layout, for pipelines.
type Parser interface {
	// Parse returns the blocks of an uploaded file in reading order. file is its upload descriptor.
	Parse(ctx context.Context, file Value, how ParseOptions) ([]block.Block, error)
}

// ParseOptions are settings of a pipeline for one kind of file. A port may ignore them.
type ParseOptions struct {
	Method   string // parse_method: deepdoc, ocr, plain_text, a model, ...
	LLM      string // llm_id of a model that reads images; "" is none
	Language string
}

// Counter counts tokens for pipelines.
type Counter interface {
	// CountTokens returns the number of tokens of a text, as embedding models count them.
	CountTokens(text string) int
}

// Embedder computes the vectors of chunks.
type Embedder interface {
	// Embed returns a vector for each text, all of one length, and the total number of tokens.
	Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int, err error)
}

// Documents converts text to files.
type Documents interface {
	// Convert writes a file from Markdown; format is markdown, html, pdf, docx or xlsx. The result
	// is {doc_id, format, file_name}.
	Convert(ctx context.Context, format, markdown string) (Value, error)
}

// Voice synthesizes speech.
type Voice interface {
	// Speak returns the speech of a text as MP3; an empty result is not an error.
	Speak(ctx context.Context, text string) ([]byte, error)
}

// HTTP sends requests for the Invoke component.
type HTTP interface {
	// Do sends a request and reads the whole response. Any status is a response; a request without
	// a response is an error. It replaces the placeholders of secrets that carry the request's
	// SecretMark, see FillSecrets, and no others.
	Do(ctx context.Context, req *HTTPRequest) (*HTTPResponse, error)
}

// HTTPRequest is one request.
type HTTPRequest struct {
	Method, URL string
	Header      []HTTPHeader
	Body        string        // "" is none
	Proxy       string        // address of a proxy; "" is none
	Timeout     time.Duration // for the whole answer; 0 is none
	SecretMark  string        // carried by placeholders that count; "" without any
}

// HTTPHeader is one header line.
type HTTPHeader struct{ Name, Value string }

// HTTPResponse is the answer to a request; any status is an answer.
type HTTPResponse struct {
	Status int
	Header []HTTPHeader
	Body   string
}

// Code runs scripts.
type Code interface {
	// RunCode calls main(arguments) of a script. The result contains its output and its exception.
	RunCode(ctx context.Context, c *CodeCall) (CodeResult, error)
}

// CodeCall is a script with its arguments.
type CodeCall struct {
	Language  string // python or javascript
	Script    string // defines main
	Arguments Value  // object: name -> value
}

// CodeResult is the result of a script.
type CodeResult struct {
	Value     Value   // result of main, or null
	Stdout    string  // standard output
	Stderr    string  // what was written as errors, and what was thrown; the node's error when Value is null
	Artifacts []Value // files that the script made, as in ToolAnswer
}

// Tools runs components that are implemented outside the engine, such as web searches.
type Tools interface {
	// CallTool returns the outputs of a component: name -> value. The members chunks and doc_aggs,
	// if present, become references. A chunk without chunk_id is a search result {title, url,
	// content, score}; its id and document are derived from it, and one without content is left
	// out.
	CallTool(ctx context.Context, c *ExternalCall) (Value, error)
}

// ExternalCall is one execution of a component that is implemented outside.
type ExternalCall struct {
	Component  string // component_name, never an alias
	Node       string // the calling node, as of Call.NodeID
	Params     Value  // of the node, as in the document; placeholders of secrets are marked
	Arguments  Value  // object: what a model gave, or what the node's params say; references are resolved
	Key        string // idempotency key: run/step/call
	SecretMark string // carried by placeholders that count, see FillSecrets; "" without any
	Queued     QueuedFunc
}

// MCP reaches tools of MCP servers.
type MCP interface {
	// ListTools returns the tools of a server.
	ListTools(ctx context.Context, server *MCPServer) ([]ToolDef, error)
	// CallTool returns a tool's answer: its result is text, also an error reported by the server.
	CallTool(ctx context.Context, server *MCPServer, name string, arguments Value) (ToolAnswer, error)
}

// MCPServer identifies an MCP server.
type MCPServer struct {
	ID         string       // mcp_id: a server that the host knows
	URL        string       // its address when the canvas has it; "" leaves it to the host
	Type       string       // transport of URL: sse or streamable-http; "" is streamable-http
	Header     []HTTPHeader // of the node, in addition to those that the host has for the server
	SecretMark string       // carried by placeholders in Header that count, see FillSecrets; "" without any
}

// Memory stores exchanges for later runs.
type Memory interface {
	// Remember stores one exchange. An error becomes a warning of the run.
	Remember(ctx context.Context, m *Remembered) error
}

// Recaller is a Memory that serves queries that name memories, instead of the Retriever.
type Recaller interface {
	// Recall searches memories. It returns chunks with the member content.
	Recall(ctx context.Context, q *RetrievalQuery) (Found, error)
}

// Remembered is one exchange to store.
type Remembered struct {
	MemoryIDs     []string // memories to store it in
	UserID        string
	AgentID       string // the canvas
	SessionID     string // the task id of the run
	UserInput     string
	AgentResponse string // without reasoning
}

// Cancel cancels runs.
type Cancel interface {
	// Canceled returns a channel that is closed when the task is canceled.
	Canceled(taskID string) <-chan struct{}
}

// Secrets resolves names of secrets where they are used.
type Secrets interface {
	// Secret looks up a name; an unknown name is an error.
	Secret(ctx context.Context, name string) (Secret, error)
}

// Secret is the value of a name.
type Secret struct {
	Value string
	Hosts []string // hosts it may go to: host, host:port or *.example.org; empty means any
}

// Clock returns the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, whose error it returns.
	Sleep(ctx context.Context, d time.Duration) error
}

// IDs generates ids of runs and messages: 32 hex digits.
type IDs interface{ NewID() string }
