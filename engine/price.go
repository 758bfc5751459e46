package engine

import (
	"fmt"
	"math"
	"strings"
)

// Price is the price of a model for a million tokens, in the currency of the table.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Cached and Written are for input that is read from the provider's cache and written to it; 0
	// means Input.
	Cached  float64 `json:"cached_input,omitempty"`
	Written float64 `json:"cache_write,omitempty"`
	// Above is the price of long requests; nil if all have one price.
	Above *Tier `json:"above,omitempty"`
}

// Tier is the price of requests with more than so many tokens of input, for all their tokens.
type Tier struct {
	Tokens int `json:"tokens"`
	Price
}

// of returns the price of a request with so many tokens of input.
func (p *Price) of(input int) Price {
	if p.Above != nil && input > p.Above.Tokens {
		return p.Above.Price
	}
	return *p
}

// Prices are the prices of models by llm_id, with or without "@provider"; "*" is for all others.
type Prices map[string]Price

// Of returns the price of a model.
func (p Prices) Of(llm string) (Price, bool) {
	price, ok := p.named(llm)
	if !ok {
		price, ok = p["*"]
	}
	return price, ok
}

// named is Of without the price of all others.
func (p Prices) named(llm string) (Price, bool) {
	price, ok := p[llm]
	if !ok {
		name, _, _ := strings.Cut(llm, "@")
		price, ok = p[name]
	}
	return price, ok
}

// ReadPrices reads a price table: {"gpt-x": {"input": 2.5, "output": 10}, "*": {...}}, for a
// million tokens each. cached_input, cache_write and above, {"tokens": 200000, "input": 5, ...} for
// longer requests, are optional.
func ReadPrices(v Value) (Prices, error) {
	if v.Kind() != KindObject && !v.IsNull() {
		return nil, fmt.Errorf("prices: is a %s; expected an object of {input, output} by model", v.Kind())
	}
	table := Prices{}
	for model, entry := range v.Fields() {
		var price Price
		err := price.read(model, entry)
		if above := entry.Get("above"); err == nil && !above.IsNull() {
			price.Above = &Tier{}
			tokens, ok := above.Get("tokens").Int()
			if !ok || tokens < 1 {
				return nil, fmt.Errorf("prices: %s: above.tokens is %s; expected a whole number of at least 1",
					brief(model), brief(above.Get("tokens").JSON()))
			}
			price.Above.Tokens = int(tokens)
			err = price.Above.read(model+": above", above)
		}
		if err != nil {
			return nil, err
		}
		table[model] = price
	}
	return table, nil
}

// read takes the prices of an entry of a table.
func (p *Price) read(model string, entry Value) error {
	for _, f := range [...]struct {
		name     string
		to       *float64
		optional bool
	}{
		{"input", &p.Input, false},
		{"output", &p.Output, false},
		{"cached_input", &p.Cached, true},
		{"cache_write", &p.Written, true},
	} {
		given := entry.Get(f.name)
		if f.optional && given.IsNull() {
			continue
		}
		n, ok := given.Float()
		if !ok || n < 0 || math.IsInf(n, 0) {
			return fmt.Errorf("prices: %s: %s is %s; expected a number of at least 0, per million tokens",
				brief(model), f.name, brief(given.JSON()))
		}
		*f.to = n
	}
	return nil
}

// inCurrency returns an amount of millionths as a number.
func inCurrency(micros int64) Value { return Float(float64(micros) / 1e6) }

// MicrosOf returns an amount of a currency in millionths, in which [Limits].Cost counts. Amounts
// above those that fit become the largest one.
func MicrosOf(amount float64) int64 {
	micros := math.Round(amount * 1e6)
	if micros >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(micros)
}
