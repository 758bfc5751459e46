package host

import (
	"cmp"
	"context"
	"encoding/base64"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

var _ app.Plugins = (*plugins)(nil)

// pluginPort adapts the plugins to the API.
func (h *Host) pluginPort() app.Plugins {
	if h.plugins == nil {
		return nil
	}
	return h.plugins
}

// Palette describes the installed plugins for a tenant.
func (p *plugins) Palette(ctx context.Context, tenant string) ([]app.Plugin, error) {
	set, err := p.secretNames(ctx, tenant)
	if err != nil {
		return nil, err
	}
	most, err := p.grants.read(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var out []app.Plugin
	for _, e := range p.catalog.List() {
		m, err := p.catalog.Get(e.Ref())
		if err != nil {
			out = append(out, off(e, err))
			continue
		}
		settings := p.settings.of(tenant, m)
		for _, c := range m.Manifest().Nodes() {
			about := p.describe(e, m, c, most, set)
			about.Settings = settings
			out = append(out, about)
		}
	}
	return out, nil
}

// File returns the file of a plugin that is on.
func (p *plugins) File(name string) (wasm []byte, digest string, err error) {
	return p.catalog.File(name)
}

// off describes a plugin that is not on, and why.
func off(e plugin.Entry, why error) app.Plugin {
	out := app.Plugin{Component: engine.PluginPrefix + e.Ref(), Name: e.Name, State: "off", Note: why.Error()}
	switch {
	case e.Problem != "":
		out.State = "broken"
	case e.Active == nil && e.Waiting != nil:
		out.State = "waiting"
	}
	if v := cmp.Or(e.Active, e.Waiting); v != nil {
		out.Version = v.Version
	}
	return out
}

// describe describes a component of a plugin that is on.
func (p *plugins) describe(e plugin.Entry, m *plugin.Module, about *contract.Manifest, most *contract.Permissions,
	set map[string]bool,
) app.Plugin {
	out := app.Plugin{
		Component: engine.PluginPrefix + about.NodeName() + "@" + e.Major, Name: e.Name, Version: about.Version,
		State: "on", Display: about.Display, Category: about.Category, Description: about.Description,
		License: about.License, Streams: about.Streams, Preview: string(about.Preview), Icon: p.icon(e.Ref(), about),
		Granted: m.Granted(),
	}
	if about.Trigger != "" {
		out.Trigger, out.Params = string(about.Trigger), about.Params.Value()
	} else if spec, ok := p.nodes.Lookup(out.Component); ok {
		d := spec.Describe()
		out.Params, out.Outputs, out.Tool = d.Get("params"), d.Get("outputs"), d.Get("tool")
	}
	if most != nil {
		out.Granted = out.Granted.Cut(*most)
	}
	for name := range about.Permissions.Secrets {
		if out.Secrets == nil {
			out.Secrets = map[string]bool{}
		}
		out.Secrets[name] = set[name]
	}
	return out
}

// LookupFor finds plugins for a canvas that is validated for a tenant.
func (p *plugins) LookupFor(tenant string) func(component string) (engine.Spec, bool) {
	return p.nodes.LookupFor(tenant)
}

// icon returns a plugin's picture as a data URL. Pages show it as an image, where scripts inside it
// do not run.
func (p *plugins) icon(ref string, about *contract.Manifest) string {
	section := about.Icon
	if section == "" {
		section = contract.IconSection
	}
	picture, found, err := p.catalog.Section(ref, section)
	if err != nil || !found || len(picture) > 64<<10 {
		return ""
	}
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(picture)
}

// Grant returns the upper bound of permissions of plugins for a tenant.
func (p *plugins) Grant(ctx context.Context, tenant string) (*contract.Permissions, error) {
	return p.grants.read(ctx, tenant)
}

// SetGrant restricts the permissions of plugins for a tenant.
func (p *plugins) SetGrant(ctx context.Context, tenant string, most *contract.Permissions) error {
	return p.grants.write(ctx, tenant, most)
}
