package httptool

import (
	"slices"
	"strings"
	"unicode"
)

// deepest is the depth to which schemas and references of an OpenAPI document are followed; below
// it anything is allowed. It ends cyclic references.
const deepest = 12

// mostSchemas is the maximum number of schemas of a document that are read for one operation.
const mostSchemas = 10_000

// resolve follows a reference inside the document.
func (o *OpenAPI) resolve(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	ref, ok := m["$ref"].(string)
	if !ok {
		return v
	}
	path, local := strings.CutPrefix(ref, "#/")
	if !local || depth > deepest {
		return nil
	}
	var at any = o.root
	for _, step := range strings.Split(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		inner, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = inner[step]
	}
	return o.resolve(at, depth+1)
}

// kept are the keywords of JSON Schema that manifests support, with the same meaning in OpenAPI.
var kept = []string{"type", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}

// schema returns a schema of the document in the form of manifests: without references, allOf
// merged. Where a value may have several forms (oneOf, anyOf), any value is allowed.
func (o *OpenAPI) schema(v any, depth int) map[string]any {
	out := map[string]any{}
	from, _ := o.resolve(v, 0).(map[string]any)
	if from == nil || depth > deepest || o.schemas > mostSchemas {
		return out
	}
	o.schemas++
	for _, part := range elements(from["allOf"]) {
		merge(out, o.schema(part, depth+1))
	}
	for _, name := range kept {
		if value, ok := from[name]; ok {
			out[name] = value
		}
	}
	if nullable, _ := from["nullable"].(bool); nullable {
		if kind, ok := out["type"].(string); ok {
			out["type"] = []any{kind, "null"}
		}
	}
	if text, ok := from["description"].(string); ok {
		out["description"] = plainText(text, 1000)
	}
	if items, ok := from["items"]; ok {
		out["items"] = o.schema(items, depth+1)
	}
	own := map[string]any{}
	for name, property := range member(from, "properties") {
		own[name] = o.schema(property, depth+1)
	}
	if len(own) > 0 {
		merge(out, map[string]any{"properties": own})
	}
	if required := names(from["required"]); len(required) > 0 {
		merge(out, map[string]any{"required": required})
	}
	return out
}

// merge adds the members of b to a; properties and required are joined.
func merge(a, b map[string]any) {
	for name, v := range b {
		switch name {
		case "properties":
			all, _ := a[name].(map[string]any)
			if all == nil {
				all = map[string]any{}
			}
			for k, p := range v.(map[string]any) {
				all[k] = p
			}
			a[name] = all
		case "required":
			list := append(names(a[name]), names(v)...)
			slices.Sort(list)
			a[name] = slices.Compact(list)
		default:
			a[name] = v
		}
	}
}

// names returns the strings of a list.
func names(v any) []string {
	if list, ok := v.([]string); ok {
		return slices.Clone(list)
	}
	var out []string
	for _, e := range elements(v) {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// member returns a member that is an object; nil otherwise.
func member(m map[string]any, name string) map[string]any {
	out, _ := m[name].(map[string]any)
	return out
}

// snake returns a name in lower case with _ between its words, from findPetsByStatus, X-Api-Key or
// filter[name].
func snake(name string) string {
	var b strings.Builder
	lower := false // the previous character is a lower-case letter or a digit
	for _, r := range name {
		switch {
		case unicode.IsUpper(r) && r < unicode.MaxASCII:
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
			lower = false
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			lower = true
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "_") {
				b.WriteByte('_')
			}
			lower = false
		}
	}
	out := strings.Trim(b.String(), "_")
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "arg_" + out
	}
	return out
}

// maxToolName is the maximum length of a plugin's name.
const maxToolName = 63

// toolName returns the name of a plugin for an operation.
func toolName(id string) string {
	name := snake(id)
	if len(name) > maxToolName {
		name = strings.TrimRight(name[:maxToolName], "_")
	}
	return name
}
