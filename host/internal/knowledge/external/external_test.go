package external

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestParse(t *testing.T) {
	list, err := Parse("shop=ragflow:https://h:9380#d1, law=dify:http://h/api/v1/dify#k1")
	require.NoError(t, err)
	require.Equal(t, []Setting{
		{Name: "shop", Kind: RAGFlow, URL: "https://h:9380", Dataset: "d1"},
		{Name: "law", Kind: Dify, URL: "http://h/api/v1/dify", Dataset: "k1"},
	}, list)
	for text, want := range map[string]string{
		"shop":                                    "unknown source",
		"shop=ragflow:https://h":                  "unknown source",
		"a b=ragflow:https://h#d":                 "a name has letters",
		"shop=elastic:https://h#d":                "unknown kind",
		"shop=ragflow:h#d":                        "not a URL",
		"a=dify:http://h#d,a=ragflow:http://h#d2": "is there twice",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

// own is a dataset of the host.
type own struct{}

func (own) Retrieve(_ context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	chunk := engine.Object("chunk_id", "own", "content_with_weight", "own text", "doc_id", "d", "docnm_kwd", "own.md",
		"similarity", 0.6)
	return engine.Found{Chunks: []engine.Value{chunk}, Diagnostics: q.Datasets}, nil
}

// Sources of both kinds are searched together with a dataset of the host, each with its key, and
// the best hits of all come first.
func TestRetrieve(t *testing.T) {
	ragflow := answering(t, "/api/v1/retrieval", "Bearer one", `{"code":0,"data":{"total":1,"chunks":[{"id":"r",
		"content":"theirs","document_id":"x","document_keyword":"x.pdf","similarity":0.9,"term_similarity":0.8,
		"vector_similarity":0.7,"positions":[[2,1,2,3,4]]}],"doc_aggs":[]}}`)
	dify := answering(t, "/dify/retrieval", "Bearer two", `{"records":[{"content":"weaker","score":0.3,"title":"y.md",
		"metadata":{"document_id":"y"}}]}`)
	list, err := Parse("shop=ragflow:" + ragflow + "#d1,law=dify:" + dify + "/dify#k1")
	require.NoError(t, err)
	list[0].Key, list[1].Key = "one", "two"
	r := Open(list, nil).Retriever(own{})
	q := &engine.RetrievalQuery{Text: "q", Datasets: []string{"law", "local", "shop"}, TopN: 5, KeywordWeight: 0.7}
	found, err := r.Retrieve(t.Context(), q)
	require.NoError(t, err)
	var texts []string
	for _, c := range found.Chunks {
		texts = append(texts, c.Get("content_with_weight").Str())
	}
	require.Equal(t, []string{"theirs", "own text", "weaker"}, texts)
	require.Equal(t, "shop", found.Chunks[0].Get("kb_id").Str())
	require.Equal(t, "2.0", found.Chunks[0].Get("positions").At(0).At(0).Text())
	require.Equal(t, []string{"local"}, found.Diagnostics, "the host is asked for its own datasets only")
	require.Len(t, found.DocAggs, 3)

	q.TopN, q.Rerank, q.Datasets = 1, "some", []string{"shop", "law"}
	found, err = r.Retrieve(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, found.Chunks, 1)
	require.Contains(t, found.Diagnostics, `source "law": rerank_id: the other system orders its hits itself`)

	_, err = Open(list, nil).Retriever(nil).Retrieve(t.Context(), &engine.RetrievalQuery{Datasets: []string{"none"}})
	require.EqualError(t, err, `dataset "none" not found (one of the sources law, shop)`)
	list[0].Key = "wrong"
	q.Datasets = []string{"shop"}
	_, err = Open(list, nil).Retriever(own{}).Retrieve(t.Context(), q)
	require.ErrorContains(t, err, `source "shop": `)
	require.Equal(t, own{}, Open(nil, nil).Retriever(own{}))
}

func answering(t *testing.T, path, authorization, answer string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != path || r.Header.Get("Authorization") != authorization || !json.Valid(body) {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
