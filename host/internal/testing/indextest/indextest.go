// Package indextest is the suite that every adapter of package index passes.
package indextest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Run runs the suite. open returns a new, empty index for each test.
func Run(t *testing.T, open func(t *testing.T) index.Index) {
	for _, group := range [...][]test{writeTests, changeTests, searchTests, listTests, gateTests} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				f := &fixture{t, open(t)}
				require.NoError(t, f.Create(t.Context(), ds, index.Settings{}))
				c.run(f)
			})
		}
	}
}

// test is one of the suite.
type test struct {
	name string
	run  func(f *fixture)
}

// fixture is an index with the empty dataset ds.
type fixture struct {
	*testing.T
	index.Index
}

const ds = "tenant/shop"

// doc returns a document with a chunk for each text, with ids "0", "1", ...
func doc(id string, texts ...string) index.Document {
	var chunks []index.Chunk
	for i, text := range texts {
		chunks = append(chunks, index.Chunk{ID: fmt.Sprint(i), Content: text})
	}
	return index.Document{ID: id, Name: id + ".md", Chunks: Chunks(chunks...)}
}

// Chunks returns a sequence of chunks without an error.
func Chunks(chunks ...index.Chunk) iter.Seq2[index.Chunk, error] {
	return func(yield func(index.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (f *fixture) replace(docs ...index.Document) {
	f.Helper()
	require.NoError(f, f.Replace(f.Context(), ds, docs...))
}

// find returns the hits of a query in ds as "document/chunk".
func (f *fixture) find(q index.Query) []string {
	f.Helper()
	out := []string{}
	for _, h := range f.search(q).Hits {
		out = append(out, h.Document+"/"+h.Chunk.ID)
	}
	return out
}

// words finds by words alone, in the order of the names of what was found.
func (f *fixture) words(text string) string {
	f.Helper()
	hits := f.find(index.Query{Text: text})
	slices.Sort(hits)
	return strings.Join(hits, " ")
}

func (f *fixture) search(q index.Query) *index.Result {
	f.Helper()
	if q.Datasets == nil {
		q.Datasets = []string{ds}
	}
	r, err := f.Search(f.Context(), &q)
	require.NoError(f, err)
	return r
}

// listed returns the ids of the chunks of a document.
func (f *fixture) listed(l index.List) []string {
	f.Helper()
	l.Dataset = ds
	page, err := f.Chunks(f.Context(), &l)
	require.NoError(f, err)
	out := []string{}
	for _, c := range page.Chunks {
		out = append(out, c.ID)
	}
	return out
}

func (f *fixture) stats() index.Stats {
	f.Helper()
	s, err := f.Stats(f.Context(), ds)
	require.NoError(f, err)
	return s
}
