// Package index is the port between datasets and the engines that search them.
//
// An [Index] stores the chunks of documents, grouped in datasets, and finds them by words, by
// vectors or by both. Adapters are packages below this one: sqlite is a file of this machine. All
// pass the suite in package indextest, and share the parts that do not depend on storage: fusion of
// scores ([Rank]), metadata filters ([Filter]), and the page of a result with its highlights
// ([ReadResult]).
//
// A dataset is named by a key that the caller chooses; a tenant is part of that key. An Index is
// safe for concurrent use. It never calls a model: vectors come with chunks and queries.
package index

import (
	"context"
	"fmt"
	"iter"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Index stores and finds chunks.
type Index interface {
	// Create makes a dataset, or does nothing when it exists with the same settings. Other settings
	// for a dataset that has chunks are an error.
	Create(ctx context.Context, dataset string, s Settings) error
	// Drop removes a dataset with its documents; an unknown one is not an error.
	Drop(ctx context.Context, dataset string) error
	// Replace stores documents in one step: searches see all chunks that they had before, or all
	// new ones. When it fails, nothing has changed.
	Replace(ctx context.Context, dataset string, docs ...Document) error
	// Delete removes documents with their chunks in one step; unknown ones are ignored.
	Delete(ctx context.Context, dataset string, documents ...string) error
	// Put adds chunks to a document or replaces those of the same id, in one step. Of given chunks
	// with one id the last stays.
	Put(ctx context.Context, dataset, document string, chunks ...Chunk) error
	// Remove removes chunks of a document in one step, and returns their number.
	Remove(ctx context.Context, dataset, document string, chunks ...string) (int, error)
	// Enable makes chunks of a document visible to searches or hides them, and returns their
	// number. Without chunks it means all of the document.
	Enable(ctx context.Context, dataset, document string, on bool, chunks ...string) (int, error)
	// Describe changes metadata, access and version of documents in one step and leaves name and
	// chunks as they are; unknown documents are ignored.
	Describe(ctx context.Context, dataset string, docs ...Document) error
	// Search finds chunks.
	Search(ctx context.Context, q *Query) (*Result, error)
	// Chunks lists chunks of a document in their order.
	Chunks(ctx context.Context, l *List) (*Page, error)
	// Metadata returns the metadata of the documents of datasets: key, value, number of documents.
	Metadata(ctx context.Context, datasets ...string) (map[string]map[string]int, error)
	// Stats counts the documents and chunks of a dataset.
	Stats(ctx context.Context, dataset string) (Stats, error)
	// Datasets lists the keys of all datasets, in no order.
	Datasets(ctx context.Context) ([]string, error)
	// Versions returns the versions of documents of a dataset, or of all when none are named.
	Versions(ctx context.Context, dataset string, documents ...string) (map[string]int64, error)
	// Close releases the index.
	Close() error
}

// Settings belong to a dataset.
type Settings struct {
	terms.Settings
	// K1 and B are the parameters of BM25: how soon repetitions of a word count less, and how much
	// long chunks count less. 0 means 0.9 and 0.4; a negative value means 0.
	K1 float64 `json:"k1"`
	B  float64 `json:"b"`
}

// Normal returns the settings with their defaults filled in.
func (s Settings) Normal() Settings {
	s.Settings = s.Settings.Normal()
	s.K1, s.B = positiveOr(s.K1, 0.9), positiveOr(s.B, 0.4)
	return s
}

// positiveOr returns v, or other if v is not set; a negative v stays, it means 0.
func positiveOr(v, other float64) float64 {
	if v == 0 {
		return other
	}
	return v
}

// Document is a document to be stored.
type Document struct {
	ID   string
	Name string // shown to people, and searched
	// Version is returned by Versions; a caller compares it with the version of the record.
	Version int64
	// Access is who may read it, for the gates of queries; "" leaves it to the gate.
	Access access.List
	// Meta is matched by [Filter]: strings, numbers, booleans, or lists of those.
	Meta map[string]any
	// Chunks are read once. An error among them fails the call.
	Chunks iter.Seq2[Chunk, error]
}

// EachDocument calls f for each document and names the document in its error. Each may be given
// once.
func EachDocument(docs []Document, f func(d *Document) error) error {
	seen := make(map[string]bool, len(docs))
	for i := range docs {
		d := &docs[i]
		if seen[d.ID] {
			return fmt.Errorf("document %q: it is given twice", d.ID)
		}
		seen[d.ID] = true
		if err := f(d); err != nil {
			return fmt.Errorf("document %q: %w", d.ID, err)
		}
	}
	return nil
}

// Chunk is a piece of a document.
type Chunk struct {
	ID      string // unique in its document
	Content string // returned by searches
	// Text is searched instead of Content, unless it is empty.
	Text      string
	Keywords  []string
	Questions []string
	Disabled  bool
	// Vector is the embedding of the chunk, of any length but zero; nil when it has none. All
	// vectors of a dataset have the number of dimensions of the first one; for another model a
	// dataset is made again.
	Vector []float32
	// Extra is a JSON object that is returned unchanged: positions, image, parent. nil is none.
	Extra []byte
}

// LastOfEach returns chunks without those whose id is repeated later: Put keeps the last.
func LastOfEach(chunks []Chunk) []Chunk {
	last := make(map[string]int, len(chunks))
	for i := range chunks {
		last[chunks[i].ID] = i
	}
	out := make([]Chunk, 0, len(last))
	for i := range chunks {
		if last[chunks[i].ID] == i {
			out = append(out, chunks[i])
		}
	}
	return out
}

// Searched returns the text that words are taken from.
func (c *Chunk) Searched() string {
	if c.Text != "" {
		return c.Text
	}
	return c.Content
}

// Weights of the fields of a chunk besides its text: a word of a keyword counts this many times.
const (
	KeywordWeight  = 5
	QuestionWeight = 6
	NameWeight     = 2
)

// Stats are numbers of a dataset.
type Stats struct {
	Documents, Chunks, Vectors int
	Dims                       int // of vectors; 0 without any
}

// List is a query for chunks of a document.
type List struct {
	Dataset, Document string
	Offset            int
	Limit             int // 0 means 30
	// Words, unless empty, leaves out chunks that do not contain it, whatever the case.
	Words string
	// IDs, unless nil, leaves out all others.
	IDs []string
	// Enabled, unless nil, leaves out chunks that are (or are not) visible to searches.
	Enabled *bool
	// Keys leaves out all of the chunks but their ids.
	Keys bool
}

// Page is a part of a list.
type Page struct {
	Total  int
	Chunks []Chunk // without vectors
}

// Shared is an [Index] that several hosts change. They take turns for each dataset.
type Shared interface {
	// Lock waits until no other holder has the lock of this name, on any host. It ends by release,
	// or with its host.
	Lock(ctx context.Context, name string) (release func(), err error)
}
