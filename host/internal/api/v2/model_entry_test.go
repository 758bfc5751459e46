package v2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A tenant sets by which models a failing one is followed, and what is never sent to it.
func TestFallbackAndDropOfModels(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body, _ := engine.ParseJSON(data)
		asked = append(asked, body.Get("model").Str())
		if !body.Get("temperature").IsNull() || body.Get("model").Str() == "first" {
			http.Error(w, `{"error":{"code":"insufficient_quota"}}`, http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	s := apitest.New(t)
	const entries = `[{"name":"first","fallback":["second@Mine"],"drop":["temperature"]},` +
		`{"name":"second","drop":["temperature"]}]`
	put := func(models string, status int) engine.Value {
		body := `{"base_url":"` + server.URL + `/v1","key":"k","models":` + models + `}`
		return s.As("one", "PUT", "/api/v2/providers/Mine", body, status)
	}
	require.JSONEq(t, entries, put(entries, 200).Get("models").JSON())
	temperature := 0.5
	req := &engine.ModelRequest{LLM: "first@Mine", Messages: []engine.ModelMessage{{Role: "user", Content: "hi"}}}
	req.Config.Temperature = &temperature
	for _, err := range s.Services.Models.Of("one", "").Generate(t.Context(), req) {
		require.NoError(t, err)
	}
	require.Equal(t, "second", asked[len(asked)-1])
	for models, want := range map[string]string{
		`[{"name":"m","kind":"embedding","fallback":["x"]}]`:                       "fallback is for kind chat",
		`[{"name":"m","fallback":[` + strings.Repeat(`"x",`, 8) + `"x"]}]`:         "at most 8 fallback models",
		`[{"name":"m","drop":[` + strings.Repeat(`"x",`, 100) + `"temperature"]}]`: "100 parameters in drop",
	} {
		require.Contains(t, put(models, 422).Get("error").JSON(), want)
	}
}
