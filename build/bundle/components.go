package main

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// components writes the descriptions of the components as the module returns them: the page draws
// cards from them while the module starts. It returns the file's name.
func (b bundler) components() (string, error) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return "", err
	}
	var list []engine.Value
	for _, spec := range registry.Specs() {
		list = append(list, spec.Describe())
	}
	return b.store("components.json", engine.List(list...).AppendJSON(nil))
}
