package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/engine"
)

// v2Doc describes a route of our own API.
type v2Doc struct {
	name   string // operationId
	about  string
	in     *jsonschema.Schema // body, nil for none
	out    *jsonschema.Schema // answer, nil for none
	status int                // of the answer; 0 means 200
	query  []string
	stream bool // events are an answer as well
	open   bool // needs no authentication
}

// anyValue stands for values of the engine, which can be any JSON.
var anyValue = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[engine.Value](): {Description: "any JSON value"},
}

// schemaOf is the JSON Schema of a Go type that is sent or read as JSON.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: anyValue})
	if err != nil {
		panic("openapi: " + err.Error()) // a type of ours that no test has met
	}
	return s
}

// openAPI makes the description of /api/v2, OpenAPI 3.1.
func (a *API) openAPI() []byte {
	paths := map[string]map[string]any{}
	for _, r := range ownRoutes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = operation(&r)
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "easel", "version": "2", "description": "Agent canvases: documents, runs and their events."},
		"paths":   paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{
				"key": map[string]any{"type": "http", "scheme": "bearer"},
				"login": map[string]any{
					"type": "apiKey", "in": "cookie", "name": loginCookie,
					"description": "A login of the page at /login, for requests of the host's own page: they send " + pageHeader + ": " + pageItself +
						" and no foreign Origin. Requests that change something also send " + csrfHeader + ", which GET /api/v2/me returns.",
				},
			},
			"schemas": map[string]any{"Error": schemaOf[v2Error]()},
		},
		"security": []any{map[string]any{"key": []any{}}, map[string]any{"login": []any{}}},
	}
	body, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		a.cfg.Logger.Error("openapi", "err", err)
		return []byte("{}")
	}
	return body
}

func operation(r *route) map[string]any {
	d := r.doc
	op := map[string]any{"operationId": d.name, "summary": d.about, "responses": responses(d)}
	if d.open {
		op["security"] = []any{}
	}
	if d.in != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": d.in}}}
	}
	var params []any
	for part := range strings.SplitSeq(r.path, "/") {
		if isParameter(part) {
			params = append(params, parameter(strings.Trim(part, "{}"), "path", "string"))
		}
	}
	for _, q := range d.query {
		kind := "string"
		if strings.HasPrefix(q, "page") {
			kind = "integer"
		}
		params = append(params, parameter(q, "query", kind))
	}
	if d.name == "runEvents" {
		params = append(params, parameter("Last-Event-ID", "header", "string"))
	}
	if params != nil {
		op["parameters"] = params
	}
	return op
}

func parameter(name, in, kind string) map[string]any {
	return map[string]any{"name": name, "in": in, "required": in == "path", "schema": map[string]any{"type": kind}}
}

func responses(d *v2Doc) map[string]any {
	content := map[string]any{}
	if d.out != nil {
		content["application/json"] = map[string]any{"schema": d.out}
	}
	code := d.status
	if code == 0 {
		code = http.StatusOK
	}
	good := map[string]any{"description": http.StatusText(code)}
	if len(content) > 0 {
		good["content"] = content
	}
	out := map[string]any{
		strconv.Itoa(code): good,
		"default": map[string]any{"description": "a failure", "content": map[string]any{
			"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Error"}},
		}},
	}
	if d.stream {
		events := map[string]any{"text/event-stream": map[string]any{"schema": map[string]any{"type": "string"}}}
		if d.out == nil {
			good["content"] = events
		} else {
			out["200"] = map[string]any{"description": "events", "content": events}
		}
	}
	return out
}
