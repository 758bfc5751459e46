package price

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestPriceByAddressAndModel(t *testing.T) {
	now := read.AddDate(0, 1, 0)
	const openAI, anthropic = "https://api.openai.com/v1", "https://api.anthropic.com"
	for _, c := range []struct {
		address, model string
		input          float64 // 0 for no price
	}{
		{openAI, "gpt-4o", 2.5},
		{openAI, "gpt-4o-2024-11-20", 2.5},
		{openAI, "gpt-4o-2024-05-13", 5}, // an older version with another price
		{"https://API.openai.com/", "gpt-4o", 2.5},
		{anthropic, "claude-opus-4-5-20251101", 5},
		{anthropic, "claude-opus-4-20250514", 15},
		{"https://api.mistral.ai/v1", "mistral-large-latest", 0.5},
		{"https://api.mistral.ai/v1", "mistral-large-2411", 2},
		{"https://generativelanguage.googleapis.com", "models/gemini-2.5-pro", 1.25},
		{openAI, "gpt-4o-unknown", 0},
		{openAI, "gpt-3.5-turbo-1106", 0}, // had another price than gpt-3.5-turbo
		{openAI, "claude-opus-4-5", 0},
		{"https://openrouter.ai/api/v1", "gpt-4o", 0},
		{"https://api.openai.com.example", "gpt-4o", 0},
		{"https://x.openai.azure.com", "gpt-4o", 0},
		{"http://127.0.0.1:11434", "gpt-4o", 0},
		{"%", "gpt-4o", 0},
		{"", "", 0},
	} {
		e, ok := Of(c.address, c.model, now)
		require.Equal(t, c.input > 0, ok, c)
		require.InDelta(t, c.input, e.Input, 0, c)
	}
	_, ok := Of(openAI, "gpt-4o", read.AddDate(0, 0, -1))
	require.False(t, ok, "before the day of the price")
}

// A later row of a model counts from its day on.
func TestPriceOfADay(t *testing.T) {
	old := vendors
	t.Cleanup(func() { vendors = old })
	next := read.AddDate(0, 2, 0)
	vendors = []vendor{{hosts: []string{"h"}, entries: []Entry{
		{Model: "m", Input: 2, From: next}, {Model: "m", Input: 1, From: read},
	}}}
	for at, want := range map[time.Time]float64{read: 1, next.AddDate(0, 0, -1): 1, next: 2, next.AddDate(1, 0, 0): 2} {
		e, ok := Of("http://h", "m", at)
		require.True(t, ok)
		require.InDelta(t, want, e.Input, 0)
	}
}

func TestTableOfPrices(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		key := e.Vendor + " " + e.Model + " " + e.From.String()
		require.False(t, seen[key], key)
		seen[key] = true
		require.Regexp(t, regexp.MustCompile(`^[A-Z]{3}$`), e.Currency, key)
		require.False(t, e.From.IsZero(), key)
		u, err := url.Parse(e.Source)
		require.NoError(t, err)
		require.Equal(t, "https", u.Scheme, key)
		require.Positive(t, e.Input, key)
		require.GreaterOrEqual(t, e.Output, 0.0, key)
		require.Positive(t, e.Context, key)
		if e.CachedInput > 0 {
			require.Less(t, e.CachedInput, e.Input, key)
		}
		if e.CacheWrite > 0 {
			require.Greater(t, e.CacheWrite, e.Input, key)
		}
	}
	require.Greater(t, len(seen), 100)
	for _, e := range All() {
		if above := e.Price(1).Above; e.Tier > 0 {
			require.Equal(t, e.Tier, above.Tokens)
			require.InDelta(t, 2*e.Input, above.Input, 1e-9)
			require.Greater(t, above.Output, e.Output, e.Model)
		} else {
			require.Nil(t, above)
		}
	}
}

func TestPriceInAnotherCurrency(t *testing.T) {
	e := Entry{Input: 2, Output: 4, CachedInput: 1, CacheWrite: 3}
	require.Equal(t, engine.Price{Input: 1, Output: 2, Cached: 0.5, Written: 1.5}, e.Price(0.5))
}
