// Package embedtest serves an embedding model for tests.
package embedtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Serve serves the embeddings call of OpenAI until the test ends. Requests need the key, or none
// when it is empty; vector embeds a text for a model.
func Serve(t testing.TB, key string, vector func(model, text string) []float32) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := strings.TrimSpace(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer")); got != key {
			http.Error(w, "wrong key "+got, http.StatusUnauthorized)
			return
		}
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data := make([]map[string]any, len(in.Input))
		for i, text := range in.Input {
			data[i] = map[string]any{"object": "embedding", "index": i, "embedding": vector(in.Model, text)}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the client may be dead
	}))
	t.Cleanup(s.Close)
	return s.URL
}
