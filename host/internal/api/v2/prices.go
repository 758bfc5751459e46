package v2

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
)

// pricesPath has the prices of a tenant.
const pricesPath = "/api/v2/models/prices"

type modelPrices struct {
	Currency string                `json:"currency" jsonschema:"of all amounts of the host"`
	Prices   map[string]modelPrice `json:"prices" jsonschema:"by ids of models, NAME@PROVIDER or NAME; * is for all others; 1,000 at most. Those of a tenant that does not operate the host have no effect on models of the host"`
}

type modelPrice struct {
	priceRates
	Above *priceTier `json:"above,omitempty" jsonschema:"of requests with more tokens of input; default the same"`
}

type priceTier struct {
	Tokens int `json:"tokens" jsonschema:"of input, above which these prices count for the whole request"`
	priceRates
}

type priceRates struct {
	Input   float64 `json:"input" jsonschema:"for a million tokens"`
	Output  float64 `json:"output"`
	Cached  float64 `json:"cached_input,omitempty" jsonschema:"of input from the provider's cache; default input"`
	Written float64 `json:"cache_write,omitempty" jsonschema:"of input that is written to it; default input"`
}

func (m models) prices(ctx context.Context, in byTenant) (modelPrices, error) {
	known, err := m.Models.Prices(ctx, in.Who.Tenant)
	out := modelPrices{Currency: m.Usage.Currency(), Prices: make(map[string]modelPrice, len(known))}
	for id, p := range known {
		out.Prices[id] = priceView(p)
	}
	return out, err
}

func ratesView(p engine.Price) priceRates { return priceRates{p.Input, p.Output, p.Cached, p.Written} }

func priceView(p engine.Price) modelPrice {
	out := modelPrice{priceRates: ratesView(p)}
	if p.Above != nil {
		out.Above = &priceTier{p.Above.Tokens, ratesView(p.Above.Price)}
	}
	return out
}

func (r priceRates) price() engine.Price {
	return engine.Price{Input: r.Input, Output: r.Output, Cached: r.Cached, Written: r.Written}
}

func (p *modelPrice) price() engine.Price {
	out := p.priceRates.price()
	if p.Above != nil {
		out.Above = &engine.Tier{Tokens: p.Above.Tokens, Price: p.Above.priceRates.price()}
	}
	return out
}

func (p *modelPrice) check() error {
	least := func(r priceRates) float64 { return min(r.Input, r.Output, r.Cached, r.Written) }
	switch {
	case least(p.priceRates) < 0 || p.Above != nil && least(p.Above.priceRates) < 0:
		return errors.New("a price is less than 0")
	case p.Above != nil && p.Above.Tokens < 1:
		return errors.New("above.tokens is less than 1")
	}
	return nil
}

type putPrices struct {
	Who  app.Principal
	Body struct {
		Prices map[string]modelPrice `json:"prices" jsonschema:"all prices of the tenant, as in the list; {} removes them"`
	}
}

func (m models) putPrices(ctx context.Context, in putPrices) (modelPrices, error) {
	if in.Body.Prices == nil {
		return modelPrices{}, app.BadArgument("prices is missing; expected an object, {} to remove all")
	}
	set := make(engine.Prices, len(in.Body.Prices))
	for id, p := range in.Body.Prices {
		if strings.TrimSpace(id) != id || id == "" {
			return modelPrices{}, app.BadArgument("prices: %q is no id of a model", id)
		}
		if err := p.check(); err != nil {
			return modelPrices{}, app.BadArgument("prices: %s: %s", id, err)
		}
		set[id] = p.price()
	}
	err := m.Models.SetPrices(ctx, in.Who.Tenant, set)
	if errors.Is(err, model.ErrTooManyPrices) {
		return modelPrices{}, app.BadArgument("prices: %s", err)
	}
	return modelPrices{m.Usage.Currency(), in.Body.Prices}, err
}
