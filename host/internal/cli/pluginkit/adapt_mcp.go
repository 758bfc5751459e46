package pluginkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Adapted is a plugin made of a foreign module.
type Adapted struct {
	Name string
	Wasm []byte
}

// mcpExports are the exports of a module with MCP tools.
type mcpExports struct {
	list, call string
	input      contract.Form
	question   string // what list is called with
}

// mcpVersions are the interfaces of hyper-mcp, the current one first.
var mcpVersions = []mcpExports{
	{"list_tools", "call_tool", contract.FormMCP, `{"context":{"id":"adapt","_meta":{}}}`},
	{"describe", "call", contract.FormMCP1, ""},
}

// AdaptMCP makes a plugin of each tool of a module that exports MCP tools, as those of hyper-mcp
// do, or of the one that tool names. The module is asked for its tools without any permission.
func AdaptMCP(ctx context.Context, h *plugin.Host, wasm []byte, a Adaption, tool string) (out []Adapted, err error) {
	shape, err := foreign(wasm)
	if err != nil {
		return nil, err
	}
	exports, err := findMCP(shape)
	if err != nil {
		return nil, err
	}
	tools, err := listTools(ctx, h, wasm, exports)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", exports.list, err)
	}
	var names []string
	for _, t := range tools {
		name := t.Get("name").Str()
		names = append(names, name)
		if tool != "" && tool != name {
			continue
		}
		one := a
		one.Entry = contract.Entry{Export: exports.call, Input: exports.input, Output: contract.FormMCP, Tool: name}
		if tool == "" && len(tools) > 1 {
			one.Name += "-" + PluginName(name)
		}
		if text := t.Get("description").Str(); text != "" {
			one.Description = text
		}
		adapted, err := one.write(wasm, shape, t.Get("inputSchema").With("type", engine.String("object")))
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", name, err)
		}
		out = append(out, Adapted{one.Name, adapted})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no tool %q; the module has %s", tool, strings.Join(names, ", "))
	}
	return out, nil
}

// foreign reads the shape of a module without manifest.
func foreign(wasm []byte) (meter.Shape, error) {
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return shape, err
	}
	_, found, err := contract.Section(wasm, contract.ManifestSection)
	if err == nil && found {
		err = errors.New("the module has a manifest already; `easel plugin inspect` shows it")
	}
	if err == nil {
		err = checkLinks(shape)
	}
	return shape, err
}

func findMCP(shape meter.Shape) (mcpExports, error) {
	callable := map[string]bool{}
	for _, name := range entries(shape) {
		callable[name] = true
	}
	for _, v := range mcpVersions {
		if callable[v.list] && callable[v.call] {
			return v, nil
		}
	}
	return mcpExports{}, fmt.Errorf("no exports list_tools and call_tool, or describe and call; the module exports %s",
		functions(shape))
}

// listTools lists the tools of a module.
func listTools(ctx context.Context, h *plugin.Host, wasm []byte, exports mcpExports) (tools []engine.Value, err error) {
	stand := &contract.Manifest{
		ABI: contract.ABI, Name: "unpacked", Version: "0.0.0", Description: "A module before it is adapted.",
		Entry: &contract.Entry{Export: exports.list},
	}
	m, err := h.Load(ctx, wasm, plugin.LoadOptions{Manifest: stand})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	res, err := m.Call(ctx, plugin.CallRequest{
		Export: exports.list, Input: []byte(exports.question), Grant: &contract.Permissions{},
	})
	if err != nil {
		return nil, err
	}
	v, err := engine.ParseJSON(res.Output)
	if err != nil {
		return nil, err
	}
	for _, t := range v.Get("tools").Elements() {
		if t.Get("name").Str() == "" {
			return nil, errors.New("a tool has no name")
		}
		tools = append(tools, t)
	}
	if len(tools) == 0 {
		return nil, errors.New("the module lists no tools")
	}
	return tools, nil
}

// write puts a manifest with these arguments into the module.
func (a *Adaption) write(wasm []byte, shape meter.Shape, arguments engine.Value) ([]byte, error) {
	m, err := a.manifest(shape, arguments)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return contract.WithSection(wasm, contract.ManifestSection, raw)
}

// PluginName makes the name of a plugin of any text.
func PluginName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	return name
}
