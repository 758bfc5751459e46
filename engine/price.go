package engine

import (
	"fmt"
	"math"
	"strings"
)

// Price is the price of a model for a million tokens, in the currency of the table.
type Price struct{ Input, Output float64 }

// cost returns the price of an answer in millionths of the currency.
func (p Price) cost(prompt, completion int) int64 {
	return int64(math.Ceil(float64(prompt)*p.Input + float64(completion)*p.Output))
}

// Cost returns the price of an answer in millionths of the currency; 0 for a model that is not in
// the table.
func (p Prices) Cost(llm string, input, output int64) int64 {
	price, _ := p.of(llm)
	return price.cost(int(input), int(output))
}

// Prices are the prices of models by llm_id, with or without "@provider"; "*" is that of all
// others.
type Prices map[string]Price

func (p Prices) of(llm string) (Price, bool) {
	price, ok := p.named(llm)
	if !ok {
		price, ok = p["*"]
	}
	return price, ok
}

// named is of without the price of all others.
func (p Prices) named(llm string) (Price, bool) {
	price, ok := p[llm]
	if !ok {
		name, _, _ := strings.Cut(llm, "@")
		price, ok = p[name]
	}
	return price, ok
}

// ReadPrices reads a price table: {"gpt-x": {"input": 2.5, "output": 10}, "*": {...}}, for a
// million tokens each.
func ReadPrices(v Value) (Prices, error) {
	if v.Kind() != KindObject && !v.IsNull() {
		return nil, fmt.Errorf("prices: is a %s; expected an object of {input, output} by model", v.Kind())
	}
	table := Prices{}
	for model, entry := range v.Fields() {
		var price Price
		for _, f := range [...]struct {
			name string
			to   *float64
		}{{"input", &price.Input}, {"output", &price.Output}} {
			n, ok := entry.Get(f.name).Float()
			if !ok || n < 0 || math.IsInf(n, 0) {
				return nil, fmt.Errorf("prices: %s: %s is %s; expected a number of at least 0, per million tokens",
					brief(model), f.name, brief(entry.Get(f.name).JSON()))
			}
			*f.to = n
		}
		table[model] = price
	}
	return table, nil
}

// inCurrency returns an amount of millionths as a number.
func inCurrency(micros int64) Value { return Float(float64(micros) / 1e6) }

// MicrosOf returns an amount of a currency in millionths, in which [Limits].Cost counts.
func MicrosOf(amount float64) int64 { return int64(math.Round(amount * 1e6)) }
