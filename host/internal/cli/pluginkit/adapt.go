package pluginkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Adaption says how a module that knows nothing of the plugin contract becomes a plugin.
type Adaption struct {
	Name, Version, Description string
	// Entry is the export to call, with the forms of its input and output. An empty Export is the
	// only one that can be called.
	Entry contract.Entry
	Hosts []string // that it may send requests to, if it does
}

// Adapt puts a manifest into a module, such as an Extism plugin.
func Adapt(wasm []byte, a Adaption) ([]byte, error) {
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	_, found, err := contract.Section(wasm, contract.ManifestSection)
	if err != nil {
		return nil, err
	}
	if found {
		return nil, errors.New("the module has a manifest already; `easel plugin inspect` shows it")
	}
	entries := entries(shape)
	switch {
	case a.Entry.Export == "" && len(entries) == 1:
		a.Entry.Export = entries[0]
	case a.Entry.Export == "" && len(entries) > 1:
		return nil, fmt.Errorf("several exports can be called; choose one with --entry: %s",
			strings.Join(entries, ", "))
	case !slices.Contains(entries, a.Entry.Export):
		return nil, fmt.Errorf("no export %q without arguments; those that can be called: %s", a.Entry.Export,
			strings.Join(entries, ", "))
	}
	m, err := a.manifest(shape)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return contract.WithSection(wasm, contract.ManifestSection, raw)
}

// entries are the exported functions without arguments, in the order of the file; those that begin
// with _ belong to the runtime of a language.
func entries(shape meter.Shape) (names []string) {
	for _, e := range shape.Exports {
		callable := e.Kind == meter.KindFunc && len(e.Type.Params) == 0 && len(e.Type.Results) <= 1
		if callable && !strings.HasPrefix(e.Name, "_") {
			names = append(names, e.Name)
		}
	}
	return names
}

func (a *Adaption) manifest(shape meter.Shape) (*contract.Manifest, error) {
	object := engine.Object
	text := object("type", "string")
	if a.Entry.Input == contract.FormBytes {
		text = text.With("description", engine.String("bytes in base64"))
	}
	input := object("type", "object")
	if a.Entry.Input != contract.FormJSON {
		input = object("type", "object", "properties", object(contract.EntryInput, text))
	}
	output := object("type", "object", "properties", object(contract.EntryOutput, object()))
	if a.Entry.Output != contract.FormJSON {
		output = object("type", "object", "properties", object(contract.EntryOutput, object("type", "string")))
	}
	v := object("abi", contract.ABI, "name", a.Name, "version", a.Version, "description", a.Description,
		"params", input, "arguments", input, "outputs", output)
	v = v.With("entry", object("export", a.Entry.Export, "input", string(a.Entry.Input),
		"output", string(a.Entry.Output)))
	if len(a.Hosts) > 0 {
		if !sendsRequests(shape) {
			return nil, errors.New("the module imports no http_request; leave --allow-http out")
		}
		v = v.With("permissions", object("http", object("hosts", engine.Strings(a.Hosts...),
			"methods", engine.Strings("*"), "reason", "the plugin sends requests to these hosts")))
	}
	return contract.ReadManifest(v)
}

// sendsRequests reports whether an Extism plugin imports what sends requests.
func sendsRequests(shape meter.Shape) bool {
	return slices.ContainsFunc(shape.Imports, func(i meter.Import) bool { return i.Name == "http_request" })
}
