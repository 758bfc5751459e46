package v2

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
)

// ownSchemas are the schemas of types that do not say by themselves what JSON they are.
var ownSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[engine.Value](): {Description: "any JSON value"},
	reflect.TypeFor[anyJSON]():      {},
	reflect.TypeFor[object]():       {Type: "object", AdditionalProperties: &jsonschema.Schema{}},
	reflect.TypeFor[objects](): {
		Types: []string{"null", "array"},
		Items: &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}},
	},
	reflect.TypeFor[document](): {Type: "object", AdditionalProperties: &jsonschema.Schema{}},
}

// Members of bodies that are read as they come.
type (
	anyJSON  struct{ engine.Value }
	object   struct{ engine.Value }
	objects  struct{ engine.Value }
	document []byte
)

// schemaOfType is the JSON Schema of a Go type that is sent or read as JSON.
func schemaOfType(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: ownSchemas})
	if err != nil {
		panic("openapi: " + err.Error()) // a type of ours that no test has met
	}
	return s
}

// specification describes operations, OpenAPI 3.1.
func specification(operations []operation) ([]byte, error) {
	paths := map[string]map[string]any{}
	for i := range operations {
		op := &operations[i]
		if paths[op.path] == nil {
			paths[op.path] = map[string]any{}
		}
		paths[op.path][strings.ToLower(op.method)] = op.describe()
	}
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "easel", "version": "2", "description": "Agent canvases: documents, runs and their events.",
		},
		"paths": paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{
				"key": map[string]any{"type": "http", "scheme": "bearer"},
				"login": map[string]any{
					"type": "apiKey", "in": "cookie", "name": api.LoginCookie,
					"description": "A login of the page at /login, for requests of the host's own page: they send " +
						api.PageHeader + ": " + api.PageItself +
						" and no foreign Origin. Requests that change something also send " + api.CSRFHeader +
						", which GET /api/v2/me returns.",
				},
			},
			"schemas": map[string]any{"Error": schemaOfType(reflect.TypeFor[errorBody]())},
		},
		"security": []any{map[string]any{"key": []any{}}, map[string]any{"login": []any{}}},
	}, "", " ")
}

func (op *operation) describe() map[string]any {
	summary, more, _ := strings.Cut(op.about, ". ")
	out := map[string]any{
		"operationId": op.name, "summary": strings.TrimSuffix(summary, "."), "responses": op.responses(),
	}
	if op.scope != "" {
		more = strings.TrimSpace(more + " Scope: " + op.scope + ".")
	}
	if more != "" {
		out["description"] = more
	}
	if op.need == api.NeedNone {
		out["security"] = []any{}
	}
	if op.in != nil {
		out["requestBody"] = map[string]any{"content": jsonContent(op.in)}
	}
	if op.form != nil {
		out["requestBody"] = map[string]any{
			"content": map[string]any{"multipart/form-data": map[string]any{"schema": op.form}},
		}
	}
	var params []any
	for _, p := range op.params {
		param := map[string]any{
			"name": p.name, "in": p.in, "required": p.in == "path", "schema": map[string]any{"type": p.kind},
		}
		if p.about != "" {
			param["description"] = p.about
		}
		params = append(params, param)
	}
	if params != nil {
		out["parameters"] = params
	}
	return out
}

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func (op *operation) responses() map[string]any {
	good := map[string]any{"description": http.StatusText(op.status)}
	if op.out != nil {
		good["content"] = jsonContent(op.out)
	}
	if op.media != "" {
		good["content"] = map[string]any{
			op.media: map[string]any{"schema": map[string]any{"type": "string", "format": "binary"}},
		}
	}
	out := map[string]any{
		strconv.Itoa(op.status): good,
		"default": map[string]any{
			"description": "a failure", "content": jsonContent(map[string]any{"$ref": "#/components/schemas/Error"}),
		},
	}
	if op.stream {
		events := map[string]any{"text/event-stream": map[string]any{"schema": map[string]any{"type": "string"}}}
		if op.out == nil {
			good["content"] = events
		} else {
			out["200"] = map[string]any{"description": "events", "content": events}
		}
	}
	return out
}

// rawJSON is an answer that is JSON already.
type rawJSON []byte

func (rawJSON) schema() *jsonschema.Schema { return schemaOfType(reflect.TypeFor[map[string]any]()) }

func (j rawJSON) Write(r *api.Request) error {
	return api.Raw(http.StatusOK, "application/json; charset=utf-8", j).Write(r)
}

// describeAPI is the operation that answers the specification.
func describeAPI(spec func() ([]byte, error)) operation {
	return handle(operation{
		method: "GET", path: "/api/v2/openapi.json", body: api.BodyNone, need: api.NeedNone,
		name:  "openapi",
		about: "Get this OpenAPI document.",
	}, func(context.Context, struct{}) (rawJSON, error) { return spec() })
}
