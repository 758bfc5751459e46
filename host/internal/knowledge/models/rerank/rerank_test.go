package rerank

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake starts a server with one answer that records the path and body of the request.
func fake(t *testing.T, answer string) (url string, seen *string) {
	t.Helper()
	seen = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		*seen += r.URL.Path + " " + string(body) + "\n"
		_, _ = io.WriteString(w, answer) // the client sees what is missing
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

func TestShapes(t *testing.T) {
	const results = `{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}`
	for _, c := range []struct {
		shape        Shape
		path, answer string
		want         string
	}{
		{Cohere, "/v2", results, `/v2/rerank {"model":"m","query":"q","documents":["a","b"],"top_n":2}` + "\n"},
		{Jina, "/v1/rerank", results, `/v1/rerank {"model":"m","query":"q","documents":["a","b"],"top_n":2}` + "\n"},
		{RAGFlow, "/v1/", results, `/v1/rerank {"model":"m","query":"q","documents":["a","b"],"top_n":2}` + "\n"},
		{
			Jina, "", `{"data": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]}`,
			`/rerank {"model":"m","query":"q","documents":["a","b"],"top_n":2}` + "\n",
		},
		{
			TEI, "", `[{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}]`,
			`/rerank {"query":"q","texts":["a","b"],"truncate":true}` + "\n",
		},
	} {
		url, seen := fake(t, c.answer)
		r, err := Open(url+c.path, Options{Shape: c.shape, Model: "m"})
		require.NoError(t, err)
		got, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
		require.NoError(t, err)
		require.Equal(t, []float64{0.1, 0.9}, got)
		require.Equal(t, c.want, *seen)
	}
}

func TestLogitsBecomeProbabilities(t *testing.T) {
	url, _ := fake(t, `[{"index": 0, "score": 0}, {"index": 1, "score": -20}]`)
	r, err := Open(url, Options{Shape: TEI})
	require.NoError(t, err)
	got, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.5, 0}, got, 1e-6)
}

func TestBatches(t *testing.T) {
	url, seen := fake(t, `[{"index": 0, "score": 0.5}]`)
	r, err := Open(url, Options{Shape: TEI, Batch: 1})
	require.NoError(t, err)
	got, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 0.5}, got)
	require.Contains(t, *seen, `["b"]`)
}

func TestBadAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`[{"index": 0, "score": 1}]`:                           "1 scores for 2 texts",
		`[{"index": 2, "score": 1}, {"index": 0, "score": 1}]`: "index 2 twice, out of range 0 to 1",
		`[{"index": 0}, {"index": 1}]`:                         "without a score",
		`{"error": "x"}`:                                       "neither results nor data",
	} {
		url, _ := fake(t, answer)
		r, err := Open(url, Options{Shape: Cohere, Model: "m"})
		require.NoError(t, err)
		_, err = r.Rerank(t.Context(), "q", []string{"a", "b"})
		require.ErrorContains(t, err, "reranking model m: ")
		require.ErrorContains(t, err, want)
	}
	_, err := Open("http://x", Options{Shape: "other"})
	require.ErrorContains(t, err, `unknown shape "other" (one of cohere, jina, ragflow, tei)`)
	_, err = Open("http://x", Options{Shape: Jina})
	require.ErrorContains(t, err, "name a model")
}

func TestDiverse(t *testing.T) {
	relevance := []float64{0.9, 0.89, 0.5}
	alike := func(i, j int) float64 {
		if i+j == 1 {
			return 1 // the first two say the same
		}
		return 0
	}
	require.Equal(t, []int{0, 2}, Diverse(relevance, alike, 0.5, 2))
	require.Equal(t, []int{0, 1, 2}, Diverse(relevance, alike, 1, 5))
	require.Empty(t, Diverse(nil, alike, 0.5, 2))
}
