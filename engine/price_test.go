package engine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesCost(t *testing.T) {
	table, err := ReadPrices(Object("small", Object("input", 100, "output", 400), "big@Vendor",
		Object("input", 1.5, "output", 2)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		llm           string
		input, output int
		want          int64 // millionths
	}{
		{"small@Local", 1000, 500, 300_000},
		{"small", 1, 0, 100},
		{"big@Vendor", 1, 0, 2}, // rounded up
		{"big@Other", 1000, 1000, 0},
	} {
		price, _ := table.Of(test.llm)
		if got := price.Cost(Usage{Prompt: test.input, Completion: test.output}); got != test.want {
			t.Errorf("cost of %s: %d, want %d", test.llm, got, test.want)
		}
	}
	if _, ok := Prices(nil).Of("small"); ok {
		t.Error("a price without a table")
	}
}

func TestCostOfCachedInput(t *testing.T) {
	table, err := ReadPrices(Object("m", Object("input", 3, "output", 15, "cached_input", 0.3, "cache_write", 3.75),
		"n", Object("input", 3, "output", 15)))
	if err != nil {
		t.Fatal(err)
	}
	u := Usage{Prompt: 1000, Completion: 100, Cached: 600, Written: 300}
	for llm, want := range map[string]int64{"m": 300 + 180 + 1125 + 1500, "n": 3000 + 1500} {
		if got := table[llm].Cost(u); got != want {
			t.Errorf("cost of %s: %d, want %d", llm, got, want)
		}
	}
	if _, err := ReadPrices(Object("m", Object("input", 1, "output", 1, "cached_input", -1))); err == nil {
		t.Error("a negative price is accepted")
	}
}

// A price beyond all sense is never free, and sums of such costs do not overflow.
func TestCostsDoNotOverflow(t *testing.T) {
	for _, p := range []Price{
		{Input: 1e308},
		{Output: 1e308},
		{Input: 1e13},
		{Cached: 1e308},
		{Input: 1e308, Cached: 1e308},
		{Input: math.MaxFloat64, Cached: 1},
		{Input: 1e308, Output: 1e308, Cached: 1, Written: 1e308},
	} {
		cost := p.Cost(Usage{Prompt: 1 << 20, Completion: 1 << 20, Cached: 1 << 19, Written: 1 << 19})
		if cost <= 0 || cost > math.MaxInt64/1000 {
			t.Errorf("%+v costs %d", p, cost)
		}
	}
}

// An amount that is too large is the largest one: as a negative limit it would mean none.
func TestMicrosOfHugeAmounts(t *testing.T) {
	require.Equal(t, int64(1_500_000), MicrosOf(1.5))
	require.Equal(t, int64(math.MaxInt64), MicrosOf(1e13))
	require.Equal(t, int64(math.MaxInt64), MicrosOf(1e308))
}

// All tokens of a request above the tier have its prices.
func TestCostOfLongRequests(t *testing.T) {
	table, err := ReadPrices(Object("m", Object("input", 1, "output", 10, "cached_input", 0.5, "above",
		Object("tokens", 1000, "input", 2, "output", 15, "cached_input", 1))))
	require.NoError(t, err)
	price, _ := table.Of("m")
	require.Equal(t, int64(1000+100), price.Cost(Usage{Prompt: 1000, Completion: 10}))
	require.Equal(t, int64(2000+2+150), price.Cost(Usage{Prompt: 1001, Completion: 10}))
	require.Equal(t, int64(2002-500+150), price.Cost(Usage{Prompt: 1001, Completion: 10, Cached: 500}))
	for want, above := range map[string]Value{
		"above.tokens is null": Object("input", 2, "output", 15),
		"above.tokens is 0":    Object("tokens", 0, "input", 2, "output", 15),
		"m: above: output is":  Object("tokens", 5, "input", 2, "output", -1),
	} {
		_, err := ReadPrices(Object("m", Object("input", 1, "output", 1, "above", above)))
		require.ErrorContains(t, err, want)
	}
}
