package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/nearest"
	"github.com/easel-canvas/easel/engine/stable"
)

// Registry holds the components a canvas may use. It is a value: a host, a page and each test have
// their own. It must not be changed while canvases are being loaded from it.
type Registry struct {
	specs map[string]*Spec // by name and by alias
	names []string         // in the order they were added

	// Plugin finds components that are installed while the program runs, by their full name
	// (plugin:weather@1). An unknown name with this prefix, or any with a nil Plugin, loads and
	// fails when it is reached.
	Plugin func(name string) (Spec, bool)

	// Missing returns why this host cannot offer something that a component requires, see
	// [Requirer], and nil if it can. A nil Missing means that nothing is missing.
	Missing func(requirement string) error

	// Host reports that the program that runs the canvases has the tools of a host. Validate then
	// does not list the components that need one.
	Host bool
}

// PluginPrefix begins the component name of a plugin.
const PluginPrefix = "plugin:"

// NewRegistry returns a registry of the given components. It fails on a name that is taken.
func NewRegistry(specs ...Spec) (*Registry, error) {
	r := &Registry{specs: make(map[string]*Spec, 2*len(specs))}
	for _, s := range specs {
		if err := r.Add(s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Add adds a component. A name or alias that is taken is an error.
func (r *Registry) Add(s Spec) error {
	for _, name := range append([]string{s.Name}, s.Aliases...) {
		if old, ok := r.specs[name]; ok {
			return fmt.Errorf("component %q: the name is taken by %s", name, old.Name)
		}
	}
	r.specs[s.Name] = &s
	if s.AnyCase {
		r.specs[strings.ToLower(s.Name)] = &s
	}
	for _, a := range s.Aliases {
		r.specs[a] = &s
	}
	r.names = append(r.names, s.Name)
	return nil
}

// Lookup finds a component by name or alias. The error lists the available names.
func (r *Registry) Lookup(name string) (*Spec, error) {
	if s, ok := r.specs[name]; ok {
		return s, nil
	}
	if s, ok := r.specs[strings.ToLower(name)]; ok && s.AnyCase {
		return s, nil
	}
	if strings.HasPrefix(name, PluginPrefix) {
		return r.plugin(name), nil
	}
	names := r.Names()
	meant := ""
	if n, ok := nearest.Match(name, names); ok {
		meant = ", did you mean " + n + "?"
	}
	return nil, fmt.Errorf("%w %q%s; known are %s", ErrUnknownComponent, brief(name), meant, strings.Join(names, ", "))
}

// renamed returns the present name of a component whose earlier name this is, and "" for any other.
func (r *Registry) renamed(name string) string {
	if s, ok := r.specs[name]; ok && s.Renamed && s.Name != name {
		return s.Name
	}
	return ""
}

// upgradeParams brings the params of an object with an earlier component_name to those in use now.
func (r *Registry) upgradeParams(obj Value) Value {
	name, params := obj.Get("component_name").Str(), obj.Get("params")
	if s, ok := r.specs[name]; ok && s.Name != name && s.Upgrade != nil && params.Kind() == KindObject {
		return obj.With("params", s.Upgrade(name, params))
	}
	return obj
}

func (r *Registry) plugin(name string) *Spec {
	if r.Plugin != nil {
		if s, ok := r.Plugin(name); ok {
			return &s
		}
	}
	// Providers refuse functions with : or @ or a point in their names.
	function, _, _ := strings.Cut(strings.TrimPrefix(name, PluginPrefix), "@")
	function = strings.ReplaceAll(function, ".", "_")
	return &Spec{
		Name: name, Doc: "A plugin that is not installed.", Retries: true,
		Missing: "the plugin is not installed", New: func() Component { return absent(name) },
		Tool: &ToolSpec{Function: function, Description: "A plugin that is not installed.", Result: "content"},
	}
}

// absent replaces a plugin that is not installed.
type absent string

// Run fails.
func (a absent) Run(context.Context, *Call) error {
	return fmt.Errorf("%s: the plugin is not installed: %w", string(a), ErrNoPort)
}

// Names lists the components, hidden ones left out, in alphabetical order.
func (r *Registry) Names() []string {
	var names []string
	for _, n := range r.names {
		if !r.specs[n].Hidden {
			names = append(names, n)
		}
	}
	return stable.Strings(names)
}

// Specs lists the components in the order they were added, hidden ones left out.
func (r *Registry) Specs() []*Spec {
	var specs []*Spec
	for _, n := range r.names {
		if s := r.specs[n]; !s.Hidden {
			specs = append(specs, s)
		}
	}
	return specs
}

// Clone returns a copy that can be changed by itself.
func (r *Registry) Clone() *Registry {
	c := *r
	c.specs, c.names = maps.Clone(r.specs), slices.Clone(r.names)
	return &c
}
