package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// grants are the upper bounds that tenants set for plugins, stored in the records. Each host caches
// them briefly, since every call of a plugin reads them.
type grants struct {
	store *store.Store
	mu    sync.Mutex
	known map[string]grant // by tenant
}

type grant struct {
	most *contract.Permissions // nil restricts nothing
	read time.Time
}

const (
	grantKind = "plugin_grant"
	grantID   = "grant"
	// grantKept bounds how long another host may continue with an old grant.
	grantKept = time.Second
)

// of returns the grant of a tenant. If the records cannot be read, plugins have no permissions.
func (g *grants) of(tenant string) *contract.Permissions {
	g.mu.Lock()
	kept, ok := g.known[tenant]
	g.mu.Unlock()
	if ok && time.Since(kept.read) < grantKept {
		return kept.most
	}
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	most, err := g.read(ctx, tenant)
	if err != nil {
		return &contract.Permissions{}
	}
	g.keep(tenant, most)
	return most
}

// keep caches a grant.
func (g *grants) keep(tenant string, most *contract.Permissions) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) > 10_000 {
		g.known = map[string]grant{}
	}
	g.known[tenant] = grant{most, time.Now()}
}

func (g *grants) read(ctx context.Context, tenant string) (*contract.Permissions, error) {
	item, err := g.store.Items.Get(ctx, tenant, grantKind, grantID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var most contract.Permissions
	if err := json.Unmarshal(item.Doc, &most); err != nil {
		return nil, fmt.Errorf("grant of plugins: %w", err)
	}
	return &most, nil
}

// write stores a grant; nil deletes it.
func (g *grants) write(ctx context.Context, tenant string, most *contract.Permissions) error {
	err := g.store.Items.Delete(ctx, tenant, grantKind, grantID)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err == nil && most != nil {
		var text []byte
		if text, err = json.Marshal(most); err == nil {
			_, err = g.store.Items.Put(
				ctx, store.Item{Tenant: tenant, Kind: grantKind, ID: grantID, Name: grantID, Doc: text},
			)
		}
	}
	if err == nil {
		g.keep(tenant, most)
	}
	return err
}
