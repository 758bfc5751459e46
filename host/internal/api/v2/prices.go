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
	Input   float64 `json:"input" jsonschema:"for a million tokens"`
	Output  float64 `json:"output"`
	Cached  float64 `json:"cached_input,omitempty" jsonschema:"of input from the provider's cache; default input"`
	Written float64 `json:"cache_write,omitempty" jsonschema:"of input that is written to it; default input"`
}

func (m models) prices(ctx context.Context, in byTenant) (modelPrices, error) {
	known, err := m.Models.Prices(ctx, in.Who.Tenant)
	out := modelPrices{Currency: m.Usage.Currency(), Prices: make(map[string]modelPrice, len(known))}
	for id, p := range known {
		out.Prices[id] = modelPrice(p)
	}
	return out, err
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
		if min(p.Input, p.Output, p.Cached, p.Written) < 0 {
			return modelPrices{}, app.BadArgument("prices: %s: a price is less than 0", id)
		}
		set[id] = engine.Price(p)
	}
	err := m.Models.SetPrices(ctx, in.Who.Tenant, set)
	if errors.Is(err, model.ErrTooManyPrices) {
		return modelPrices{}, app.BadArgument("prices: %s", err)
	}
	return modelPrices{m.Usage.Currency(), in.Body.Prices}, err
}
