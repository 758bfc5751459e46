package host

import (
	"context"
	"sync"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/tools"
)

// newTools returns the built-in tools; nil if they are disabled. They share the host of the
// installed plugins; without a folder of plugins a plugin host is created when a tool is first
// used.
func newTools(h *Host) *tools.Set {
	if h.cfg.NoTools {
		return nil
	}
	cfg := tools.Config{AllowPrivate: h.cfg.AllowPrivate, Log: h.cfg.Log}
	cfg.Host = func(ctx context.Context) (*plugin.Host, error) { return h.ownTools.open(ctx, h) }
	if h.plugins != nil {
		cfg.Grant = h.plugins.grants.of
		cfg.Host = func(context.Context) (*plugin.Host, error) { return h.plugins.host, nil }
	}
	if dir := h.pluginFolder(); dir != "" {
		cfg.Switches = tools.ReadSwitches(dir)
	}
	return tools.New(cfg)
}

// warmTools compiles the shared part of the tools, and stores it on disk for the next start. A host
// without a folder compiles after the first call of a tool.
func warmTools(ctx context.Context, h *Host) {
	if h.plugins == nil {
		return
	}
	if err := h.tools.Warm(ctx); err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("built-in tools are not compiled; the next call tries again", "err", err)
	}
}

// ownPlugins is a plugin host for tools alone.
type ownPlugins struct {
	mu   sync.Mutex
	host *plugin.Host
}

func (o *ownPlugins) open(ctx context.Context, h *Host) (*plugin.Host, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.host != nil {
		return o.host, nil
	}
	made, err := plugin.New(ctx, plugin.Config{Log: h.cfg.Log})
	if err == nil {
		o.host = made
	}
	return made, err
}

func (o *ownPlugins) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.host == nil {
		return nil
	}
	return o.host.Close(context.Background())
}
