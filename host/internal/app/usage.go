package app

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Usage counts model tokens.
type Usage struct {
	store *store.Store
	quota *quota.Meter
}

// TokenState is what somebody may use of models, 0 for any, and has used today.
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
