package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// pluginSettings are the settings of plugins by tenant, stored in the records. They belong to the
// owner of a plugin's data: its name, and the key that signed it.
type pluginSettings struct {
	store *store.Store
	mu    sync.Mutex
	known map[settingsKey]cachedSettings
}

type settingsKey struct{ tenant, owner string }

type cachedSettings struct {
	set  engine.Value
	read time.Time
}

const settingsKind = "plugin_settings"

// of returns the settings of a plugin for a call; null without settings, or if the records cannot
// be read, so that a plugin that requires some fails with an error. Another host may use old ones
// for grantKept.
func (s *pluginSettings) of(tenant string, m *plugin.Module) engine.Value {
	if len(m.Manifest().Settings.Names()) == 0 {
		return engine.Null
	}
	key := settingsKey{tenant, m.Owner()}
	s.mu.Lock()
	cached, ok := s.known[key]
	s.mu.Unlock()
	if ok && time.Since(cached.read) < grantKept {
		return cached.set
	}
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	set, _, err := s.read(ctx, key)
	if err != nil {
		return engine.Null
	}
	s.cache(key, set)
	return set
}

func (s *pluginSettings) cache(key settingsKey, set engine.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) > 10_000 {
		s.known = map[settingsKey]cachedSettings{}
	}
	s.known[key] = cachedSettings{set, time.Now()}
}

func (s *pluginSettings) read(ctx context.Context, key settingsKey) (set engine.Value, rev int64, err error) {
	item, err := s.store.Items.Get(ctx, key.tenant, settingsKind, key.owner)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Object(), 0, nil
	}
	if err != nil {
		return engine.Null, 0, err
	}
	if set, err = engine.ParseJSON(item.Doc); err != nil {
		err = fmt.Errorf("settings of plugin %s: %w", key.owner, err)
	}
	return set, item.Rev, err
}

// change sets the members of change; null removes one.
func (s *pluginSettings) change(ctx context.Context, tenant string, m *plugin.Module, change engine.Value) error {
	key := settingsKey{tenant, m.Owner()}
	for {
		set, rev, err := s.read(ctx, key)
		if err != nil {
			return err
		}
		set = plugin.MergeSettings(set, change)
		_, err = s.store.Items.Put(ctx, store.Item{
			Tenant: tenant, Kind: settingsKind, ID: key.owner, Name: key.owner, Doc: set.AppendJSON(nil), Rev: rev,
		})
		switch {
		case errors.Is(err, store.ErrConflict), rev == 0 && errors.Is(err, store.ErrExists):
			continue // changed by another writer between the two
		case err != nil:
			return err
		}
		s.cache(key, set)
		return nil
	}
}

// forget deletes the settings that all tenants have under an owner.
func (s *pluginSettings) forget(ctx context.Context, owner string) error {
	items, err := s.store.Items.ListAll(ctx, settingsKind)
	errs := []error{err}
	for _, item := range items {
		if item.ID == owner {
			errs = append(errs, s.store.Items.Delete(ctx, item.Tenant, settingsKind, owner))
		}
	}
	return errors.Join(errs...)
}

// Settings returns the settings of a plugin for a tenant. Secrets are listed without their values.
func (p *plugins) Settings(ctx context.Context, tenant, name string) (app.PluginSettings, error) {
	m, err := p.catalog.Get(name)
	if err != nil {
		return app.PluginSettings{}, err
	}
	set, _, err := p.settings.read(ctx, settingsKey{tenant, m.Owner()})
	if err != nil {
		return app.PluginSettings{}, err
	}
	secrets, err := p.secretNames(ctx, tenant)
	if err != nil {
		return app.PluginSettings{}, err
	}
	about := m.Manifest()
	out := app.PluginSettings{
		Schema: about.Settings.Value(), Values: set, Missing: about.MissingSettings(set), Secrets: []app.PluginSecret{},
	}
	for _, name := range slices.Sorted(maps.Keys(about.Permissions.Secrets)) {
		asked := about.Permissions.Secrets[name]
		out.Secrets = append(out.Secrets, app.PluginSecret{
			Name: name, Set: secrets[name], Hosts: asked.Hosts, Reason: asked.Reason,
		})
	}
	return out, nil
}

// SetSettings changes settings and secrets of a plugin for a tenant; null removes a setting, an
// empty text a secret. A secret that is set for the first time is bound to the hosts for which the
// plugin requests it.
func (p *plugins) SetSettings(ctx context.Context, tenant, name string, c app.PluginChange) error {
	m, err := p.catalog.Get(name)
	if err != nil {
		return err
	}
	about := m.Manifest()
	if err := about.CheckSettings(withoutRemoved(about, c.Settings)); err != nil {
		return err
	}
	for secret := range c.Secrets {
		if _, asked := about.Permissions.Secrets[secret]; !asked {
			names := slices.Sorted(maps.Keys(about.Permissions.Secrets))
			return contract.Errorf(contract.InvalidArgument, "secret %q is not one of the plugin (%s)", secret,
				strings.Join(names, ", ")).At(about.Name, "")
		}
	}
	if c.Settings.Len() > 0 {
		if err := p.settings.change(ctx, tenant, m, c.Settings); err != nil {
			return err
		}
	}
	return p.setSecrets(ctx, tenant, about, c.Secrets)
}

// withoutRemoved returns the settings of a change that get a value, and those that are not
// declared.
func withoutRemoved(m *contract.Manifest, change engine.Value) engine.Value {
	out := engine.Object()
	for name, v := range change.Fields() {
		if _, declared := m.Settings.Property(name); !v.IsNull() || !declared {
			out = out.With(name, v)
		}
	}
	return out
}

func (p *plugins) setSecrets(ctx context.Context, tenant string, about *contract.Manifest, values map[string]string,
) error {
	set, err := p.secretNames(ctx, tenant)
	if err != nil {
		return err
	}
	service := app.NewSecrets(p.store)
	for name, value := range values {
		switch {
		case value == "" && set[name]:
			err = service.Delete(ctx, tenant, name)
		case value != "" && set[name]:
			err = service.Put(ctx, tenant, name, value, nil) // stays bound as it is
		case value != "":
			err = service.Put(ctx, tenant, name, value, boundHosts(about.Permissions.Secrets[name].Hosts))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// boundHosts returns the patterns that a new secret is bound to; nil, for any host, if the plugin
// requests one that cannot be bound.
func boundHosts(asked []string) []string {
	for _, host := range asked {
		if host == "*" || hostmatch.Check(host) != nil {
			return nil
		}
	}
	return asked
}

// secretNames returns the names of the secrets that a tenant has.
func (p *plugins) secretNames(ctx context.Context, tenant string) (map[string]bool, error) {
	secrets, err := p.store.Secrets.List(ctx, access.All(tenant))
	set := make(map[string]bool, len(secrets))
	for _, s := range secrets {
		set[s.Name] = true
	}
	return set, err
}

// lacks lists the settings and secrets that a plugin requires and the tenant has not set.
func (p *plugins) lacks(tenant string, m *plugin.Module) []engine.Diagnostic {
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	secrets, err := p.secretNames(ctx, tenant)
	if err != nil {
		return []engine.Diagnostic{{Code: engine.CodeMissingSetting, Message: "secrets cannot be read now; try again"}}
	}
	return node.Lacks(m, p.settings.of(tenant, m), func(name string) bool { return secrets[name] })
}
