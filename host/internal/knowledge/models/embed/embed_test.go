package embed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// models is a server with the embeddings call. The vector of a text is its length and the number of
// the request.
func models(t *testing.T, answer func(in embeddingsRequest, request int) (int, any)) (url string,
	requests *[]embeddingsRequest,
) {
	t.Helper()
	requests = &[]embeddingsRequest{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		var in embeddingsRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		*requests = append(*requests, in)
		status, out := answer(in, len(*requests))
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(out) // the client sees what is missing
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", requests
}

// vectors is an answer in reverse order, as servers may give it.
func vectors(texts []string) any {
	type data struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out []data
	for i := len(texts) - 1; i >= 0; i-- {
		out = append(out, data{i, []float32{float32(len(texts[i])), 1}})
	}
	return map[string]any{"data": out}
}

func TestServer(t *testing.T) {
	url, requests := models(t, func(in embeddingsRequest, _ int) (int, any) { return 200, vectors(in.Input) })
	e, err := Open(url, Options{Model: "m", Key: "secret", Batch: 2, Dims: 2})
	require.NoError(t, err)
	require.Equal(t, "m", e.Model())
	got, err := e.Embed(t.Context(), []string{"a", "bb", "", "dddd", "eeeee"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 1}, {2, 1}, {1, 1}, {4, 1}, {5, 1}}, got)
	require.Equal(t, []embeddingsRequest{
		{"m", []string{"a", "bb"}, "float", 2}, {"m", []string{" ", "dddd"}, "float", 2}, {
			"m",
			[]string{"eeeee"},
			"float", 2,
		},
	}, *requests)
}

func TestLargeBatchesAreHalved(t *testing.T) {
	url, requests := models(t, func(in embeddingsRequest, _ int) (int, any) {
		if len(in.Input) > 2 {
			return http.StatusRequestEntityTooLarge, "too large"
		}
		return 200, vectors(in.Input)
	})
	e, err := Open(url, Options{Model: "m", Key: "secret"})
	require.NoError(t, err)
	got, err := e.Embed(t.Context(), []string{"a", "bb", "ccc", "dddd", "eeeee"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, got)
	require.Len(t, *requests, 5)
}

func TestBadAnswers(t *testing.T) {
	for want, answer := range map[string]any{
		"1 vectors for 2 texts": vectors([]string{"a"}),
		"index 7 twice or out of range": map[string]any{"data": []any{
			map[string]any{"index": 0, "embedding": []int{1}},
			map[string]any{"index": 7, "embedding": []int{1}},
		}},
		"vector without numbers": map[string]any{"data": []any{
			map[string]any{"embedding": []int{1}}, map[string]any{"embedding": []int{}},
		}},
		"vector 0 has 2 dimensions": vectors([]string{"a", "b"}),
	} {
		url, _ := models(t, func(embeddingsRequest, int) (int, any) { return 200, answer })
		e, err := Open(url, Options{Model: "m", Key: "secret", Dims: 3})
		require.NoError(t, err)
		_, err = e.Embed(t.Context(), []string{"a", "b"})
		require.ErrorContains(t, err, "embedding model m: ")
		require.ErrorContains(t, err, want)
	}
}

func TestOpenErrors(t *testing.T) {
	_, err := Open("http://localhost/v1", Options{})
	require.ErrorContains(t, err, "name a model")
	_, err = Open(t.TempDir(), Options{})
	require.ErrorContains(t, err, "neither an http address nor a folder with model.safetensors")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), nil, 0o600))
	_, err = Open(dir, Options{})
	require.ErrorContains(t, err, fmt.Sprintf("embedding model %s: open tokenizer.json", dir))
}
