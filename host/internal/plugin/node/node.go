// Package node runs the plugins of a host inside canvases, as nodes and as tools of Agents.
//
// plugins/node, which the engine's module for browsers uses as well, defines a plugin as a
// component (its form, outputs, pinned arguments, retries, streaming). An [Adapter] joins that with
// host/internal/plugin: one execution is one Invoke, its id is the engine's idempotency key, and
// the ports of the run serve the plugin's requests.
//
// The package holds no policy: host/internal/plugin decides about plugins and their permissions.
package node

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/node"
)

// Config configures an Adapter. Only Find is required.
type Config struct {
	// Find returns the loaded plugin for weather or weather@1; usually Catalog.Get. Its error is
	// for the author of a canvas, with the remedy.
	Find func(ref string) (*plugin.Module, error)
	// Tenant names whose call it is; instances, keys and values are never shared between tenants.
	// Nil means a single tenant.
	Tenant func(call *engine.Call) string
	// Grant cuts the permissions of a plugin to those that a tenant allows; nil or a nil answer
	// leaves them.
	Grant func(tenant string) *contract.Permissions
	// KV returns the store of one plugin of one tenant, by the owner of its data, see
	// [plugin.Module.Owner]; nil offers none.
	KV func(tenant, owner string) plugin.KV
	// Settings returns the settings of a plugin for a tenant, an object; nil, or a null result, is
	// none.
	Settings func(tenant string, m *plugin.Module) engine.Value
	// Lacks lists the settings that a plugin needs and a tenant lacks, for diagnostics of canvases;
	// nil lists nothing.
	Lacks func(tenant string, m *plugin.Module) []engine.Diagnostic
	// Embed returns the embedder of a call; nil, or a nil result, offers none.
	Embed func(call *engine.Call) plugin.Embedder
	// Models maps the aliases plugins may name to llm_ids. A request without an alias goes to the
	// node's llm_id.
	Models map[string]string
	// Locale is passed to plugins; empty is none.
	Locale string
	// Try runs plugins that start runs as nodes too, for authors who test them.
	Try bool
}

// alone reports whether an output may be said before the others of its node are known.
func alone(call *engine.Call, output string) bool { return call.SpeaksOnly(output) }

// BuiltIn reports which names components of plugins leave to those of a registry, see
// [plugin.Config].
func BuiltIn(r *engine.Registry) func(name string) bool { return node.BuiltIn(r) }

// Adapter turns plugins into components. It is safe for concurrent use.
type Adapter struct {
	cfg   Config
	shelf node.Shelf
	runs  runs
}

// New makes an Adapter.
func New(cfg Config) *Adapter {
	a := &Adapter{cfg: cfg}
	a.shelf = node.Shelf{Find: a.find, Alone: alone, Ended: a.runs.end}
	return a
}

// Lookup implements engine.Registry.Plugin: it returns the Spec of a component named
// plugin:weather@1. It always finds one; a plugin that cannot run has a Spec with the reason in
// Missing.
func (a *Adapter) Lookup(name string) (engine.Spec, bool) { return a.shelf.Lookup(name) }

// LookupFor is Lookup for validated canvases: diagnostics name the settings that the tenant lacks.
func (a *Adapter) LookupFor(tenant string) func(name string) (engine.Spec, bool) {
	shelf := node.Shelf{Find: func(ref string) (node.Plugin, error) {
		m, err := a.cfg.Find(ref)
		if err != nil {
			return nil, err
		}
		l, err := a.load(ref, m)
		if err != nil {
			return nil, err
		}
		return &checked{*l, tenant}, nil
	}, Alone: alone, Ended: a.runs.end}
	return shelf.Lookup
}

// checked is a plugin in a canvas that is validated for a tenant.
type checked struct {
	loaded
	tenant string
}

// Lacks lists the settings that the plugin needs and the tenant lacks.
func (c *checked) Lacks() []engine.Diagnostic {
	if c.adapter.cfg.Lacks == nil {
		return nil
	}
	return c.adapter.cfg.Lacks(c.tenant, c.module)
}

// find returns the plugin of a ref.
func (a *Adapter) find(ref string) (node.Plugin, error) {
	m, err := a.cfg.Find(ref)
	if err != nil {
		return nil, err
	}
	l, err := a.load(ref, m)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// tenant names whose call it is.
func (a *Adapter) tenant(call *engine.Call) string {
	if a.cfg.Tenant == nil {
		return ""
	}
	return a.cfg.Tenant(call)
}
