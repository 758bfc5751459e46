package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// plugins are the installed plugins of this host. The folder is the one that `easel plugin install
// --plugins DIR` fills; changes there take effect at once.
type plugins struct {
	host    *plugin.Host
	catalog *plugin.Catalog
	nodes   *node.Adapter
	store   *store.Store
	grants  grants
	// settings are the settings of plugins by tenant.
	settings pluginSettings
	detach   func() // from the folder
}

// pluginPoll is the interval at which the folder is polled.
const pluginPoll = 300 * time.Millisecond

// pluginFolder returns the folder in which plugins are installed; "" if the host has none.
func (h *Host) pluginFolder() string {
	if h.cfg.Plugins != "" || h.cfg.Dir == "" {
		return h.cfg.Plugins
	}
	return filepath.Join(h.cfg.Dir, "plugins")
}

// openPlugins opens the folder and adds its plugins to the registry.
func (h *Host) openPlugins(ctx context.Context, registry *engine.Registry) error {
	if h.pluginFolder() == "" {
		return nil
	}
	dir, signed := h.pluginFolder(), plugin.Check(h.cfg.PluginSignatures)
	switch signed {
	case "", plugin.Require, plugin.Warn, plugin.Off:
	default:
		return fmt.Errorf("plugin signatures %q: expected require, warn or off", signed)
	}
	keys, err := plugin.ReadTrust(dir)
	if err != nil {
		return fmt.Errorf("plugins: %w", err)
	}
	p := &plugins{store: h.store, grants: grants{store: h.store}, settings: pluginSettings{store: h.store}}
	if p.host, err = plugin.New(ctx, plugin.Config{
		CacheDir: filepath.Join(dir, "cache"), Compiler: h.cfg.PluginCompiler,
		Trust: plugin.Trust{Keys: keys, Local: signed}, Log: h.cfg.Log, BuiltIn: node.BuiltIn(registry),
	}); errors.Is(err, plugin.ErrNoCompiler) {
		h.cfg.Log.Warn("canvases with plugins do not run here", "err", err)
		return nil
	} else if err != nil {
		return err
	}
	h.plugins = p
	if p.catalog, err = plugin.OpenCatalog(ctx, p.host, dir, contract.Everything()); err != nil {
		return err
	}
	if p.detach, err = p.catalog.Attach(); err != nil {
		return err
	}
	p.nodes = node.New(node.Config{
		Find:     p.catalog.Get,
		Tenant:   func(call *engine.Call) string { return call.RunInfo().TenantID },
		Grant:    p.grants.of,
		Embed:    embedderOf,
		Settings: p.settings.of, Lacks: p.lacks,
		KV: func(tenant, owner string) plugin.KV { return pluginKV{h.store.KV(tenant, kvOwner(owner))} },
	})
	registry.Plugin = p.nodes.Lookup
	p.forget(ctx, h)
	return nil
}

// kvOwner names the records that a plugin stores.
func kvOwner(owner string) string { return "plugin " + owner }

// forget deletes the data of removed plugins, of all tenants.
func (p *plugins) forget(ctx context.Context, h *Host) {
	err := p.catalog.ForgetData(ctx, func(ctx context.Context, owner string) error {
		return errors.Join(h.store.DeleteKV(ctx, kvOwner(owner)), p.settings.forget(ctx, owner))
	})
	if err != nil {
		h.cfg.Log.Warn("data of removed plugins are not deleted yet; the next change or start tries again", "err", err)
	}
}

// embedderOf returns the run's model, whose embeddings are charged to the run.
func embedderOf(call *engine.Call) plugin.Embedder {
	e, _ := call.Ports().Model.(plugin.Embedder)
	return e
}

// watch follows the folder until ctx ends.
func (p *plugins) watch(ctx context.Context, h *Host) {
	if p == nil {
		return
	}
	h.work.Go(func() {
		p.catalog.Watch(ctx, pluginPoll, func() {
			h.cfg.Log.Info("plugins have changed")
			p.forget(ctx, h)
		})
	})
}

func (p *plugins) close() error {
	if p == nil {
		return nil
	}
	if p.detach != nil {
		p.detach()
	}
	return p.host.Close(context.Background())
}

// pluginKV stores the data of plugins in the records.
type pluginKV struct{ kv *store.KV }

func (p pluginKV) Get(ctx context.Context, key string) (string, bool, error) {
	value, err := p.kv.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	return value, err == nil, err
}

func (p pluginKV) Set(ctx context.Context, key string, value *string, quota int64) error {
	err := p.kv.Set(ctx, key, value, quota)
	if errors.Is(err, store.ErrQuota) {
		return plugin.ErrKVFull
	}
	return err
}

func (p pluginKV) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := p.kv.Keys(ctx, prefix)
	if keys == nil {
		keys = []string{}
	}
	return keys, err
}
