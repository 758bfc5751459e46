package sdk

import "fmt"

// Component is one of several components of a file: a separate node and tool, which canvases name
// plugin:FILE.NAME@MAJOR. The manifest of the file has the rest for all of them, such as
// permissions and settings. The component that has the name of its file is named like the only one,
// plugin:FILE@MAJOR.
type Component struct {
	Name        string            `json:"name"` // lower case: forecast
	Display     map[string]string `json:"display,omitempty"`
	Category    string            `json:"category,omitempty"`
	Description string            `json:"description"`
	Params      *Schema           `json:"params,omitempty"`
	Arguments   *Schema           `json:"arguments,omitempty"`
	Outputs     *Schema           `json:"outputs,omitempty"`
	Streams     bool              `json:"streams,omitempty"`
	Idempotent  bool              `json:"idempotent,omitempty"`
	Preview     string            `json:"preview,omitempty"`
	Trigger     string            `json:"trigger,omitempty"`

	function *function
}

// Runs returns the component with the function that runs it; params, arguments and outputs come
// from its types, as with [Register].
func Runs[P, A, O any](about Component, run func(c *Call, params P, arguments A) (O, error)) Component {
	about.Params, about.Arguments, about.Outputs = SchemaOf[P](), SchemaOf[A](), SchemaOf[O]()
	about.function = functionOf(run)
	return about
}

// Checks returns the component with a test of its params, as [Check] adds it to a plugin. It comes
// after [Runs].
func Checks[P any](about Component, check func(params P) error) Component {
	about.function.check = checkOf(check)
	return about
}

// RegisterAll makes a file with several components of this program. It is called once, in an init
// function:
//
//	sdk.RegisterAll(manifest,
//		sdk.Runs(sdk.Component{Name: "now", Description: "Current weather."}, now),
//		sdk.Runs(sdk.Component{Name: "forecast", Description: "The next days."}, forecast))
func RegisterAll(m Manifest, components ...Component) {
	m.ABI, m.Components = abi, components
	registered = &plugin{manifest: m, functions: map[string]*function{}}
	for _, c := range components {
		if c.function == nil {
			panic(fmt.Sprintf("sdk: component %q has no function; make it with Runs", c.Name))
		}
		registered.functions[c.Name] = c.function
	}
}

// called returns the function that a message is for.
func (p *plugin) called(in input) (*function, error) {
	if f := p.functions[in.Call.Component]; f != nil {
		return f, nil
	}
	if f := p.functions[""]; f != nil {
		return f, nil
	}
	return nil, Fail(NotFound, "component %q is not one of this plugin", in.Call.Component)
}
