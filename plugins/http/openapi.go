package httptool

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Operation is one operation of an OpenAPI document.
type Operation struct {
	ID      string // operationId, or method and path
	Method  string // upper case
	Path    string
	Summary string
}

// Imported is an operation as a tool: the manifest and the spec, to be written to one folder.
type Imported struct {
	Name           string
	Manifest, Spec map[string]any
}

// Rename numbers a tool whose name is taken, and adds its name to those taken: ids of
// operations may differ in characters that names of plugins do not have.
func (im *Imported) Rename(taken map[string]bool) {
	base := im.Name
	for n := 2; taken[im.Name]; n++ {
		end := fmt.Sprintf("_%d", n)
		im.Name = base[:min(len(base), maxToolName-len(end))] + end
	}
	taken[im.Name] = true
	im.Manifest["name"] = im.Name
}

// OpenAPI is an OpenAPI 3 document, or one of Swagger 2.0 that was converted.
type OpenAPI struct {
	root map[string]any
	// Server replaces the servers of the document unless it is empty.
	Server  string
	schemas int // number of schemas read for the current operation
}

// ReadOpenAPI reads a document decoded from JSON or YAML.
func ReadOpenAPI(doc any) (*OpenAPI, error) {
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("openapi: the document is not an object")
	}
	version, _ := root["openapi"].(string)
	switch {
	case fmt.Sprint(root["swagger"]) == "2.0" || fmt.Sprint(root["swagger"]) == "2": // YAML may have a number
		root = upgradeSwagger(root)
	case root["swagger"] != nil:
		return nil, fmt.Errorf("openapi: version %v is not read; Swagger 2.0 and OpenAPI 3 are", root["swagger"])
	case !strings.HasPrefix(version, "3."):
		return nil, fmt.Errorf("openapi: version %q is not read; Swagger 2.0 and OpenAPI 3 are", version)
	}
	return &OpenAPI{root: root}, nil
}

var operationMethods = []string{"get", "post", "put", "patch", "delete", "head"}

// Operations lists the operations of the document by path.
func (o *OpenAPI) Operations() []Operation {
	var out []Operation
	paths := member(o.root, "paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, _ := o.resolve(paths[path], 0).(map[string]any)
		for _, method := range operationMethods {
			op, ok := item[method].(map[string]any)
			if !ok {
				continue
			}
			id, _ := op["operationId"].(string)
			if id == "" {
				id = method + " " + path
			}
			summary, _ := op["summary"].(string)
			out = append(out, Operation{
				ID: id, Method: strings.ToUpper(method), Path: path, Summary: plainText(summary, 200),
			})
		}
	}
	return out
}

// Import creates a tool from an operation.
func (o *OpenAPI) Import(op Operation) (*Imported, error) {
	item, _ := o.resolve(member(o.root, "paths")[op.Path], 0).(map[string]any)
	about, ok := item[strings.ToLower(op.Method)].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("openapi: unknown operation %s %s", op.Method, op.Path)
	}
	server, err := o.server(about, item)
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", op.ID, err)
	}
	o.schemas = 0
	im := &importer{
		doc: o, op: op, properties: map[string]any{}, step: map[string]any{"name": "call"},
		query: map[string]any{}, headers: map[string]any{}, secrets: map[string]any{}, wire: map[string]string{},
	}
	for _, p := range o.parameters(item["parameters"], about["parameters"]) {
		if err := im.parameter(p); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", op.ID, err)
		}
	}
	if err := im.body(o.resolve(about["requestBody"], 0)); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", op.ID, err)
	}
	if err := im.security(about, server.Host); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", op.ID, err)
	}
	return im.result(about, server)
}

// parameters returns the parameters of a path and those of an operation, which replace parameters
// of the path with their name and place.
func (o *OpenAPI) parameters(ofPath, own any) []any {
	var list []any
	at := map[string]int{}
	for _, v := range append(slices.Clone(elements(ofPath)), elements(own)...) {
		v = o.resolve(v, 0)
		p, _ := v.(map[string]any)
		key := fmt.Sprint(p["in"], " ", p["name"])
		if i, known := at[key]; known {
			list[i] = v
			continue
		}
		at[key] = len(list)
		list = append(list, v)
	}
	return list
}

// server returns the base address of an operation.
func (o *OpenAPI) server(about, item map[string]any) (*url.URL, error) {
	address := o.Server
	for _, from := range []map[string]any{about, item, o.root} {
		if list := elements(from["servers"]); address == "" && len(list) > 0 {
			s, _ := list[0].(map[string]any)
			address, _ = s["url"].(string)
			for name, v := range member(s, "variables") {
				variable, _ := v.(map[string]any)
				def, _ := variable["default"].(string)
				address = strings.ReplaceAll(address, "{"+name+"}", def)
			}
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, "{}") ||
		u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("servers: %q is not an absolute http or https address; name one with --server", address)
	}
	return u, nil
}

// importer collects the parts of a tool.
type importer struct {
	doc        *OpenAPI
	op         Operation
	properties map[string]any // arguments
	required   []string
	path       string // with templates
	step       map[string]any
	query      map[string]any
	headers    map[string]any
	secrets    map[string]any
	wire       map[string]string // path parameter -> argument
}

// argument adds an argument and returns its template.
func (im *importer) argument(name string, schema any, description string, required bool) string {
	arg := snake(name)
	for im.properties[arg] != nil {
		arg += "_"
	}
	s := im.doc.schema(schema, 0)
	if description != "" {
		s["description"] = plainText(description, 1000)
	}
	im.properties[arg] = s
	if required {
		im.required = append(im.required, arg)
	}
	return "{args." + arg + "}"
}

func (im *importer) parameter(v any) error {
	p, _ := v.(map[string]any)
	name, _ := p["name"].(string)
	place, _ := p["in"].(string)
	if name == "" {
		return fmt.Errorf("a parameter has no name")
	}
	schema := p["schema"]
	for _, media := range member(p, "content") {
		m, _ := media.(map[string]any)
		schema = m["schema"]
	}
	description, _ := p["description"].(string)
	required, _ := p["required"].(bool)
	switch place {
	case "path":
		im.wire[name] = im.argument(name, schema, description, true)
	case "query":
		im.query[name] = im.argument(name, schema, description, required)
	case "header":
		im.headers[name] = im.argument(name, schema, description, required)
	case "cookie":
		if required {
			return fmt.Errorf("parameter %s: cookies are not sent", name)
		}
	default:
		return fmt.Errorf("parameter %s: in is %q; path, query and header are read", name, place)
	}
	return nil
}

// body converts the properties of a request body to arguments.
func (im *importer) body(v any) error {
	about, _ := v.(map[string]any)
	if about == nil {
		return nil
	}
	content := member(about, "content")
	for _, kind := range []string{jsonType, formType} {
		media, ok := content[kind].(map[string]any)
		if !ok {
			continue
		}
		schema := im.doc.schema(media["schema"], 0)
		required, _ := about["required"].(bool)
		into := "json"
		if kind == formType {
			into = "form"
		}
		properties, ok := schema["properties"].(map[string]any)
		if !ok || len(properties) == 0 {
			if into == "form" {
				return fmt.Errorf("requestBody: a form without properties")
			}
			im.step[into] = im.argument("body", schema, "body of the request", required)
			return nil
		}
		body := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			needed := required && slices.Contains(names(schema["required"]), name)
			body[name] = im.argument(name, properties[name], "", needed)
		}
		im.step[into] = body
		return nil
	}
	return fmt.Errorf("requestBody: content is %s; %s and %s are sent", list(content), jsonType, formType)
}

// security adds the credentials of the first requirement that can be sent, as secrets of the host.
func (im *importer) security(about map[string]any, host string) error {
	wanted, ok := about["security"]
	if !ok {
		wanted = im.doc.root["security"]
	}
	schemes := member(member(im.doc.root, "components"), "securitySchemes")
	var refused []string
	for _, requirement := range elements(wanted) {
		all, _ := requirement.(map[string]any) // of which every scheme is required; none without authentication
		sent := credentials{headers: map[string]any{}, query: map[string]any{}, secrets: map[string]string{}}
		ok := true
		for _, name := range slices.Sorted(maps.Keys(all)) {
			scheme, _ := im.doc.resolve(schemes[name], 0).(map[string]any)
			if !sent.add(name, scheme) {
				refused, ok = append(refused, fmt.Sprintf("%s (%v)", name, scheme["type"])), false
			}
		}
		if !ok {
			continue
		}
		maps.Copy(im.headers, sent.headers)
		maps.Copy(im.query, sent.query)
		for secret, name := range sent.secrets {
			im.secrets[secret] = map[string]any{"hosts": []string{host}, "reason": "authenticates as " + name}
		}
		return nil
	}
	if len(elements(wanted)) > 0 {
		return fmt.Errorf("security: %s cannot be sent; apiKey in a header or query, http basic and bearer, oauth2 can",
			strings.Join(refused, ", "))
	}
	return nil
}

// credentials belong to one requirement of a request.
type credentials struct {
	headers, query map[string]any
	secrets        map[string]string // name of a secret -> its scheme
}

// add adds a scheme. It returns false for one that cannot be sent, or not besides another.
func (c *credentials) add(name string, scheme map[string]any) bool {
	secret := strings.ToUpper(snake(name))
	for c.secrets[secret] != "" {
		secret += "_"
	}
	value := "{secret." + secret + "}"
	kind, _ := scheme["type"].(string)
	place, _ := scheme["in"].(string)
	field, _ := scheme["name"].(string)
	method, _ := scheme["scheme"].(string)
	into := c.headers
	switch {
	case kind == "apiKey" && place == "header" && field != "":
	case kind == "apiKey" && place == "query" && field != "":
		into = c.query
	case kind == "http" && strings.EqualFold(method, "basic"):
		field, value = "Authorization", "Basic {{{{base64:"+value+"}}}}"
	case kind == "http" && strings.EqualFold(method, "bearer"), kind == "oauth2", kind == "openIdConnect":
		field, value = "Authorization", "Bearer "+value
	default:
		return false
	}
	if into[field] != nil {
		return false
	}
	into[field] = value
	c.secrets[secret] = name
	return true
}

var pathParameter = regexp.MustCompile(`\{([^{}]+)\}`)

// result writes manifest and spec.
func (im *importer) result(about map[string]any, server *url.URL) (*Imported, error) {
	var missing string
	im.path = pathParameter.ReplaceAllStringFunc(im.op.Path, func(found string) string {
		template, ok := im.wire[found[1:len(found)-1]]
		if !ok {
			missing = found
		}
		return template
	})
	if missing != "" {
		return nil, fmt.Errorf("openapi: %s: the path names %s, which is not a parameter", im.op.ID, missing)
	}
	for name, part := range map[string]map[string]any{"query": im.query, "headers": im.headers} {
		if len(part) > 0 {
			im.step[name] = part
		}
	}
	im.step["method"], im.step["url"] = im.op.Method, im.path
	if !im.answersJSON(about) {
		im.step["answer"] = "text"
	}
	name := toolName(im.op.ID)
	description, _ := about["description"].(string)
	if im.op.Summary != "" {
		description = im.op.Summary + "\n" + description
	}
	description = plainText(description, 1000)
	if description == "" {
		description = im.op.Method + " " + im.op.Path
	}
	reach := map[string]any{
		"hosts": []string{server.Host}, "methods": []string{im.op.Method}, "reason": "calls " + server.Host,
	}
	if isPrivate(server.Hostname()) {
		reach["private"] = true
	}
	permissions := map[string]any{"http": reach}
	if len(im.secrets) > 0 {
		permissions["secrets"] = im.secrets
	}
	slices.Sort(im.required)
	arguments := map[string]any{"type": "object", "properties": im.properties}
	if len(im.required) > 0 {
		arguments["required"] = im.required
	}
	manifest := map[string]any{
		"abi": 1, "name": name, "version": "0.1.0", "description": description, "arguments": arguments,
		"outputs": map[string]any{"type": "object", "properties": map[string]any{
			"result": map[string]any{"description": "what the service answers"},
		}},
		"permissions": permissions, "idempotent": im.op.Method == "GET", "state": "tenant",
		"requires": []string{"self.section@1", "http.fetch@1"},
	}
	spec := map[string]any{
		"base_url": strings.TrimSuffix(server.String(), "/"), "steps": []any{im.step},
		"error_message": "{body.message ?? body.error.message ?? body.error ?? body.detail ?? body.title}",
		"outputs":       map[string]any{"result": "{call}"},
	}
	return checked(&Imported{Name: name, Manifest: manifest, Spec: spec})
}

// checked parses the result, as the program that packs it will.
func checked(im *Imported) (*Imported, error) {
	manifest, err := json.Marshal(im.Manifest)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(im.Spec)
	if err != nil {
		return nil, err
	}
	if _, err := Parse(manifest, spec); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", im.Name, err)
	}
	return im, nil
}

// answersJSON reports whether a successful response is JSON.
func (im *importer) answersJSON(about map[string]any) bool {
	for code, v := range member(about, "responses") {
		response, _ := im.doc.resolve(v, 0).(map[string]any)
		for kind := range member(response, "content") {
			if strings.HasPrefix(code, "2") && strings.Contains(kind, "json") {
				return true
			}
		}
	}
	return false
}

// isPrivate reports whether a host is an address of this machine or of a private network.
func isPrivate(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (address.IsLoopback() || address.IsPrivate())
}

// plainText returns a string without control characters, at most n characters of it.
func plainText(s string, n int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, s))
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
