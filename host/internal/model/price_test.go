package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// A model has the price of its vendor's list if the provider has the vendor's address. It counts
// only in a currency that is known.
func TestPricesOfModels(t *testing.T) {
	providers := []Provider{
		{Name: "OpenAI", Models: []Entry{{Name: "gpt-4o"}, {Name: "my-own"}, {Name: "gpt-4.1", Context: 5000}}},
		{Name: "Gateway", BaseURL: "https://gateway.example/v1", Models: []Entry{{Name: "gpt-4o"}}},
		{Name: "Open", BaseURL: "https://api.openai.com/v1"},
	}
	for _, c := range []struct {
		currency string
		rates    map[string]float64
		want     *engine.Price
	}{
		{"USD", nil, &engine.Price{Input: 2.5, Output: 10, Cached: 1.25}},
		{"EUR", map[string]float64{"USD": 0.5}, &engine.Price{Input: 1.25, Output: 5, Cached: 0.625}},
		{"EUR", nil, nil},
		{"EUR", map[string]float64{"CNY": 0.1}, nil},
		{"", nil, nil},
	} {
		m, err := New(Config{Providers: providers, Currency: c.currency, Rates: c.rates})
		require.NoError(t, err)
		for _, id := range []string{"gpt-4o@OpenAI", "gpt-4o-2024-11-20@Open", "gpt-4o"} {
			require.Equal(t, c.want, m.ModelInfo(t.Context(), id).Price, id)
		}
		require.Nil(t, m.ModelInfo(t.Context(), "gpt-4o@Gateway").Price)
		require.Nil(t, m.ModelInfo(t.Context(), "my-own").Price)
		require.Equal(t, 1_047_576, m.ModelInfo(t.Context(), "gpt-4.1@Open").Context)
		require.Equal(t, 5000, m.ModelInfo(t.Context(), "gpt-4.1@OpenAI").Context)
		require.Equal(t, defaultContext, m.ModelInfo(t.Context(), "my-own").Context)
	}
}

// A price that a tenant has set comes before that of the vendor's list, and before the host's.
func TestPricesThatATenantSets(t *testing.T) {
	m, err := New(Config{
		Providers: []Provider{{Name: "OpenAI", Models: []Entry{{Name: "gpt-4o"}, {Name: "gpt-4.1"}}}}, Currency: "USD",
	})
	require.NoError(t, err)
	m.prices = engine.Prices{"gpt-4o@OpenAI": {Input: 1, Output: 2}}
	info := m.ModelInfo(t.Context(), "gpt-4o")
	require.True(t, info.OwnPrice)
	require.Equal(t, engine.Price{Input: 1, Output: 2}, *info.Price)
	require.False(t, m.ModelInfo(t.Context(), "gpt-4.1").OwnPrice)
	m.prices["*"] = engine.Price{}
	require.Equal(t, engine.Price{}, *m.ModelInfo(t.Context(), "gpt-4.1").Price, "free is a price too")
}

// A tenant sets no prices of models that the host provides: these are the operator's cost.
func TestPricesOfModelsOfTheHost(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{
		Providers: []Provider{{Name: "OpenAI", Models: []Entry{{Name: "gpt-4o"}}}}, Currency: "USD",
	})
	tenants.Operator = "operator"
	for _, tenant := range []string{"a", "operator"} {
		require.NoError(t, tenants.Put(ctx, tenant, Provider{Name: "P", Models: []Entry{{Name: "m"}}}))
		require.NoError(t, tenants.SetPrices(ctx, tenant, engine.Prices{"*": {}, "gpt-4o@OpenAI": {}, "m": {Input: 1}}))
		m, err := tenants.Of(tenant, "").Models(ctx)
		require.NoError(t, err)
		shared, own := m.ModelInfo(ctx, "gpt-4o"), m.ModelInfo(ctx, "m@P")
		require.Equal(t, tenant == "operator", shared.OwnPrice)
		require.Equal(t, tenant == "a", shared.Price.Input > 0)
		require.True(t, own.OwnPrice)
		require.Equal(t, engine.Price{Input: 1}, *own.Price)
	}
}

func TestCachedTokensOfChats(t *testing.T) {
	for cached, want := range map[string]int{
		`"prompt_tokens_details":{"cached_tokens":4}`: 4, `"prompt_cache_hit_tokens":"4"`: 4, `"cached_tokens":4`: 4,
		`"cached_tokens":1e30`: 9, `"cached_tokens":-4`: 0, `"x":0`: 0,
	} {
		body := `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":9,"completion_tokens":2,` + cached + `}}`
		p, _ := serve(t, answer(200, body))
		_, last, err := collect(p.generate(t.Context(), "m", hello(false)))
		require.NoError(t, err)
		require.Equal(t, engine.Usage{Prompt: 9, Completion: 2, Cached: want}, *last.Usage, cached)
	}
}
