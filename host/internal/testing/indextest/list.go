package indextest

import (
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var listTests = []test{
	{"ListChunks", func(f *fixture) {
		f.replace(doc("a", "red apple", "green pear", "Red plum"), doc("b", "red"))
		_, err := f.Enable(f.Context(), ds, "a", false, "2")
		require.NoError(f, err)
		require.Equal(f, []string{"0", "1", "2"}, f.listed(index.List{Document: "a"}))
		require.Equal(f, []string{"1"}, f.listed(index.List{Document: "a", Offset: 1, Limit: 1}))
		require.Equal(f, []string{"0", "2"}, f.listed(index.List{Document: "a", Words: "RED"}))
		require.Equal(f, []string{"1"}, f.listed(index.List{Document: "a", IDs: []string{"1", "unknown"}}))
		require.Empty(f, f.listed(index.List{Document: "a", IDs: []string{}}))
		on, off := true, false
		require.Equal(f, []string{"0", "1"}, f.listed(index.List{Document: "a", Enabled: &on}))
		require.Equal(f, []string{"2"}, f.listed(index.List{Document: "a", Enabled: &off}))
		page, err := f.Chunks(f.Context(), &index.List{Dataset: ds, Document: "a", Limit: 1})
		require.NoError(f, err)
		require.Equal(f, 3, page.Total)
		_, err = f.Chunks(f.Context(), &index.List{Dataset: ds, Document: "unknown"})
		require.ErrorIs(f, err, index.ErrNoDocument)
		_, err = f.Chunks(f.Context(), &index.List{Dataset: "unknown", Document: "a"})
		require.ErrorIs(f, err, index.ErrNoDataset)
	}},
	{"ChunksComeBackWhole", func(f *fixture) {
		c := index.Chunk{
			ID: "0", Content: "a\x00b 退货", Text: "t", Keywords: []string{"k", "l"}, Questions: []string{"q?"},
			Disabled: true, Extra: []byte(`{"positions":[[1,2,3,4,5]]}`),
		}
		f.replace(index.Document{ID: "a", Chunks: Chunks(c)})
		page, err := f.Chunks(f.Context(), &index.List{Dataset: ds, Document: "a"})
		require.NoError(f, err)
		require.Equal(f, []index.Chunk{c}, page.Chunks)
	}},
}
