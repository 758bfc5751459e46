package host

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
)

// tenTokens returns a provider whose every answer and every vector costs ten tokens.
func tenTokens(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}],`+
				`"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

const question = `{"model":"m@Ten","messages":[{"role":"user","content":"hi"}]}`

func TestTokensPerDay(t *testing.T) {
	models := Models{Providers: []model.Provider{{Name: "Ten", BaseURL: tenTokens(t).URL}}}
	_, url := open(t, Config{TokensPerDay: 20, Models: models})
	for range 2 {
		require.Contains(t, asked(t, url, "POST", "/api/llm/chat/completions", "application/json", question), "Hello")
	}
	require.Contains(t, asked(t, url, "POST", "/api/llm/chat/completions", "application/json", question),
		"quota of 20 tokens for today is used up")
	require.Contains(t, asked(t, url, "GET", "/api/v2/me/usage", "", ""),
		`"caller":{"tokens_per_day":20,"tokens_today":20},"tenant":{"tokens_today":20}`)
	numbers := asked(t, url, "GET", "/metrics", "", "")
	require.Contains(t, numbers, `easel_model_tokens_total{tenant="`+FirstTenant+`"} 20`)
	require.Contains(t, numbers, `easel_model_refusals_total{tenant="`+FirstTenant+`"} 1`)

	for _, bad := range []int64{-1, store.MostTokens + 1} {
		_, err := New(t.Context(), Config{Dir: t.TempDir(), TokensPerDay: bad, Log: quiet})
		require.ErrorContains(t, err, "tokens per day")
	}
}

func TestNumbersByTenantAreBounded(t *testing.T) {
	r := prometheus.NewRegistry()
	c := newTenantCounter(r, "n", "N.")
	for i := range 3 * mostTenantLabels {
		c.add(fmt.Sprint("tenant ", i), 1)
		c.add("tenant 0", 1)
	}
	families, err := r.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	require.Len(t, got, mostTenantLabels+1)
	require.EqualValues(t, 2*mostTenantLabels, got[otherTenants])
	require.EqualValues(t, 3*mostTenantLabels+1, got["tenant 0"])
}

// Usage from before a host is killed counts after it; only that of the last second may be lost.
func TestUsedTokensOutliveTheirHost(t *testing.T) {
	dir, provider := t.TempDir(), tenTokens(t)
	url, kill := start(t, dir)
	var answer map[string]any
	call(t, "PUT", url+"/api/v2/providers/Ten", `{"base_url":"`+provider.URL+`","key":"k"}`, &answer)
	call(t, "POST", url+"/api/llm/chat/completions", question, &answer)
	records, err := store.Open(t.Context(), store.Config{Dir: dir})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		used, err := records.Tokens.ByTenant(t.Context(), time.Now().Unix()/(24*60*60))
		require.NoError(t, err)
		return used[FirstTenant] == 10
	}, 2*time.Minute, 20*time.Millisecond, "it is written without anybody asking")
	require.NoError(t, records.Close())
	kill()
	url, _ = start(t, dir)
	var usage struct {
		Tenant struct {
			Today int64 `json:"tokens_today"`
		}
	}
	call(t, "GET", url+"/api/v2/me/usage", "", &usage)
	require.EqualValues(t, 10, usage.Tenant.Today)
}
