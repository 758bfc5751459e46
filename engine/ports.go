package engine

import (
	"context"
	"iter"
	"time"

	"github.com/easel-canvas/easel/engine/block"
)

// Ports are the engine's only access to the outside. Each may be nil: a component that needs a
// missing one fails with ErrNoPort, except where the field says otherwise.
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

// Model answers model calls.
type Model interface {
	// Generate yields the pieces of one answer, in order; an error comes at most once and last.
	// Reasoning is marked inside the text by <think> and </think>.
	Generate(ctx context.Context, req *ModelRequest) iter.Seq2[ModelPiece, error]
}

// ModelInfo is implemented by a Model that can describe its models.
type ModelInfo interface {
	// ModelInfo describes the model of an llm_id.
	ModelInfo(ctx context.Context, llmID string) Info
}

// Info describes the abilities of a model.
type Info struct {
	Tools   bool // calls functions natively
	Images  bool // takes images
	Context int  // tokens that fit; 0 means 8192
}

// Purpose is the purpose of a model call, by which a stand-in can answer it without a language
// model.
type Purpose string

// The purposes of model calls.
const (
	PurposeAnswer     Purpose = "answer"
	PurposePlan       Purpose = "plan"       // choose tools, prompt protocol; Tools lists them
	PurposeCategorize Purpose = "categorize" // Choices: name -> {description, examples}
	PurposeStructured Purpose = "structured" // Schema is the JSON Schema of the answer
	PurposeQuestion   Purpose = "question"   // one stand-alone question out of a conversation
	PurposeCite       Purpose = "cite"       // put citation marks into a finished answer
	PurposeSummary    Purpose = "summary"    // summarise a tool call
	PurposeFilter     Purpose = "filter"     // conditions on document metadata
	PurposeTranslate  Purpose = "translate"  // a query in other languages
)

// Words of the prompt protocol of PurposePlan, in which a model answers with JSON lists of calls.
const (
	PlanDone        = "complete_task" // the call that ends the plan
	PlanObservation = "Observation:"  // opens the user message with the results of the calls
)

// ModelRequest is one model call.
type ModelRequest struct {
	LLM      string // llm_id as in the canvas; "" is the default model
	Node     string // the calling node, as of Call.NodeID
	Purpose  Purpose
	System   string         // system prompt; "" is none
	Messages []ModelMessage // oldest first
	Config   ModelConfig
	Stream   bool      // pieces are requested as they arrive
	EmitOnly bool      // the whole text is not returned: a long stream is then in memory once
	Images   []string  // data URLs that belong to the last user message
	Tools    []ToolDef // functions the model may call
	Schema   Value     // JSON Schema of the answer, for PurposeStructured; else null
	Choices  Value     // name -> {description, examples}, for PurposeCategorize; else null
	Chunks   Value     // retrieved chunks by citation number, for stand-ins
	Query    string    // the user's question, for stand-ins
	Key      string    // idempotency key: run/step/call
	Noted    uint64    // Event.Note of the last entry noted before this call; 0 when there is none
	Queued   QueuedFunc
}

// QueuedFunc receives the time that a call waited for a slot, ending now. A port calls it, if it is
// not nil, when the wait is over. queue is the kind of the slot, name its name.
type QueuedFunc func(queue, name string, d time.Duration)

// The kinds of slots that calls wait for.
const (
	QueueModel  = "model"  // a limit of the run, the tenant or the model, or a pause its server asked for
	QueuePlugin = "plugin" // a slot among the plugins that compute
	QueueRun    = "run"    // a slot of the run, see [Options].Concurrency; it has no name
)

// ModelMessage is one message of a model call.
type ModelMessage struct {
	Role      string // user, assistant, tool
	Content   string
	ToolCalls []ToolCall // assistant: the calls it asked for
	ToolID    string     // tool: the call it answers
}

// ModelConfig are sampling settings; nil means the model's default.
type ModelConfig struct {
	Temperature, TopP, PresencePenalty, FrequencyPenalty *float64
	MaxTokens                                            *int
	Stop                                                 []string
	// how much a reasoning model thinks; "" leaves it to the model
	Thinking string
}

// Value returns the settings that are set, by their names in chat completion requests:
// {temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop}. Thinking has no name
// there.
func (c *ModelConfig) Value() Value {
	b := NewObject(6)
	for _, f := range [...]struct {
		name  string
		value *float64
	}{
		{"temperature", c.Temperature},
		{"top_p", c.TopP},
		{"presence_penalty", c.PresencePenalty},
		{"frequency_penalty", c.FrequencyPenalty},
	} {
		if f.value != nil {
			b.Set(f.name, Float(*f.value))
		}
	}
	if c.MaxTokens != nil {
		b.Set("max_tokens", Int(int64(*c.MaxTokens)))
	}
	if len(c.Stop) > 0 {
		b.Set("stop", Strings(c.Stop...))
	}
	return b.Value()
}

// ModelPiece is one piece of an answer.
type ModelPiece struct {
	Text      string     // what comes next of the answer, marks of reasoning included
	ToolCalls []ToolCall // complete calls
	Usage     *Usage     // at most once
}

// Usage counts tokens, the calls they were used in and what these cost.
type Usage struct {
	Prompt, Completion, Calls int
	Cost                      int64 // millionths of the currency of [Options].Prices; 0 without prices
}

// Tokens returns the number of tokens, input and output.
func (u Usage) Tokens() int64 { return int64(u.Prompt) + int64(u.Completion) }

// Value returns the usage as it is on the wire, without calls and cost where none were counted.
func (u Usage) Value() Value {
	b := NewObject(4).Set("prompt_tokens", Int(int64(u.Prompt))).Set("completion_tokens", Int(int64(u.Completion))).
		Set("total_tokens", Int(int64(u.Prompt)+int64(u.Completion)))
	if u.Calls > 0 {
		b.Set("calls", Int(int64(u.Calls)))
	}
	if u.Cost > 0 {
		b.Set("cost", inCurrency(u.Cost))
	}
	return b.Value()
}

func (u *Usage) add(more Usage) {
	u.Prompt += more.Prompt
	u.Completion += more.Completion
	u.Calls += more.Calls
	u.Cost += more.Cost
}

// ToolDef is a function as models see it.
type ToolDef struct {
	Name        string
	Description string
	Parameters  Value // JSON Schema
}

// Value returns the function definition in OpenAI form: {type: "function", function: {name,
// description, parameters}}.
func (t *ToolDef) Value() Value {
	return Object("type", "function", "function", Object(
		"name", t.Name, "description", t.Description, "parameters", t.Parameters))
}

// ToolCall is a function call requested by a model.
type ToolCall struct {
	ID        string // the provider's; "" when it gave none
	Name      string
	Arguments string // JSON text
}

// Retriever searches passages.
type Retriever interface {
	// Retrieve finds passages for a query, best first. A dataset that does not exist is an error
	// naming it.
	Retrieve(ctx context.Context, q *RetrievalQuery) (Found, error)
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
	SecretMark  string        // carried by placeholders that count; "" when there are none
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
	// RunCode calls main(arguments) of a script. What the script prints or throws comes back in the
	// result.
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
	Value  Value  // result of main; null if there is none
	Stdout string // standard output
	Stderr string // what was written as errors, and what was thrown; the node's error when Value is null
	// Artifacts are the files that the script made, each {name, mime_type, size} with its location:
	// doc_id of a stored file, or url.
	Artifacts []Value
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
	SecretMark string // carried by placeholders that count, see FillSecrets; "" when there are none
	Queued     QueuedFunc
}

// MCP reaches tools of MCP servers.
type MCP interface {
	// ListTools returns the tools of a server.
	ListTools(ctx context.Context, server *MCPServer) ([]ToolDef, error)
	// CallTool returns a tool's answer as text; an error reported by the server is text too.
	CallTool(ctx context.Context, server *MCPServer, name string, arguments Value) (string, error)
}

// MCPServer identifies an MCP server.
type MCPServer struct {
	ID         string       // mcp_id: a server that the host knows
	URL        string       // its address when the canvas has it; "" leaves it to the host
	Type       string       // transport of URL: sse or streamable-http; "" is streamable-http
	Header     []HTTPHeader // of the node, in addition to those that the host has for the server
	SecretMark string       // carried by placeholders in Header that count, see FillSecrets; "" when there are none
}

// Memory stores exchanges for later runs.
type Memory interface {
	// Remember stores one exchange. An error becomes a warning of the run.
	Remember(ctx context.Context, m *Remembered) error
}

// Recaller is a Memory that is searched, in place of the Retriever, for queries that name memories.
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
