package v2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// What a host learns of a model is a record, which its tenant can see and reset.
func TestLearnedOfModels(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if body, _ := engine.ParseJSON(data); !body.Get("temperature").IsNull() {
			http.Error(w, `{"error":{"message":"Unsupported parameter: temperature"}}`, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	s := apitest.New(t)
	shared, err := model.New(model.Config{Providers: []model.Provider{{Name: "Shared", BaseURL: server.URL + "/v1"}}})
	require.NoError(t, err)
	s.Services.Models.Host = shared
	s.Services.Models.Remember(s.Store.Lessons)
	s.As("one", "PUT", "/api/v2/providers/Mine", `{"base_url":"`+server.URL+`/v1","key":"k"}`, 200)
	ask := func(llm string) {
		t.Helper()
		temperature := 0.5
		req := &engine.ModelRequest{LLM: llm, Messages: []engine.ModelMessage{{Role: "user", Content: "hi"}}}
		req.Config.Temperature = &temperature
		for _, err := range s.Services.Models.Of("one", "").Generate(t.Context(), req) {
			require.NoError(t, err)
		}
	}
	ask("org/m@Mine")
	ask("n@Shared")

	const learned = "/api/v2/models/learned"
	items := s.As("one", "GET", learned, "", 200).Get("items")
	require.Equal(t, 2, items.Len(), items.JSON())
	for i, want := range []string{"Mine org/m false", "Shared n true"} {
		one := items.At(i)
		require.Equal(t, want, one.Get("provider").Str()+" "+one.Get("model").Str()+" "+one.Get("host").Text())
		require.Equal(t, `["temperature"]`, one.Get("refused").JSON())
		require.NotEmpty(t, one.Get("until").Str())
	}
	items = s.As("two", "GET", learned, "", 200).Get("items")
	require.Equal(t, 1, items.Len(), "those of the host")
	require.Equal(t, "Shared", items.At(0).Get("provider").Str())

	s.As("two", "DELETE", "/api/v2/providers/Mine/learned", "", 404)
	s.As("two", "DELETE", "/api/v2/providers/Shared/learned", "", 403)
	s.As("one", "DELETE", "/api/v2/providers/Mine/learned?model=other", "", 204)
	require.Equal(t, 2, s.As("one", "GET", learned, "", 200).Get("items").Len())
	s.As("one", "DELETE", "/api/v2/providers/Mine/learned?model=org/m", "", 204)
	require.Equal(t, 1, s.As("one", "GET", learned, "", 200).Get("items").Len())
	s.As("one", "DELETE", "/api/v2/providers/Shared/learned", "", 204) // it operates the host
	rows, err := s.Store.Lessons.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, rows)
}
