package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// CheckOutputs compares the outputs of a finished node with the declarations of its component. It
// names each output that is not declared or is of another kind; null fits every kind. Members that
// begin with _ belong to the engine, outputs that the canvas declares for the node are its own, and
// a default value for errors is in the output result whatever the component declares.
func CheckOutputs(spec *engine.Spec, params, outputs engine.Value) []string {
	var wrong []string
	for name, v := range outputs.Fields() {
		if strings.HasPrefix(name, "_") || name == "result" && engine.Equal(v, params.Get("exception_default_value")) {
			continue
		}
		i := slices.IndexFunc(spec.Outputs, func(f engine.Field) bool { return f.Name == name })
		if i < 0 {
			i = slices.IndexFunc(spec.Outputs, func(f engine.Field) bool { return f.Name == "*" })
		}
		_, own := params.Get("outputs").Lookup(name)
		switch {
		case i < 0 && !own:
			wrong = append(wrong, fmt.Sprintf("%s: output %q is not declared", spec.Name, name))
		case i >= 0 && !spec.Outputs[i].Accepts(v.Kind()):
			wrong = append(wrong, fmt.Sprintf("%s: output %q is a %s; declared is %s: %s",
				spec.Name, name, v.Kind(), spec.Outputs[i].Type, short(v)))
		}
	}
	return wrong
}
