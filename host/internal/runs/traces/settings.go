package traces

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Settings bounds the traces of a tenant.
type Settings struct {
	Days  int   `json:"days"`  // after their day; 0 keeps none
	Bytes int64 `json:"bytes"` // of all traces; the oldest days are deleted first
}

// Defaults are the settings of tenants without their own; Off keeps nothing.
var (
	Defaults = Settings{Days: 30, Bytes: 5 << 30}
	Off      = Settings{}
)

const settingsKind, settingsID = "trace_settings", "settings"

// Settings returns the settings of a tenant.
func (t *Traces) Settings(ctx context.Context, tenant string) (Settings, error) {
	item, err := t.cfg.Store.Items.Get(ctx, tenant, settingsKind, settingsID)
	if errors.Is(err, store.ErrNotFound) {
		return Defaults, nil
	}
	if err != nil {
		return Settings{}, err
	}
	out := Defaults
	return out, json.Unmarshal(item.Doc, &out)
}

// SetSettings changes the settings of a tenant.
func (t *Traces) SetSettings(ctx context.Context, tenant string, set Settings) error {
	item, err := t.cfg.Store.Items.Get(ctx, tenant, settingsKind, settingsID)
	if errors.Is(err, store.ErrNotFound) {
		item = store.Item{Tenant: tenant, Kind: settingsKind, ID: settingsID, Name: settingsID}
	} else if err != nil {
		return err
	}
	if set.Days == 0 {
		set = Off
	}
	if item.Doc, err = json.Marshal(set); err != nil {
		return err
	}
	if _, err = t.cfg.Store.Items.Put(ctx, item); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settings[tenant] = set
	return nil
}

// readSettings reads the settings of all tenants.
func (t *Traces) readSettings(ctx context.Context) {
	items, err := t.cfg.Store.Items.ListAll(ctx, settingsKind)
	if err != nil {
		t.cfg.Logger.Warn("settings of traces were not read", "err", err)
		return
	}
	known := map[string]Settings{}
	for _, item := range items {
		set := Defaults
		if json.Unmarshal(item.Doc, &set) == nil {
			known[item.Tenant] = set
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settings = known
}

// off reports whether a tenant keeps no traces.
func (t *Traces) off(tenant string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	set, known := t.settings[tenant]
	return known && set.Days == 0
}
