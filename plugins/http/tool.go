// Package httptool creates plugins from data: a spec describes the requests of a tool, the parts of
// the responses that it uses and its outputs, and one small module, the interpreter, runs
// it in the sandbox of plugins.
//
// A tool is that module with two more sections, the manifest and the spec (easel.http). Its
// language is described in README.md, and spec.schema.json is for editors. [Parse] checks a tool
// strictly: a template with an unknown argument is an error with its position, not
// an empty string at run time.
//
// The package does not depend on hosts and sandboxes, which pack and load the tools.
package httptool

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
)

//go:embed guest/interpreter.wasm
var interpreter []byte

//go:embed spec.schema.json
var schema []byte

// Interpreter returns a copy of the module that runs specs.
func Interpreter() []byte { return bytes.Clone(interpreter) }

// Schema returns the JSON Schema of a spec, for editors.
func Schema() []byte { return bytes.Clone(schema) }

// SectionName is the custom section with the spec.
const SectionName = "easel.http"

// Tool is a checked pair of a manifest and a spec.
type Tool struct {
	Manifest json.RawMessage
	Spec     json.RawMessage
	about    manifest
	base     string
}

// Name returns the name in the manifest.
func (t *Tool) Name() string { return t.about.Name }

// BaseParam returns the param that replaces the address of the service; the interpreter
// sends every request to its host.
func (t *Tool) BaseParam() string { return t.base }

// manifest is the part of a manifest that specs refer to.
type manifest struct {
	Name        string
	Description string
	Params      object
	Arguments   object
	Outputs     object
	Permissions struct {
		HTTP *struct {
			Hosts, Methods []string
		}
		Secrets map[string]struct{ Hosts []string }
	}
}

// object is the part of a JSON Schema of type object that specs refer to.
type object struct {
	Properties map[string]struct {
		Default json.RawMessage
	}
}

// Parse checks a spec against the manifest it belongs to. The manifest itself is checked by the
// host that loads it.
func Parse(manifestJSON, specJSON []byte) (*Tool, error) {
	t := &Tool{Manifest: manifestJSON, Spec: specJSON}
	if err := json.Unmarshal(manifestJSON, &t.about); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	var s spec
	d := json.NewDecoder(bytes.NewReader(specJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("spec: data after the closing brace")
	}
	if err := s.check(&t.about); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	t.base = s.BaseParam
	if t.base == "" {
		t.base = "base_url"
	}
	return t, nil
}

// Section returns the content of the section easel.http: the spec with the defaults of the
// manifest, which the interpreter does not read.
func (t *Tool) Section() ([]byte, error) {
	defaults, err := json.Marshal(map[string]any{
		"params": t.about.Params.defaults(), "arguments": t.about.Arguments.defaults(),
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(`{"defaults":`)
	out.Write(defaults)
	var body bytes.Buffer
	if err := json.Compact(&body, t.Spec); err != nil {
		return nil, err
	}
	if rest := body.Bytes()[1:]; len(rest) > 1 { // keeps the order of members, which equals that of the queries
		out.WriteByte(',')
		out.Write(rest)
	} else {
		out.Write(rest)
	}
	return out.Bytes(), nil
}

func (o object) defaults() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, p := range o.Properties {
		if len(p.Default) > 0 {
			out[name] = p.Default
		}
	}
	return out
}
