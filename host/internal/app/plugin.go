package app

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Plugins are the installed plugins of a host.
type Plugins interface {
	// Palette describes them for one tenant.
	Palette(ctx context.Context, tenant string) ([]Plugin, error)
	// Grant is the most that plugins may do for a tenant; nil when it does not restrict them.
	Grant(ctx context.Context, tenant string) (*contract.Permissions, error)
	// SetGrant restricts what plugins may do for a tenant; nil removes the restriction.
	SetGrant(ctx context.Context, tenant string, p *contract.Permissions) error
	// Settings returns the settings of a plugin for a tenant; secrets are listed without their
	// values.
	Settings(ctx context.Context, tenant, name string) (PluginSettings, error)
	// SetSettings changes them.
	SetSettings(ctx context.Context, tenant, name string, c PluginChange) error
	// LookupFor finds plugins for a canvas that is validated; diagnostics say what a tenant has to
	// set.
	LookupFor(tenant string) func(component string) (engine.Spec, bool)
	// File returns the file of a plugin that is on, NAME or NAME@VERSION, and its SHA-256 in hex.
	File(name string) (wasm []byte, digest string, err error)
	// Relay sends a request of a plugin, NAME or NAME@VERSION, that runs in a page.
	Relay(ctx context.Context, tenant, name string, r plugin.Relayed) (*plugin.Response, error)
}

// Plugin is an installed plugin, as editors of canvases see it.
type Plugin struct {
	Component   string               `json:"component" jsonschema:"its name in a canvas, such as plugin:weather@1, or plugin:weather.forecast@1 for one of several components of a file"`
	Name        string               `json:"name"`
	Version     string               `json:"version"`
	State       string               `json:"state" jsonschema:"on, off, waiting for approval, or broken"`
	Note        string               `json:"note,omitempty" jsonschema:"why it is not on"`
	Display     map[string]string    `json:"display,omitempty" jsonschema:"its name for people, by locale"`
	Category    string               `json:"category,omitempty"`
	Description string               `json:"description,omitempty"`
	License     string               `json:"license,omitempty"`
	Icon        string               `json:"icon,omitempty" jsonschema:"a data URL"`
	Streams     bool                 `json:"streams" jsonschema:"its answer comes in pieces"`
	Preview     string               `json:"preview,omitempty" jsonschema:"where a preview runs it: local, server or none"`
	Trigger     string               `json:"trigger,omitempty" jsonschema:"poll or webhook for a plugin that begins runs by a schedule; others are components"`
	Params      engine.Value         `json:"params" jsonschema:"JSON Schema of what a node sets"`
	Outputs     engine.Value         `json:"outputs" jsonschema:"what other nodes may refer to: [{name, type, doc}]"`
	Tool        engine.Value         `json:"tool" jsonschema:"the function that a model may call, in OpenAI's form; null when it is none"`
	Granted     contract.Permissions `json:"granted" jsonschema:"what it may do for the caller"`
	Settings    engine.Value         `json:"settings,omitzero" jsonschema:"what the caller's tenant has set, by name"`
	Secrets     map[string]bool      `json:"secrets,omitempty" jsonschema:"the secrets it uses, and whether they are set"`
}

// PluginSettings are a tenant's settings of a plugin.
type PluginSettings struct {
	Schema  engine.Value   `json:"schema" jsonschema:"JSON Schema of the settings; null when the plugin has none"`
	Values  engine.Value   `json:"values" jsonschema:"what is set, by name; defaults are left out"`
	Missing []string       `json:"missing,omitempty" jsonschema:"required settings without a value"`
	Secrets []PluginSecret `json:"secrets" jsonschema:"secrets that the plugin asks for; values are not shown"`
}

// PluginSecret is a secret that a plugin requests.
type PluginSecret struct {
	Name   string   `json:"name"`
	Set    bool     `json:"set"`
	Hosts  []string `json:"hosts" jsonschema:"hosts that the plugin sends it to"`
	Reason string   `json:"reason" jsonschema:"why the plugin needs it"`
}

// PluginChange changes the settings of a plugin.
type PluginChange struct {
	Settings engine.Value      // by name; null removes one
	Secrets  map[string]string // by name; an empty text removes one
}

// Palette describes the installed plugins for a tenant; the list is never nil.
func (s *Services) Palette(ctx context.Context, tenant string) ([]Plugin, error) {
	if s.Plugins == nil {
		return []Plugin{}, nil
	}
	list, err := s.Plugins.Palette(ctx, tenant)
	if list == nil {
		list = []Plugin{}
	}
	return list, err
}
