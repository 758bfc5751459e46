package contract

import (
	"cmp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// maxComponents bounds the components of one file.
const maxComponents = 64

// maxFunction bounds the name of a function that a model may call, which providers refuse when it
// is longer.
const maxFunction = 64

// shared are the members that a file has for all of its components.
var shared = []string{
	"abi", "version", "license", "min_host", "settings", "state", "permissions", "limits", "requires", "components",
}

// readComponents reads the components of a file. Each becomes a manifest with the members of the
// file, overridden by those of the component; see checkComponents for members that are refused.
func (m *Manifest) readComponents(v engine.Value) error {
	list, file := v.Get("components"), v.Without("components")
	for i := range min(list.Len(), maxComponents) {
		c, err := readManifest(joined(file, list.At(i)))
		if err != nil {
			return err
		}
		c.Component, c.Name = c.Name, m.Name
		if c.Node = m.Name; c.Component != m.Name {
			c.Node += "." + c.Component
		}
		m.Components = append(m.Components, c)
	}
	return nil
}

// checkComponents returns the first problem of the components in v, from which m was read. A page
// checks them in checkComponents of wasm/js/src/plugin/manifest.ts.
func (m *Manifest) checkComponents(v engine.Value) *Error {
	list := v.Get("components")
	if list.IsNull() {
		return nil
	}
	if n := list.Len(); list.Kind() != engine.KindList || n > maxComponents {
		return Errorf(BadManifest, "components: want a list of at most %d, got %s of %d", maxComponents,
			typeName(list), n)
	}
	for i, c := range m.Components {
		own := list.At(i)
		err := c.check()
		switch {
		case own.Kind() != engine.KindObject:
			err = Errorf(BadManifest, "want object, got %s", typeName(own))
		case err != nil:
		case strings.HasPrefix(c.Invoke, "_") || c.Invoke != "" && c.Entry != nil:
			err = Errorf(BadManifest, "export %q: want the name of an exported function, and no entry",
				short(c.Invoke))
		case own.Get("name").IsNull():
			err = Errorf(BadManifest, "name is missing")
		case !isName(c.Component):
			err = Errorf(BadManifest, "name %q: want lower-case letters, digits, - and _, beginning with a letter",
				short(c.Component))
		case len(c.Node) > maxFunction:
			err = Errorf(BadManifest, "name %q: longer than %d characters, as models name it", c.Node, maxFunction)
		case m.Find(c.Component) != c:
			err = Errorf(BadManifest, "name %q: another component has it", c.Component)
		}
		for _, name := range shared {
			if _, has := own.Lookup(name); has {
				err = Errorf(BadManifest, "%s: belongs to the file, for all of its components", name)
			}
		}
		if err != nil {
			return Errorf(err.Code, "components[%d]: %s", i, err.Message)
		}
	}
	return nil
}

// Nodes returns the parts of a file that canvases may use: its components, or the plugin itself.
func (m *Manifest) Nodes() []*Manifest {
	if len(m.Components) == 0 {
		return []*Manifest{m}
	}
	return m.Components
}

// Find returns the component of that name, for "" the one with the name of the file; the plugin
// itself for "" of a file without components, and nil if missing.
func (m *Manifest) Find(component string) *Manifest {
	if component == "" && len(m.Components) == 0 {
		return m
	}
	for _, c := range m.Components {
		if c.Component == cmp.Or(component, m.Name) {
			return c
		}
	}
	return nil
}

// NodeName returns the name of a component in canvases, without the major: weather, or
// weather.forecast for the component forecast of a file with several. The component that has the
// name of its file is named as if it were the only one.
func (m *Manifest) NodeName() string {
	if m.Node == "" {
		return m.Name
	}
	return m.Node
}

// Function returns the name by which a model calls the component.
func (m *Manifest) Function() string { return strings.ReplaceAll(m.NodeName(), ".", "_") }

// SplitRef returns the plugin, the component and the version in a reference of a canvas: weather,
// forecast and 1 for weather.forecast@1. The component of weather@1 is "".
func SplitRef(ref string) (plugin, component, version string) {
	plugin, version, _ = strings.Cut(ref, "@")
	plugin, component, _ = strings.Cut(plugin, ".")
	return plugin, component, version
}

// Named returns the component of a file that a reference of a canvas names: weather@1 or
// weather.forecast@1. Its error has the code NotFound and lists what there is.
func (m *Manifest) Named(ref string) (*Manifest, error) {
	_, component, _ := SplitRef(ref)
	if c := m.Find(component); c != nil {
		return c, nil
	}
	return nil, Errorf(NotFound, "the plugin has no component of that name (it has %s)", m.known()).At(ref, "find")
}

// ByName returns the component of that name of a file with several, and the plugin itself for "" of
// one without. Its error has the code NotFound and lists the components.
func (m *Manifest) ByName(component string) (*Manifest, error) {
	if c := m.Find(component); c != nil && c.Component == component {
		return c, nil
	}
	return nil, Errorf(NotFound, "component %q: want one of %s", component, m.known())
}

// known lists the components as canvases name them.
func (m *Manifest) known() string {
	var names []string
	for _, c := range m.Nodes() {
		names = append(names, cmp.Or(c.Component, c.Name))
	}
	return strings.Join(names, ", ")
}

// CheckNames refuses a component with the name of a built-in one, which builtIn reports in whatever
// case it is written.
func (m *Manifest) CheckNames(builtIn func(name string) bool) error {
	for _, c := range m.Components {
		if builtIn(strings.ReplaceAll(strings.ReplaceAll(c.Component, "-", ""), "_", "")) {
			return Errorf(BadManifest, "components: %q is the name of a built-in component; choose another",
				c.Component)
		}
	}
	return nil
}

// CheckMessage returns the input of easel_check.
func (m *Manifest) CheckMessage(params engine.Value) []byte {
	message := engine.Object("params", params).AppendJSON(nil)
	if m.Component == "" {
		return message
	}
	return append(message[:len(message)-1], `,"call":{"component":"`+m.Component+`"}}`...)
}

// componentValues writes the components of a file, an empty list for one without.
func (m *Manifest) componentValues() engine.Value {
	list := engine.List()
	for _, c := range m.Components {
		v := c.Value()
		for _, name := range shared {
			v = v.Without(name)
		}
		list = list.Append(v.With("name", engine.String(c.Component)))
	}
	return list
}
