package remote

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
)

// serve answers each request by its body and remembers path and body.
func serve(t *testing.T, answer func(body string) string) (url string, seen *[]string) {
	t.Helper()
	seen = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		*seen = append(*seen, r.URL.Path+" "+string(body))
		_, _ = io.WriteString(w, answer(string(body))) // the client sees what is missing
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

func key() endpoint.Endpoint { return endpoint.Endpoint{Key: "key"} }

func TestRAGFlow(t *testing.T) {
	url, seen := serve(t, func(string) string {
		return `{"code": 0, "data": {"total": 7, "chunks": [{"id": "c1", "content": "Red", "dataset_id": "d",
			"document_id": "x", "document_keyword": "x.md", "similarity": 0.5,
			"term_similarity": 0.4, "vector_similarity": 0.6,
			"highlight": "<em>Red</em>", "important_keywords": ["k"], "positions": [[1, 2, 3, 4, 5]]}],
			"doc_aggs": [{"doc_id": "x", "doc_name": "x.md", "count": 1}]}}`
	})
	r, err := NewRAGFlow(url+"/", key()).Search(t.Context(), &index.Query{
		Datasets: []string{"d"}, Text: "red", Limit: 10, Offset: 20, VectorWeight: 0.3, Threshold: 0.2,
		Fusion: index.RRF,
		Filter: &index.Filter{
			Or: true, Conditions: []index.Condition{{Key: "lang", Operator: "=", Value: "en"}},
		},
	})
	require.NoError(t, err)
	require.Equal(t, []string{`/api/v1/retrieval {"question":"red","dataset_ids":["d"],"page":3,` +
		`"page_size":10,"similarity_threshold":0.2,"vector_similarity_weight":0.3,"top_k":1024,"highlight":false,` +
		`"metadata_condition":{"conditions":[{"name":"lang","comparison_operator":"=","value":"en"}],` +
		`"logic":"or"}}`}, *seen)
	require.Equal(t, 7, r.Total)
	require.Equal(t, []index.DocumentCount{{Document: "x", Name: "x.md", Count: 1}}, r.Documents)
	require.Equal(t, []string{"RAGFlow has no fusion by reciprocal ranks; it uses the weighted sum"}, r.Diagnostics)
	h := r.Hits[0]
	require.Contains(t, string(h.Chunk.Extra), `"positions"`)
	h.Chunk.Extra = nil
	require.Equal(t, index.Hit{
		Chunk: index.Chunk{ID: "c1", Content: "Red", Keywords: []string{"k"}}, Dataset: "d", Document: "x",
		DocumentName: "x.md", Similarity: 0.5, Term: 0.4, Vector: 0.6, Score: 0.5, Highlight: "<em>Red</em>",
	}, h)
}

// A page of RAGFlow has at most a hundred chunks; a larger one is put together.
func TestRAGFlowPages(t *testing.T) {
	page := 0
	url, seen := serve(t, func(string) string {
		page++
		list := ""
		for i := range map[bool]int{true: 100, false: 30}[page < 3] {
			list += fmt.Sprintf(`,{"id": "%d-%d"}`, page, i)
		}
		return `{"code": 0, "data": {"total": 230, "chunks": [` + list[1:] + `], "doc_aggs": {}}}`
	})
	r, err := NewRAGFlow(url, key()).Search(t.Context(), &index.Query{Text: "x", Offset: 50, Limit: 250})
	require.NoError(t, err)
	require.Len(t, *seen, 3)
	require.Len(t, r.Hits, 180)
	require.Equal(t, "1-50", r.Hits[0].Chunk.ID)
	require.Equal(t, "3-29", r.Hits[179].Chunk.ID)
}

func TestDify(t *testing.T) {
	url, seen := serve(t, func(body string) string {
		if body[:len(`{"knowledge_id":"a"`)] == `{"knowledge_id":"a"` {
			return `{"records": [{"content": "one", "score": 0.5, "title": "t1", "metadata": {"doc_id": "x"}}]}`
		}
		return `{"records": [{"content": "two", "score": 0.9, "title": "t2", "metadata": {}}]}`
	})
	r, err := NewDify(url+"/api/v1/dify", key()).Search(t.Context(), &index.Query{
		Datasets: []string{"a", "b"}, Text: "q", Limit: 5, Threshold: 0.1, VectorWeight: 0.3,
	})
	require.NoError(t, err)
	require.Equal(t, `/api/v1/dify/retrieval {"knowledge_id":"a","query":"q",`+
		`"retrieval_setting":{"top_k":5,"score_threshold":0.1}}`, (*seen)[0])
	require.Equal(t, []string{"t2", "x"}, []string{r.Hits[0].Document, r.Hits[1].Document})
	require.Equal(t, []string{"the external knowledge API of Dify has no weights of words and vectors"}, r.Diagnostics)
	require.Equal(t, 2, r.Total)
}

func TestErrors(t *testing.T) {
	url, _ := serve(t, func(string) string { return `{"code": 102, "message": "You don't own the dataset x."}` })
	_, err := NewRAGFlow(url, key()).Search(t.Context(), &index.Query{Datasets: []string{"x"}, Text: "q"})
	require.ErrorContains(t, err, "/api/v1/retrieval: code 102: You don't own the dataset x.")
	_, err = NewDify(url, key()).Search(t.Context(), &index.Query{Datasets: []string{"x"}, Text: "q"})
	require.ErrorContains(t, err, `knowledge "x": the answer has no records`)
	_, err = NewRAGFlow(url, key()).Search(t.Context(), &index.Query{Vector: []float32{1}})
	require.ErrorIs(t, err, errNoText)
	_, err = NewDify(url, key()).Search(t.Context(), &index.Query{Vector: []float32{1}})
	require.ErrorIs(t, err, errNoText)
}
