package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const petstore = `openapi: 3.0.3
info: {title: Pets, version: "1"}
servers:
  - url: SERVER/{stage}
    variables: {stage: {default: v1}}
security: [{key: []}]
paths:
  /pets/{petId}/notes:
    parameters:
      - {name: petId, in: path, required: true, schema: {type: integer, format: int64}}
    post:
      operationId: addNote
      summary: Adds a note to a pet.
      parameters:
        - {name: dry-run, in: query, schema: {type: boolean}}
        - {$ref: '#/components/parameters/Trace'}
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}
      responses: {"201": {content: {application/json: {schema: {type: object}}}}}
  /pets:
    get:
      summary: Lists pets.
      security: [{basic: []}]
      parameters: [{name: tags, in: query, schema: {type: array, items: {type: string}}}]
      responses: {"200": {content: {text/plain: {}}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Api-Key}
    basic: {type: http, scheme: basic}
  schemas:
    Note:
      allOf:
        - {type: object, required: [text], properties: {text: {type: string, description: the note}}}
        - type: object
          properties: {parent: {$ref: '#/components/schemas/Note'}, stars: {type: integer, nullable: true}}
`

// noting is a server that notes each request and responds with the same JSON.
func noting(t *testing.T, asked **http.Request, body *string, status int, response string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // the unread part is in body
		*asked, *body = r, string(raw)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, response)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestOpenAPIOperationBecomesATool(t *testing.T) {
	var asked *http.Request
	var body string
	srv := noting(t, &asked, &body, http.StatusCreated, `{"id": 7, "pet": null}`)
	dir := t.TempDir()
	doc := file(t, "pets.yaml", strings.ReplaceAll(petstore, "SERVER", srv.URL))

	code, out, errs := easel(t, "plugin", "import", doc)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "addNote    POST /pets/{petId}/notes  Adds a note to a pet.")
	require.Contains(t, errs, "--operation")
	code, _, errs = easel(t, "plugin", "import", doc, "--operation", "none")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "no such operation")
	code, out, errs = easel(t, "plugin", "import", doc, "--all", "--dir", dir)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "add_note: POST")
	require.Contains(t, out, "get_pets: GET")

	manifest := jsonFile(t, filepath.Join(dir, "add_note", "manifest.json"))
	arguments := manifest["arguments"].(map[string]any)
	require.Equal(t, []any{"pet_id", "text"}, arguments["required"])
	properties := arguments["properties"].(map[string]any)
	require.Equal(t, map[string]any{"type": "string", "description": "the note"}, properties["text"])
	require.Equal(t, []any{"integer", "null"}, properties["stars"].(map[string]any)["type"])
	host := strings.TrimPrefix(srv.URL, "http://")
	permissions := manifest["permissions"].(map[string]any)
	require.Equal(t, []any{host}, permissions["http"].(map[string]any)["hosts"])
	require.Equal(t, []any{host}, permissions["secrets"].(map[string]any)["KEY"].(map[string]any)["hosts"])

	t.Setenv("PET_KEY", "pet-key-0123456789")
	code, out, errs = easel(t, "plugin", "run", filepath.Join(dir, "add_note"),
		"--allow-http", host, "--allow-private", "--secret", "KEY=@PET_KEY",
		"--arg", "pet_id=12", "--arg", "text=likes bones", "--arg", "dry_run=true", "--json")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "/v1/pets/12/notes?dry-run=true", asked.URL.String())
	require.Equal(t, "pet-key-0123456789", asked.Header.Get("X-Api-Key"))
	require.JSONEq(t, `{"text": "likes bones"}`, body)
	require.JSONEq(t, `{"result": {"id": 7, "pet": null}}`, out)
}

func jsonFile(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func TestOpenAPIThatCannotBeImportedSaysWhy(t *testing.T) {
	const served = `{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], `
	operation := func(path, method, more string) string {
		return `"paths": {"` + path + `": {"` + method + `": {"operationId": "a", "responses": {}` + more + `}}}}`
	}
	for name, c := range map[string]struct{ doc, part string }{
		"old":               {`{"swagger": "1.2", "paths": {}}`, "Swagger 2.0 and OpenAPI 3 are"},
		"no server":         {`{"openapi": "3.1.0", ` + operation("/a", "get", ""), "name one with --server"},
		"no such parameter": {served + operation("/a/{b}", "get", ""), "the path names {b}, which is not a parameter"},
		"cookie": {
			served + operation("/a", "get", `, "parameters": [{"name": "s", "in": "cookie", "required": true}]`),
			"cookies are not sent",
		},
		"security": {
			served + `"security": [{"tls": []}], "components": {"securitySchemes": {"tls": {"type": "mutualTLS"}}}, ` +
				operation("/a", "get", ""), "tls (mutualTLS) cannot be sent",
		},
		"multipart": {
			served + operation("/a", "post", `, "requestBody": {"content": {"multipart/form-data": {}}}`),
			"content is multipart/form-data",
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := easel(t, "plugin", "import", file(t, "api.json", c.doc), "--all", "--dir", t.TempDir())
			require.NotEqual(t, ExitOK, code)
			require.Contains(t, errs, c.part)
		})
	}
}

func TestNewToolThatIsOnlyData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "places")
	code, out, errs := easel(t, "plugin", "new", "places", "--http", "--dir", dir)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "plugin test")
	code, out, errs = easel(t, "plugin", "test", dir)
	require.Equal(t, ExitOK, code, out+errs)
	spec := filepath.Join(dir, "http.json")
	raw, err := os.ReadFile(spec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(spec, []byte(strings.Replace(string(raw), "{args.city}", "{args.town}", 1)), 0o600))
	code, _, errs = easel(t, "plugin", "test", dir)
	require.NotEqual(t, ExitOK, code)
	require.Contains(t, errs, `http.json: spec: steps[0].query.name: {args.town}: "town" is not among the arguments`)
}

const swaggerDoc = `swagger: "2.0"
info: {title: Pets, version: "1"}
host: HOST
basePath: /api
schemes: [http]
consumes: [application/x-www-form-urlencoded]
produces: [application/json]
securityDefinitions:
  "app id": {type: apiKey, in: header, name: X-App}
  app-key: {type: apiKey, in: query, name: key}
  login: {type: basic}
security: [{"app id": [], app-key: []}]
parameters:
  pet: {name: pet, in: path, required: true, type: integer}
paths:
  /pets/{pet}/notes:
    parameters: [{$ref: '#/parameters/pet'}, {name: lang, in: query, type: string}]
    post:
      operationId: Add a note
      parameters:
        - {name: lang, in: query, type: string, enum: [en, de]}
        - {name: note, in: body, required: true, schema: {$ref: '#/definitions/Note'}}
      consumes: [application/json]
      responses: {"200": {description: made, schema: {type: object}}}
  /pets/{pet}/name:
    parameters: [{$ref: '#/parameters/pet'}]
    put:
      operationId: add-a-note
      security: [{login: []}]
      parameters: [{name: name, in: formData, type: string, required: true}]
      responses: {"200": {description: renamed}}
  /pets/{pet}/image:
    put:
      operationId: image
      parameters: [{$ref: '#/parameters/pet'}, {name: file, in: formData, type: file}]
      responses: {"200": {description: stored}}
definitions:
  Note:
    type: object
    required: [text]
    properties: {text: {type: string}, tags: {type: array, items: [{type: string}]}}
`

// A document of Swagger 2.0 is read; operations that cannot be converted are skipped and reported,
// and names of tools are distinct.
func TestSwaggerDocument(t *testing.T) {
	var asked *http.Request
	var body string
	srv := noting(t, &asked, &body, http.StatusOK, `{"id": 7}`)
	host, dir := strings.TrimPrefix(srv.URL, "http://"), t.TempDir()
	doc := file(t, "pets.yaml", strings.ReplaceAll(swaggerDoc, "HOST", host))
	code, out, errs := easel(t, "plugin", "import", doc, "--all", "--dir", dir)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, errs, "skipped: openapi: image: requestBody: content is multipart/form-data")
	require.Contains(t, errs, "2 operations imported, 1 skipped")
	require.Contains(t, out, "add_a_note: PUT")
	require.Contains(t, out, "add_a_note_2: POST", "the operations are in the order of their paths")

	t.Setenv("PET_KEY", "pet-key-0123456789")
	t.Setenv("PET_ID", "pet-id-0123456789")
	run := func(tool string, more ...string) {
		args := []string{
			"plugin", "run", filepath.Join(dir, tool), "--allow-http", host, "--allow-private",
			"--arg", "pet=12", "--json",
		}
		code, out, errs := easel(t, append(args, more...)...)
		require.Equal(t, ExitOK, code, errs)
		require.JSONEq(t, `{"result": {"id": 7}}`, out)
	}
	run("add_a_note_2", "--arg", "text=likes bones", "--arg", "lang=de",
		"--secret", "APP_ID=@PET_ID", "--secret", "APP_KEY=@PET_KEY")
	require.Equal(t, "/api/pets/12/notes", asked.URL.Path)
	require.Equal(t, "pet-key-0123456789", asked.URL.Query().Get("key"))
	require.Equal(t, "de", asked.URL.Query().Get("lang"))
	require.Equal(t, "pet-id-0123456789", asked.Header.Get("X-App"))
	require.JSONEq(t, `{"text": "likes bones"}`, body)
	run("add_a_note", "--arg", "name=Rex", "--secret", "LOGIN=@PET_KEY")
	require.Equal(t, "name=Rex", body)

	one := t.TempDir()
	code, _, errs = easel(t, "plugin", "import", doc, "--operation", "Add a note", "--dir", one)
	require.Equal(t, ExitOK, code, errs)
	code, _, errs = easel(t, "plugin", "import", doc, "--operation", "image", "--dir", one)
	require.NotEqual(t, ExitOK, code, "an operation that was chosen is not skipped")
	require.Contains(t, errs, "multipart/form-data")
}
