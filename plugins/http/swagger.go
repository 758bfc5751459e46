package httptool

import (
	"maps"
	"slices"
	"strings"
)

// Swagger 2.0 is read as OpenAPI 3: servers, parameters, bodies, answers and security schemes are
// rewritten, and references to definitions are followed as they are. The libraries for it were
// measured: openapi2conv of kin-openapi adds 9 MB to a program and refuses Slack's document, whose
// items are lists of schemas; libopenapi has no conversion.

const (
	jsonType      = "application/json"
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

// upgradeSwagger returns a document of Swagger 2.0 in the form of OpenAPI 3.
func upgradeSwagger(root map[string]any) map[string]any {
	out := maps.Clone(root)
	out["openapi"] = "3.0.3"
	delete(out, "swagger")
	if host, _ := root["host"].(string); host != "" {
		scheme := "https"
		if schemes := names(root["schemes"]); len(schemes) > 0 && !slices.Contains(schemes, scheme) {
			scheme = schemes[0]
		}
		base, _ := root["basePath"].(string)
		out["servers"] = []any{map[string]any{"url": scheme + "://" + host + strings.TrimSuffix(base, "/")}}
	}
	schemes := map[string]any{}
	for name, v := range member(root, "securityDefinitions") {
		if scheme, ok := v.(map[string]any); ok && scheme["type"] == "basic" {
			v = map[string]any{"type": "http", "scheme": "basic"}
		}
		schemes[name] = v
	}
	out["components"] = map[string]any{"securitySchemes": schemes}
	u := &swagger{doc: &OpenAPI{root: root}, root: root}
	paths := map[string]any{}
	for path, v := range member(root, "paths") {
		if item, ok := u.doc.resolve(v, 0).(map[string]any); ok {
			paths[path] = u.item(item)
		}
	}
	out["paths"] = paths
	return out
}

// swagger converts the operations of a document.
type swagger struct {
	doc  *OpenAPI // resolves references
	root map[string]any
}

func (u *swagger) item(item map[string]any) map[string]any {
	out := map[string]any{}
	for _, method := range operationMethods {
		op, ok := item[method].(map[string]any)
		if !ok {
			continue
		}
		op = maps.Clone(op)
		op["parameters"] = u.doc.parameters(item["parameters"], op["parameters"])
		u.parameters(op)
		u.responses(op)
		out[method] = op
	}
	return out
}

// types returns the media types of an operation, or of the document.
func (u *swagger) types(op map[string]any, name string) []string {
	for _, from := range []map[string]any{op, u.root} {
		if list := names(from[name]); len(list) > 0 {
			return list
		}
	}
	return nil
}

// parameters adds schemas to the parameters of an operation, and makes its body of those that are
// sent in it.
func (u *swagger) parameters(op map[string]any) {
	var list []any
	fields, required := map[string]any{}, []any{}
	kind := formType
	if consumes := u.types(op, "consumes"); len(consumes) > 0 && !slices.Contains(consumes, formType) &&
		slices.Contains(consumes, multipartType) {
		kind = multipartType
	}
	for _, v := range elements(op["parameters"]) {
		p, _ := v.(map[string]any)
		name, _ := p["name"].(string)
		needed, _ := p["required"].(bool)
		switch p["in"] {
		case "body":
			media := map[string]any{}
			types := u.types(op, "consumes")
			if len(types) == 0 {
				types = []string{jsonType}
			}
			for _, t := range types {
				media[t] = map[string]any{"schema": p["schema"]}
			}
			op["requestBody"] = map[string]any{"content": media, "required": needed}
		case "formData":
			if p["type"] == "file" {
				kind = multipartType
			}
			fields[name] = p
			if needed {
				required = append(required, name)
			}
		default:
			p = maps.Clone(p)
			p["schema"] = p // the type stands in the parameter itself
			list = append(list, p)
		}
	}
	if len(fields) > 0 {
		schema := map[string]any{"type": "object", "properties": fields, "required": required}
		op["requestBody"] = map[string]any{
			"content": map[string]any{kind: map[string]any{"schema": schema}}, "required": len(required) > 0,
		}
	}
	op["parameters"] = list
}

// responses adds the media types of an operation to its responses.
func (u *swagger) responses(op map[string]any) {
	content := map[string]any{}
	for _, t := range u.types(op, "produces") {
		content[t] = map[string]any{}
	}
	out := map[string]any{}
	for code, v := range member(op, "responses") {
		response, _ := u.doc.resolve(v, 0).(map[string]any)
		response = maps.Clone(response)
		if response == nil {
			response = map[string]any{}
		}
		if response["content"] = content; len(content) == 0 && response["schema"] != nil {
			response["content"] = map[string]any{jsonType: map[string]any{}}
		}
		out[code] = response
	}
	op["responses"] = out
}
