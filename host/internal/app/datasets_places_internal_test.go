package app

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// longDocument is an index with one document, which counts the chunks that it reads whole.
type longDocument struct {
	index.Index
	chunks []index.Chunk
	whole  int
}

func (d *longDocument) Chunks(_ context.Context, l *index.List) (*index.Page, error) {
	page := &index.Page{}
	for _, c := range d.chunks {
		if l.IDs != nil && !slices.Contains(l.IDs, c.ID) {
			continue
		}
		if page.Total >= l.Offset && len(page.Chunks) < l.Limit {
			if l.Keys {
				c = index.Chunk{ID: c.ID}
			} else {
				d.whole++
			}
			page.Chunks = append(page.Chunks, c)
		}
		page.Total++
	}
	return page, nil
}

// A page of a document with edits reads its own chunks, not those of the whole document.
func TestAPageReadsItsChunksOnly(t *testing.T) {
	x := &longDocument{}
	for i := range 1000 {
		id := fmt.Sprint("c", i)
		x.chunks = append(x.chunks, index.Chunk{ID: id, Content: "content of " + id})
	}
	p := &places{at: map[string]int{}} // in the order from the end
	for i := range x.chunks {
		p.at[x.chunks[i].ID] = len(x.chunks) - i
	}
	list, err := p.page(t.Context(), x, &index.List{Offset: 10, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, 1000, list.Total)
	require.Equal(t, []index.Chunk{
		{ID: "c989", Content: "content of c989"},
		{ID: "c988", Content: "content of c988"},
		{ID: "c987", Content: "content of c987"},
	}, list.Chunks)
	require.Equal(t, 3, x.whole)
	beyond, err := p.page(t.Context(), x, &index.List{Offset: 5000, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, &index.Page{Total: 1000}, beyond)
}
