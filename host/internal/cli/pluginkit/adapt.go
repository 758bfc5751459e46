package pluginkit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Adaption describes how a module without the plugin contract becomes a plugin.
type Adaption struct {
	Name, Version, Description string
	// Entry is the export to call, with the forms of its input and output. An empty Export is the
	// only one that can be called.
	Entry    contract.Entry
	Hosts    []string // that it may send requests to, if it does
	Private  bool     // Hosts may have private addresses
	Settings []string // names of what it reads with config_get
	Config   []string // settings with their defaults, as NAME=VALUE
	Limits   contract.Limits
}

// Adapt puts a manifest into a module, such as an Extism plugin.
func Adapt(wasm []byte, a Adaption) ([]byte, error) {
	shape, err := foreign(wasm)
	if err != nil {
		return nil, err
	}
	entries, program := entries(shape), isProgram(shape)
	if program && (a.Entry.Export == contract.CommandExport || a.Entry.Export == "" && len(entries) == 0) {
		a.Entry.Export = contract.CommandExport
		return a.write(wasm, shape, engine.Null)
	}
	if program && len(entries) > 0 {
		entries = append(entries, contract.CommandExport)
	}
	switch {
	case len(entries) == 0:
		return nil, fmt.Errorf("no export can be called: a plugin calls a function without arguments whose result is "+
			"i32 or nothing; the module exports %s", functions(shape))
	case a.Entry.Export == "" && len(entries) == 1:
		a.Entry.Export = entries[0]
	case a.Entry.Export == "" && len(entries) > 1:
		return nil, fmt.Errorf("several exports can be called; choose one with --entry: %s",
			strings.Join(entries, ", "))
	case !slices.Contains(entries, a.Entry.Export):
		return nil, fmt.Errorf("no export %q without arguments; those that can be called: %s", a.Entry.Export,
			strings.Join(entries, ", "))
	}
	return a.write(wasm, shape, engine.Null)
}

// ofRuntimes are exports that start the runtime of a language; names that begin with _ do as well.
var ofRuntimes = []string{"hs_init", "wizer.initialize"}

// entries are the exported functions without arguments whose result is nothing or a status, in the
// order of the file.
func entries(shape meter.Shape) (names []string) {
	for _, e := range shape.Exports {
		status := len(e.Type.Results) == 0 || len(e.Type.Results) == 1 && e.Type.Results[0] == api.ValueTypeI32
		callable := e.Kind == meter.KindFunc && len(e.Type.Params) == 0 && status
		if callable && !strings.HasPrefix(e.Name, "_") && !slices.Contains(ofRuntimes, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// isProgram reports whether a module is a WASI program, which a plugin calls as a command.
func isProgram(shape meter.Shape) bool {
	t, ok := shape.Func(contract.CommandExport)
	return ok && len(t.Params)+len(t.Results) == 0
}

// functions lists the exported functions of a module with their types.
func functions(shape meter.Shape) string {
	var list []string
	for _, e := range shape.Exports {
		if e.Kind == meter.KindFunc {
			text := e.Name + "(" + types(e.Type.Params) + ")"
			if len(e.Type.Results) > 0 {
				text += " -> " + types(e.Type.Results)
			}
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return "no functions"
	}
	return strings.Join(list, ", ")
}

func types(list []byte) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, ", ")
}

// manifest describes the plugin. arguments is the schema of what an MCP tool takes; null for other
// entries.
func (a *Adaption) manifest(shape meter.Shape, arguments engine.Value) (*contract.Manifest, error) {
	object := engine.Object
	text, result := object("type", "string"), object("type", "string")
	switch {
	case a.Entry.Input == contract.FormBytes:
		text = text.With("description", engine.String("bytes in base64"))
	case a.Entry.Export == contract.CommandExport:
		text = text.With("description", engine.String("standard input"))
		result = result.With("description", engine.String("standard output"))
	}
	input := object("type", "object")
	if a.Entry.Input != contract.FormJSON {
		input = object("type", "object", "properties", object(contract.EntryInput, text))
	}
	output := object("type", "object", "properties", object(contract.EntryOutput, object()))
	if a.Entry.Output != contract.FormJSON {
		output = object("type", "object", "properties", object(contract.EntryOutput, result))
	}
	v := object("abi", contract.ABI, "name", a.Name, "version", a.Version, "description", a.Description)
	if arguments.IsNull() {
		v = v.With("params", input).With("arguments", input).With("outputs", output)
	} else {
		v = v.With("arguments", arguments).With("outputs", object("type", "object", "properties", object(
			"text", object("type", "string"), "content", object("type", "array"), "structured", object())))
	}
	entry := object("export", a.Entry.Export, "input", string(a.Entry.Input), "output", string(a.Entry.Output))
	if a.Entry.Tool != "" {
		entry = entry.With("tool", engine.String(a.Entry.Tool))
	}
	v = v.With("entry", entry)
	if len(a.Settings)+len(a.Config) > 0 {
		settings := object()
		for _, name := range a.Settings {
			settings = settings.With(name, object("type", "string"))
		}
		for _, pair := range a.Config {
			name, value, found := strings.Cut(pair, "=")
			if !found || name == "" {
				return nil, fmt.Errorf("--config %s: expected NAME=VALUE", pair)
			}
			settings = settings.With(name, object("type", "string", "default", value))
		}
		v = v.With("settings", object("type", "object", "properties", settings))
	}
	if a.Private && len(a.Hosts) == 0 {
		return nil, errors.New("--allow-private needs --allow-http HOST, which names the private addresses")
	}
	if len(a.Hosts) > 0 {
		if !sendsRequests(shape) {
			return nil, errors.New("the module imports no http_request; leave --allow-http out")
		}
		http := object("hosts", engine.Strings(a.Hosts...), "methods", engine.Strings("*"),
			"reason", "the plugin sends requests to these hosts")
		if a.Private {
			http = http.With("private", engine.Bool(true))
		}
		v = v.With("permissions", object("http", http))
	}
	if a.Limits != (contract.Limits{}) {
		v = v.With("limits", a.Limits.Value())
	}
	return contract.ReadManifest(v)
}

// sendsRequests reports whether an Extism plugin imports what sends requests.
func sendsRequests(shape meter.Shape) bool {
	return slices.ContainsFunc(shape.Imports, func(i meter.Import) bool { return i.Name == "http_request" })
}
