package host

import (
	"context"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/tools"
)

// openTools offers the tools that the program carries. They run beside the installed plugins; a
// host without a folder of plugins makes a plugin host of its own when a tool is first used.
func (h *Host) openTools() {
	if h.cfg.NoTools {
		return
	}
	cfg := tools.Config{AllowPrivate: h.cfg.AllowPrivate, Host: h.toolHost}
	if dir := h.pluginFolder(); dir != "" {
		cfg.Switches = tools.ReadSwitches(dir)
	}
	if h.plugins != nil {
		cfg.Grant = h.plugins.grants.of
	}
	h.tools = tools.New(cfg)
}

// toolHost is the plugin host that runs tools.
func (h *Host) toolHost(ctx context.Context) (*plugin.Host, error) {
	if h.plugins != nil {
		return h.plugins.host, nil
	}
	return h.ownTools.open(ctx, h)
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

// toolsPort runs components such as web searches; nil without tools.
func (h *Host) toolsPort(j *durable.Job) engine.Tools {
	if h.tools == nil {
		return nil
	}
	return h.tools.Port(j.Tenant, h.secretsPort(j))
}
