package dataset

import (
	"encoding/json"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Dataset is a named collection of documents.
type Dataset struct {
	ID          string `json:"id"` // a UUID of version 1, 32 hexadecimal digits
	Tenant      string `json:"tenant"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Avatar      string `json:"avatar,omitempty"` // data URL of an image
	Language    string `json:"language,omitempty"`
	// EmbeddingModel is "name@provider"; "" searches by words only.
	EmbeddingModel string `json:"embedding_model,omitempty"`
	// Team makes the dataset visible to the other users of its tenant.
	Team bool `json:"team"`
	// Method cuts documents into chunks: naive, book, qa, table, structure...; "" with a Pipeline.
	Method string `json:"method"`
	// Config is the JSON object of the method's settings, whole: defaults are filled in.
	Config json.RawMessage `json:"config,omitempty"`
	// Pipeline is the canvas that parses documents, instead of a method; "" is none.
	Pipeline string `json:"pipeline,omitempty"`
	// PipelineBy is the member who chose the pipeline, on whose behalf it runs.
	PipelineBy string `json:"-"`
	ParseType  int    `json:"parse_type,omitempty"`
	// Pagerank lifts hits of this dataset: 0 to 100, one hundredth of it is added to the score.
	Pagerank int `json:"pagerank"`
	// AutoMetadata is the JSON object of the fields that a model fills in; nil is none.
	AutoMetadata json.RawMessage `json:"auto_metadata,omitempty"`
	// Synonyms are groups of words that mean the same in questions.
	Synonyms  [][]string `json:"synonyms,omitempty"`
	CreatedBy string     `json:"created_by"`
	Project   string     `json:"project,omitempty"` // "" is the default project
	Created   int64      `json:"created"`           // Unix milliseconds
	Updated   int64      `json:"updated"`
	// ReadOnly is a dataset of files outside of the records, which changes with them alone.
	ReadOnly bool `json:"read_only,omitempty"`

	// Policy is who may read the documents.
	Policy access.Policy `json:"policy,omitzero"`

	// Counted, never stored.
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	Tokens    int `json:"tokens"`
	// Embedding is set while documents get EmbeddingModel, for a single dataset only.
	Embedding *EmbeddingProgress `json:"embedding,omitempty"`
}

// EmbeddingProgress counts the chunks embedded with another model.
type EmbeddingProgress struct {
	Model  string `json:"model"`  // of the vectors that answer; "" for words only
	Chunks int    `json:"chunks"` // of all documents
	Done   int    `json:"done"`   // of documents with vectors of the wanted model
}

// State is the state of a document.
type State string

// States of a document.
const (
	Unparsed State = "unparsed" // uploaded, never parsed
	Queued   State = "queued"
	Running  State = "running"
	Done     State = "done"
	Failed   State = "failed"
	Canceled State = "canceled"
)

// States lists all states.
var States = []State{Unparsed, Queued, Running, Done, Failed, Canceled}

// Document is a file of a dataset.
type Document struct {
	ID       string          `json:"id"` // 32 hexadecimal digits
	Dataset  string          `json:"dataset"`
	Name     string          `json:"name"` // unique in its dataset
	Size     int64           `json:"size"` // bytes
	Hash     string          `json:"hash"` // SHA-256 of the bytes, hexadecimal
	Kind     string          `json:"kind"` // pdf, doc, visual, aural or virtual
	Source   string          `json:"source"`
	Method   string          `json:"method"`
	Config   json.RawMessage `json:"config,omitempty"`
	Pipeline string          `json:"pipeline,omitempty"`
	// PipelineBy is the member who chose the pipeline.
	PipelineBy string         `json:"-"`
	Disabled   bool           `json:"disabled"`           // hidden from searches
	Meta       map[string]any `json:"metadata,omitempty"` // strings, numbers and lists of these
	Thumbnail  string         `json:"thumbnail,omitempty"`
	CreatedBy  string         `json:"created_by"`
	Created    int64          `json:"created"` // Unix milliseconds
	Updated    int64          `json:"updated"`
	// Access is who may read it where the dataset enforces that; "" leaves it to the dataset.
	Access access.List `json:"access,omitzero"`

	State    State   `json:"state"`
	Progress float64 `json:"progress"` // 0 to 1; -1 when it failed
	// Messages are the lines of the last parse, "15:04:05 text" each.
	Messages string `json:"messages,omitempty"`
	Began    int64  `json:"began,omitempty"`    // of the last parse, Unix milliseconds
	Duration int64  `json:"duration,omitempty"` // of the last parse, milliseconds
	Queue    int    `json:"queue,omitempty"`    // documents ahead of it while it is queued

	// Counted, never stored.
	Chunks int `json:"chunks"`
	Tokens int `json:"tokens"`
}

// Chunk is a piece of a document.
type Chunk struct {
	ID        string      `json:"id"` // 16 hexadecimal digits of the xxhash of content and document
	Dataset   string      `json:"dataset"`
	Document  string      `json:"document"`
	Name      string      `json:"document_name"`
	Content   string      `json:"content"`
	Keywords  []string    `json:"keywords,omitempty"`
	Questions []string    `json:"questions,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
	Disabled  bool        `json:"disabled"`
	Image     string      `json:"image,omitempty"`
	Kind      string      `json:"kind,omitempty"`      // text, table or image
	Positions [][]float64 `json:"positions,omitempty"` // page, left, right, top, bottom in points
	Parent    string      `json:"parent,omitempty"`    // the larger piece that a search returns instead
	Edited    bool        `json:"edited"`              // added or changed by hand; parsing again keeps it
	Created   int64       `json:"created"`             // Unix milliseconds
}

// Hit is a chunk that a search found.
type Hit struct {
	Chunk
	Similarity, Term, Vector float64
	Highlight                string
	Meta                     map[string]any // of its document
}
