// Package pluginnode makes a plugin a component of the engine, and a tool of its Agents.
//
// An [Adapter] answers the engine's question for a component named plugin:weather@1 with a Spec derived from the
// manifest: params and arguments become the form, outputs become what other nodes may refer to, and arguments
// become the function a model sees. What the author of a canvas sets in params is pinned: a model neither sees nor
// overrides it. A plugin that is missing, switched off or waits for approval gives a component that loads,
// validates with one problem that says what to do, and fails only when it is reached.
//
// A node looks its plugin up each time it runs, so a plugin that is replaced meanwhile serves the next run of the
// node without the canvas being loaded anew. One execution is one Invoke: its id is the engine's idempotency key,
// what the plugin emits streams to the user where the engine allows it, and what it asks of the host goes to the
// run's own ports.
//
// The package holds no policy: which plugins there are and what they may do is decided by host/internal/plugin.
package pluginnode

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// Config says what an Adapter works with. Only Find is required.
type Config struct {
	// Find gives the loaded plugin for weather or weather@1; usually Catalog.Get. Its error tells the author of a
	// canvas what to do.
	Find func(ref string) (*plugin.Module, error)
	// Tenant names whose call it is; instances, keys and values are never shared between tenants. Nil: all calls
	// are those of one tenant.
	Tenant func(call *engine.Call) string
	// Grant cuts what a plugin may do to what a tenant allows; nil or a nil answer leaves it.
	Grant func(tenant string) *plugin.Permissions
	// KV gives the store of one plugin of one tenant; nil offers none.
	KV func(tenant, name string) plugin.KV
	// Embed turns texts into vectors for a tenant; nil offers none.
	Embed func(tenant string) plugin.Embedder
	// Models maps the aliases plugins may name to llm_ids. A request without an alias goes to the node's llm_id.
	Models map[string]string
	// Locale is told to plugins; empty is none.
	Locale string
}

// Adapter turns plugins into components. It is safe for concurrent use.
type Adapter struct {
	cfg  Config
	runs runs
}

// New makes an Adapter.
func New(cfg Config) *Adapter { return &Adapter{cfg: cfg} }

// Lookup is what engine.Registry.Plugin wants: the Spec of a component named plugin:weather@1. It always finds
// one; a plugin that cannot run has a Spec that says why in Missing.
func (a *Adapter) Lookup(name string) (engine.Spec, bool) {
	ref, ok := strings.CutPrefix(name, engine.PluginPrefix)
	if !ok {
		return engine.Spec{}, false
	}
	m, err := a.cfg.Find(ref)
	if err != nil {
		return a.missing(name, ref, err), true
	}
	return a.spec(name, ref, m.Manifest()), true
}

// missing describes a plugin that cannot run.
func (a *Adapter) missing(name, ref string, err error) engine.Spec {
	why := err.Error()
	var e *plugin.Error
	if errors.As(err, &e) {
		why = e.Message
	}
	return engine.Spec{
		Name: name, Doc: "A plugin that cannot run here.", Missing: why,
		New: func() engine.Component { return &node{adapter: a, ref: ref} },
	}
}

// invoke runs the plugin. One that is replaced between being found and being called is found anew.
func (a *Adapter) invoke(ctx context.Context, ref string, in func(*plugin.Module) (plugin.Invocation, error)) (plugin.Answer, *plugin.Module, error) {
	for again := 0; ; again++ {
		m, err := a.cfg.Find(ref)
		if err != nil {
			return plugin.Answer{}, nil, err
		}
		inv, err := in(m)
		if err != nil {
			return plugin.Answer{}, m, err
		}
		answer, err := m.Invoke(ctx, inv)
		if again < 3 && errors.Is(err, plugin.Closed) {
			continue
		}
		return answer, m, err
	}
}

// tenant names whose call it is.
func (a *Adapter) tenant(call *engine.Call) string {
	if a.cfg.Tenant == nil {
		return ""
	}
	return a.cfg.Tenant(call)
}
