// Package tools contains the built-in tool plugins: one JSON file for each, with the component of a
// canvas that it implements, its manifest and its spec (see plugins/http). They run in the sandbox
// of plugins like any other, with access to the hosts of their manifests only.
package tools

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"github.com/easel-canvas/easel/plugins/contract"
	httptool "github.com/easel-canvas/easel/plugins/http"
)

//go:embed *.json
var files embed.FS

// Tool is a tool plugin with the component it implements.
type Tool struct {
	Component string // component_name of a canvas, such as TavilySearch
	*httptool.Tool
}

// Module returns the plugin file of the tool: the interpreter, followed by the manifest and the
// spec as sections. A server and a page run the same file.
func (t Tool) Module() ([]byte, error) {
	section, err := t.Section()
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name(), err)
	}
	wasm, err := contract.WithSection(httptool.Interpreter(), contract.ManifestSection, t.Manifest)
	if err == nil {
		wasm, err = contract.WithSection(wasm, httptool.SectionName, section)
	}
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name(), err)
	}
	return wasm, nil
}

// All returns the tools by name. The result is shared; do not change it.
func All() ([]Tool, error) { return all() }

var all = sync.OnceValues(func() ([]Tool, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	out := make([]Tool, 0, len(names))
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", name, err)
		}
		out = append(out, t)
	}
	return out, nil
})

func read(raw []byte) (Tool, error) {
	var file struct {
		Component      string
		Manifest, HTTP json.RawMessage
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return Tool{}, err
	}
	t, err := httptool.Parse(file.Manifest, file.HTTP)
	return Tool{Component: file.Component, Tool: t}, err
}
