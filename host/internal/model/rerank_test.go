package model

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// searching returns a tenant with an embedding and a reranking model, and what their server was
// sent. refuse names a member of requests that the server refuses.
func searching(t *testing.T, refuse string) (*Tenant, *ledger, *[]string) {
	t.Helper()
	sent := &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		*sent = append(*sent, r.URL.Path+" "+string(data))
		body, _ := engine.ParseJSON(data)
		if refuse != "" && !body.Get(refuse).IsNull() {
			http.Error(w, `{"detail":"Argument '`+refuse+`' is not supported by our API"}`, http.StatusBadRequest)
			return
		}
		if r.URL.Path == "/v1/embeddings" {
			_, _ = io.WriteString(w, `{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":5}}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"relevance_score":0.5}],"usage":{"total_tokens":7}}`)
	}))
	t.Cleanup(s.Close)
	m, err := New(Config{Providers: []Provider{{Name: "P", BaseURL: s.URL + "/v1", Models: []Entry{
		{Name: "e", Kind: KindEmbedding, Dimensions: 256}, {Name: "r", Kind: KindRerank},
	}}}})
	require.NoError(t, err)
	l := &ledger{left: 100}
	return &Tenant{tenant: "t", account: l, models: m}, l, sent
}

func TestRerankByProvider(t *testing.T) {
	tenant, l, sent := searching(t, "")
	ids, err := tenant.ModelsOf(t.Context(), KindRerank)
	require.NoError(t, err)
	require.Equal(t, []string{"r@P"}, ids)
	answer, err := tenant.RerankBy(t.Context(), "r@P", "q", []string{"x"})
	require.NoError(t, err)
	require.Contains(t, string(answer), `"relevance_score":0.5`)
	require.Equal(t, []string{`/v1/rerank {"model":"r","query":"q","documents":["x"],"top_n":1}`}, *sent)
	require.Equal(t, []int64{7}, l.spent)
	_, err = tenant.RerankBy(t.Context(), "e@P", "q", []string{"x"})
	require.ErrorIs(t, err, ErrUnknownModel)

	// Voyage names the number of results differently, and returns all without it.
	tenant, _, sent = searching(t, "top_n")
	for range 2 {
		_, err = tenant.RerankBy(t.Context(), "r@P", "q", []string{"x"})
		require.NoError(t, err)
	}
	require.Len(t, *sent, 3, "what was refused is not sent again")
	require.Equal(t, `/v1/rerank {"model":"r","query":"q","documents":["x"]}`, (*sent)[2])
}

func TestAddressesOfRerank(t *testing.T) {
	for name, want := range map[string]string{
		"Cohere": "https://api.cohere.com/v2/rerank", "Voyage": "https://api.voyageai.com/v1/rerank",
		"Jina": "https://api.jina.ai/v1/rerank", "SILICONFLOW": "https://api.siliconflow.cn/v1/rerank",
	} {
		p, err := newProvider(Provider{Name: name, Models: []Entry{{Name: "r", Kind: KindRerank}}}, nil)
		require.NoError(t, err)
		require.Equal(t, want, p.endpoint(p.base("r"), target{model: "r", path: rerankPath}))
	}
	p, err := newProvider(Provider{Name: "Cohere", BaseURL: "http://own/v1"}, nil)
	require.NoError(t, err)
	require.Equal(t, "http://own/v1/rerank", p.endpoint(p.base("r"), target{model: "r", path: rerankPath}))
}

// Dimensions are requested of a model that has several sizes; a server that refuses them has one.
func TestDimensionsOfEmbeddings(t *testing.T) {
	tenant, _, sent := searching(t, "")
	vectors, err := tenant.EmbedBy(t.Context(), "e@P", []string{"x"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 2}}, vectors)
	require.Contains(t, (*sent)[0], `"dimensions":256`)
	tenant, _, sent = searching(t, "dimensions")
	for range 2 {
		_, err = tenant.EmbedBy(t.Context(), "e@P", []string{"x"})
		require.NoError(t, err)
	}
	require.Len(t, *sent, 3)
	require.NotContains(t, (*sent)[2], "dimensions")
	for _, e := range []Entry{{Name: "m", Dimensions: 5}, {Name: "m", Kind: KindEmbedding, Dimensions: -1}} {
		p := Provider{Name: "P", Models: []Entry{e}}
		require.ErrorContains(t, p.Check(), "dimensions are for kind embedding")
	}
}
