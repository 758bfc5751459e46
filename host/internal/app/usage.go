package app

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Usage counts model tokens.
type Usage struct {
	store  *store.Store
	uses   store.ModelUses
	quota  *quota.Meter
	priced bool
	code   string // of the currency of the prices
}

// UseGroup is by what usage is added up.
type UseGroup = store.UseGroup

// Groups of usage.
const (
	UseByDay    = store.UseByDay
	UseByCanvas = store.UseByCanvas
	UseByModel  = store.UseByModel
)

// ModelUse is the use of models by a day, a canvas or a model.
type ModelUse struct {
	store.ModelUse
	Title string // of the canvas; "" when it was deleted
}

// Priced reports whether the host has prices of models, without which all costs are 0.
func (u *Usage) Priced() bool { return u.priced }

// Currency is the code of the currency of the prices, such as USD; "" when it is not known.
func (u *Usage) Currency() string { return u.code }

// Today is the current day, in days since 1970-01-01, UTC.
func (u *Usage) Today() int64 { return u.quota.Today() }

// Models returns what the tenant of a principal used of models from one day to another, both
// included. Canvases that the principal may not use are in one row without id and title, with calls
// outside of canvases.
func (u *Usage) Models(ctx context.Context, who Principal, from, to int64, by UseGroup) ([]ModelUse, error) {
	if err := u.quota.Flush(); err != nil {
		return nil, err
	}
	rows, err := u.uses.List(ctx, who.Tenant, from, to, by)
	if err != nil {
		return nil, err
	}
	var canvases []string
	for _, row := range rows {
		if row.Canvas != "" {
			canvases = append(canvases, row.Canvas)
		}
	}
	titles, err := u.uses.Titles(ctx, who.Tenant, canvases)
	out := make([]ModelUse, 0, len(rows))
	others := -1 // index of the row without id
	for _, row := range rows {
		of, known := titles[row.Canvas]
		if known && !who.mayUse(of.Access) {
			row.Canvas, of.Title = "", ""
		}
		switch {
		case by != UseByCanvas || row.Canvas != "":
		case others < 0:
			others = len(out)
		default:
			out[others].add(row)
			continue
		}
		out = append(out, ModelUse{row, of.Title})
	}
	return out, err
}

func (u *ModelUse) add(v store.ModelUse) {
	u.Calls += v.Calls
	u.Input += v.Input
	u.Output += v.Output
	u.Cost += v.Cost
}

// TokenState is a quota of model tokens, 0 for none, and the use of today.
type TokenState = store.TokenState

// State returns what a caller, or with "" its tenant, may use and has used today, and when the next
// day begins.
func (u *Usage) State(ctx context.Context, tenant, caller string) (TokenState, time.Time, error) {
	return u.quota.State(ctx, tenant, caller)
}

// Callers returns what the callers of a tenant have used today, by caller, after what this host has
// counted is written; the tenant itself is "".
func (u *Usage) Callers(ctx context.Context, tenant string) (map[string]int64, error) {
	if err := u.quota.Flush(); err != nil {
		return nil, err
	}
	return u.store.Tokens.ByCaller(ctx, tenant, u.quota.Today())
}

// tenants returns what all tenants have used today, by tenant.
func (u *Usage) tenants(ctx context.Context) (map[string]int64, error) {
	if err := u.quota.Flush(); err != nil {
		return nil, err
	}
	return u.store.Tokens.ByTenant(ctx, u.quota.Today())
}
