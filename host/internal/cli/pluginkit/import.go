package pluginkit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/plugins/contract"
)

var (
	versionLine  = regexp.MustCompile(`(?m)^\s*_version_\s*(?::[^=\n]*)?=\s*["']([^"'\n]+)["']`)
	metadataLine = regexp.MustCompile(`(?m)^\s*def\s+get_metadata\b`)
	returnLine   = regexp.MustCompile(`(?m)^\s*return\s*(\{)`)
)

// Import converts the metadata of a RAGFlow LLMToolPlugin into a manifest. The source is Python,
// from which the value that get_metadata returns is read, or the same value as JSON. The code of
// the plugin is not converted.
func Import(source string) (map[string]any, error) {
	version, block := "1.0.0", source
	if !strings.HasPrefix(strings.TrimSpace(source), "{") {
		from := metadataLine.FindStringIndex(source)
		if from == nil {
			return nil, errors.New("`def get_metadata` not found")
		}
		at := returnLine.FindStringSubmatchIndex(source[from[1]:])
		if at == nil {
			return nil, errors.New("`return {` not found in get_metadata")
		}
		block = source[from[1]+at[2]:]
		if v := versionLine.FindStringSubmatch(source); v != nil {
			version = v[1]
		}
	}
	read, err := readLiteral(block)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	data, ok := read.(map[string]any)
	if !ok || text(data, "name") == "" {
		return nil, errors.New("metadata: name is missing")
	}
	arguments, err := importedArguments(data["parameters"])
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	manifest := map[string]any{
		"abi": contract.ABI, "name": importedName(text(data, "name")), "version": importedVersion(version),
		"description": cmp.Or(text(data, "description"), "Imported from "+text(data, "name")+"."),
		"category":    "tools", "arguments": arguments,
		// A RAGFlow tool returns one string.
		"outputs": map[string]any{
			"type":       "object",
			"properties": map[string]any{"text": map[string]any{"type": "string"}},
			"required":   []string{"text"},
		},
	}
	if name := text(data, "displayName"); name != "" {
		manifest["display"] = map[string]string{"en": name}
	}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	_, err = contract.ParseManifest(raw)
	return manifest, err
}

// text returns a member that is a string, or "".
func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

var notInNames = regexp.MustCompile(`[^a-z0-9_-]+`)

// importedName replaces the characters that names in manifests cannot have.
func importedName(name string) string {
	name = notInNames.ReplaceAllString(strings.ToLower(name), "_")
	name = strings.TrimLeft(name, "_-0123456789")
	return name[:min(len(name), 63)]
}

// importedVersion pads a version to three numbers.
func importedVersion(v string) string {
	parts := append(strings.Split(v, "."), "0", "0")
	return strings.Join(parts[:max(3, len(parts)-2)], ".")
}

// typesOf maps the names of types in metadata to types of JSON Schema.
var typesOf = map[string]string{
	"": "string", "string": "string", "str": "string", "number": "number", "float": "number",
	"integer": "integer", "int": "integer", "boolean": "boolean", "bool": "boolean",
	"array": "array", "list": "array", "object": "object", "dict": "object",
}

func importedArguments(parameters any) (map[string]any, error) {
	params, ok := parameters.(map[string]any)
	if parameters != nil && !ok {
		return nil, errors.New("parameters: expected an object of parameters by name")
	}
	props, required := map[string]any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		p, ok := params[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("parameters.%s: expected an object with type and description", name)
		}
		kind, known := typesOf[strings.ToLower(text(p, "type"))]
		if !known {
			return nil, fmt.Errorf("parameters.%s: unknown type %q (one of string, number, integer, boolean, array, object)",
				name, text(p, "type"))
		}
		prop := map[string]any{"type": kind, "description": text(p, "description")}
		for _, kept := range []string{"enum", "default"} {
			if v, given := p[kept]; given && v != nil {
				prop[kept] = v
			}
		}
		props[name] = prop
		if p["required"] == true {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required}, nil
}
