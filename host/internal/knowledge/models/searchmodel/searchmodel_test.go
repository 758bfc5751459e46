package searchmodel

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed/embedtest"
)

// serve embeds texts as the length of the model's name.
func serve(t *testing.T, key string) string {
	return embedtest.Serve(t, key, func(model, _ string) []float32 { return []float32{float32(len(model))} })
}

// tenants have one model each.
type tenants struct{}

func (tenants) EmbeddingModels(_ context.Context, tenant string) ([]string, error) {
	return []string{"own@" + tenant}, nil
}

func (tenants) Embed(_ context.Context, tenant, id string, texts []string) ([][]float32, error) {
	if id != "own@"+tenant {
		return nil, embed.ErrUnknown
	}
	return make([][]float32, len(texts)), nil
}

func (tenants) RerankModels(_ context.Context, tenant string) ([]string, error) {
	return []string{"order@" + tenant}, nil
}

func (tenants) Rerank(_ context.Context, tenant, id, query string, texts []string) ([]byte, error) {
	if id != "order@"+tenant || query != "q" || len(texts) != 2 {
		return nil, embed.ErrUnknown
	}
	return []byte(`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]}`), nil
}

// Tenants have reranking models too.
func TestRerankModelsOfTenants(t *testing.T) {
	m, err := Open(Config{Tenant: tenants{}, Rerank: "http://127.0.0.1:1/v1#host"})
	require.NoError(t, err)
	for _, name := range []string{"order", "order@a"} {
		r, err := m.Reranker(t.Context(), "a", name)
		require.NoError(t, err)
		scores, err := r.Rerank(t.Context(), "q", []string{"x", "y"})
		require.NoError(t, err)
		require.Equal(t, []float64{0.1, 0.9}, scores)
	}
	_, err = m.Reranker(t.Context(), "b", "order@a")
	require.ErrorIs(t, err, embed.ErrUnknown)
	require.ErrorContains(t, err, "one of host@127.0.0.1, order@b")
	_, err = m.Reranker(t.Context(), "a", "host")
	require.NoError(t, err)
}

// A host has several models, each with its own key, and tenants have theirs.
func TestSeveralEmbeddingModels(t *testing.T) {
	first, second := serve(t, "k1"), strings.Replace(serve(t, ""), "127.0.0.1", "localhost", 1)
	m, err := Open(Config{Embedding: first + "#a, " + second + "#long", EmbeddingKey: "k1", Tenant: tenants{}})
	require.NoError(t, err)
	require.Equal(t, "a@127.0.0.1", m.DefaultEmbedding("t", ""))
	for name, want := range map[string]float32{"a": 1, "a@127.0.0.1": 1, "long": 4, "long@localhost": 4} {
		e, err := m.Embedder(t.Context(), "t", name)
		require.NoError(t, err, name)
		vectors, err := e.Embed(t.Context(), []string{"x"})
		require.NoError(t, err, name)
		require.Equal(t, [][]float32{{want}}, vectors, name)
	}
	e, err := m.Embedder(t.Context(), "t", "own")
	require.NoError(t, err)
	require.Equal(t, "own@t", e.Model())
	_, err = e.Embed(t.Context(), []string{"x"})
	require.NoError(t, err)
	_, err = m.Embedder(t.Context(), "u", "own@t")
	require.ErrorIs(t, err, embed.ErrUnknown)
	require.EqualError(t, err, `embedding model "own@t": unknown model (one of a@127.0.0.1, long@localhost, own@u)`)

	_, err = Open(Config{Embedding: first + "#a," + first + "#a"})
	require.ErrorContains(t, err, `embedding model "a@127.0.0.1" is given twice`)
	none := &Models{}
	_, err = none.Embedder(t.Context(), "t", "x")
	require.EqualError(t, err, `embedding model "x": unknown model: this host has none`)
	require.Empty(t, none.DefaultEmbedding("t", ""))
}

// The encoder of the program is for new datasets in English, and only where nothing else is set.
func TestEncoderOfTheProgram(t *testing.T) {
	builtin := small{}
	for _, row := range []struct{ embedding, language, want string }{
		{"", "", BuiltinName},
		{"", "English", BuiltinName},
		{"", "Chinese", ""},
		{NoModel, "", ""},
		{"http://127.0.0.1/v1#a", "Chinese", "a@127.0.0.1"},
	} {
		m, err := Open(Config{Embedding: row.embedding, Builtin: builtin})
		require.NoError(t, err)
		require.Equal(t, row.want, m.DefaultEmbedding("t", row.language), row)
		e, err := m.Embedder(t.Context(), "t", BuiltinName)
		require.NoError(t, err, "datasets that have it keep it")
		require.Equal(t, "small", e.Model())
	}
	none, err := Open(Config{})
	require.NoError(t, err)
	require.Empty(t, none.DefaultEmbedding("t", ""))
	_, err = none.Embedder(t.Context(), "t", BuiltinName)
	require.ErrorIs(t, err, embed.ErrUnknown)
	require.ErrorContains(t, err, "built without the encoder")
}

type small struct{}

func (small) Model() string { return "small" }

func (small) Embed(context.Context, []string) ([][]float32, error) { return nil, nil }
