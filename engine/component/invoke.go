package component

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Invoke sends one HTTP request. Any status is a result; only a request without a response fails.
//
// Secrets are passed to the HTTP port by name: it replaces placeholders {{secret:NAME}} in the
// params themselves, so that no output ever contains a secret. A placeholder in the value of a
// reference is plain text. In a body of type json, a text that is JSON is sent as the value it
// stands for. A model that calls it as a tool passes the variables without value and ref.
//
// Differs: references in url, values and header values are replaced, as in newer versions; values
// in url are escaped; a missing proxy means none; status and headers are outputs; clean_html works
// for every method; DELETE, PATCH, HEAD and raw bodies exist. Source: RAGFlow
// agent/component/invoke.py at 80a16e71 (behaviour only).
type Invoke struct {
	Method    string           `json:"method" label:"Method" doc:"post, put and patch send a body, the others a query" options:"get=GET|post=POST|put=PUT|delete=DELETE|patch=PATCH|head=HEAD" accept:"get=GET|post=POST|put=PUT|delete=DELETE|patch=PATCH|head=HEAD" default:"get"`
	URL       engine.Text      `json:"url" label:"Address" doc:"http:// is added if it has no scheme" widget:"address" check:"nonempty"`
	Variables []InvokeVariable `json:"variables" label:"Query or body fields" doc:"values of the request, by name" shape:"{key, value} or {key, ref}"`
	DataType  string           `json:"datatype" label:"Body as" doc:"form of the body: the fields, or a text" options:"json=JSON|formdata=Form|raw=Text" accept:"json=JSON|formdata=formData" show:"method=post,put,patch,POST,PUT,PATCH" default:"json"`
	Body      engine.Text      `json:"body" label:"Text of the body" doc:"sent as it is, with references replaced" show:"datatype=raw"`
	Headers   engine.Value     `json:"headers" label:"Headers" doc:"sent with the request; values may contain references" shape:"an object or its JSON text" widget:"request-headers"`
	Proxy     string           `json:"proxy" label:"Proxy" doc:"address of a proxy; empty for none" section:"advanced"`
	Timeout   int              `json:"timeout" label:"Timeout" doc:"how long to wait for the answer" section:"advanced" widget:"duration" default:"60" min:"1"`
	CleanHTML bool             `json:"clean_html" label:"Only the text of a page" doc:"leaves out the markup of a web page" section:"output"`
	Content   string           `json:"content_type" label:"Type of the body" doc:"type that the request names for the text" section:"advanced" show:"datatype=raw" default:"text/plain; charset=utf-8"`

	headers    []invokeHeader
	headersErr error // reported when the request is made
}

// invokeHeader is one header line.
type invokeHeader struct {
	name  string
	value engine.Text
}

// InvokeVariable is one argument of the request.
type InvokeVariable struct {
	Key   string      `json:"key" label:"Name" doc:"without a value the agent fills it in"`
	Value engine.Expr `json:"value" label:"Value" doc:"sent under this name" widget:"value"`
	Ref   engine.Ref  `json:"ref" label:"From a step" doc:"used if there is no value" show:"ref"`
}

var invokeSpec = engine.Spec{
	Name:  "Invoke",
	Title: "HTTP request", Search: []string{"api", "rest", "curl", "fetch", "接口"}, First: "url",
	Category: engine.CategoryTool, Group: engine.GroupCode, Icon: "globe",
	Doc: "Sends an HTTP request and returns the body of the response.",
	New: func() engine.Component { return &Invoke{} },
	Outputs: []engine.Field{
		{Name: "result", Type: "string", Doc: "body of the response"},
		{Name: "status_code", Type: "number", Doc: "HTTP status"},
		{Name: "headers", Type: "object", Doc: "header lines of the response"},
	},
	Retries:  true,
	Tells:    true,
	Thoughts: "Calling the web service.",
	Tool: &engine.ToolSpec{
		Function:    "invoke",
		Description: "Sends a request to a web service and returns its answer.",
		Result:      "result",
	},
}

// Needs returns the port the component uses.
func (*Invoke) Needs() string { return "HTTP" }

// Init reads the header lines.
func (v *Invoke) Init(s *engine.Setup) error {
	list, err := readHeaders(v.Headers)
	for _, h := range list {
		v.headers = append(v.headers, invokeHeader{h.Name, s.Text(h.Value)})
	}
	v.headersErr = err
	return nil
}

// References returns the references in header values.
func (v *Invoke) References() (refs []engine.Ref) {
	for i := range v.headers {
		refs = append(refs, v.headers[i].value.Refs()...)
	}
	return refs
}

// Define declares the variables without value and ref as arguments.
func (v *Invoke) Define(_ context.Context, _ *engine.Call, def engine.ToolDef) engine.ToolDef {
	properties, required := engine.NewObject(len(v.Variables)), []string{}
	for i := range v.Variables {
		if x := &v.Variables[i]; x.isOpen() {
			properties.Set(x.Key, engine.Object("description", "argument "+x.Key+" of the request"))
			required = append(required, x.Key)
		}
	}
	def.Parameters = engine.Object("type", "object", "properties", properties.Value(), "required", required)
	return def
}

// isOpen reports whether the variable has neither a value nor a reference.
func (x *InvokeVariable) isOpen() bool {
	return x.Key != "" && !x.Value.Literal.Truthy() && x.Ref.IsZero()
}

// Run sends the request.
func (v *Invoke) Run(ctx context.Context, call *engine.Call) error {
	port := call.Ports().HTTP
	if port == nil {
		return fmt.Errorf("HTTP request: %w", engine.ErrNoPort)
	}
	req, err := v.request(ctx, call)
	if err != nil {
		return err
	}
	res, err := port.Do(ctx, req)
	if err != nil {
		return err
	}
	body := res.Body
	if v.CleanHTML {
		body = htmlText(body)
	}
	headers := engine.NewObject(len(res.Header))
	for _, h := range res.Header {
		headers.Set(h.Name, engine.String(h.Value))
	}
	call.Out("result", engine.String(body))
	call.Out("status_code", engine.Int(int64(res.Status)))
	call.Out("headers", headers.Value())
	return nil
}

func (v *Invoke) request(ctx context.Context, call *engine.Call) (*engine.HTTPRequest, error) {
	url, err := v.render(ctx, call)
	if err != nil {
		return nil, err
	}
	if url = strings.TrimSpace(url); !strings.HasPrefix(strings.ToLower(url), "http") {
		url = "http://" + url
	}
	req := &engine.HTTPRequest{
		Method: strings.ToUpper(v.Method), URL: url,
		Proxy:   call.MarkSecrets(engine.String(strings.TrimSpace(v.Proxy))).Str(),
		Timeout: time.Duration(v.Timeout) * time.Second,
	}
	if req.Header, err = v.header(ctx, call); err != nil {
		return nil, err
	}
	args, err := v.args(ctx, call)
	if err != nil {
		return nil, err
	}
	err = v.carry(ctx, call, req, args)
	req.SecretMark = call.SecretMark() // after all placeholders got it
	return req, err
}

// carry adds the arguments to a request: to its query or as its body.
func (v *Invoke) carry(ctx context.Context, call *engine.Call, req *engine.HTTPRequest, args engine.Value) error {
	raw, typ := v.DataType == "raw", "application/json"
	if raw || req.Method == "GET" || req.Method == "HEAD" || req.Method == "DELETE" {
		query, err := formEncoded(call, args)
		if err != nil {
			return err
		}
		req.URL = withQuery(req.URL, query)
	}
	var err error
	switch {
	case raw:
		typ = v.Content
		req.Body, err = call.Render(ctx, &v.Body, engine.TextStyle{Secrets: true})
		if req.Body == "" {
			return err
		}
	case req.Method == "GET" || req.Method == "HEAD" || req.Method == "DELETE":
		return nil
	case strings.EqualFold(v.DataType, "formdata"):
		typ = engine.FormType
		req.Body, err = formEncoded(call, args)
	default:
		if args, err = decodedTexts(call, args); err == nil {
			req.Body, err = call.JSONOf(args)
		}
	}
	req.Header = withType(req.Header, typ)
	return err
}

// decodedTexts replaces arguments that are texts of JSON by their values.
func decodedTexts(call *engine.Call, args engine.Value) (engine.Value, error) {
	b, size := engine.NewObject(args.Len()), int64(0)
	for name, v := range args.Fields() {
		v, err := decoded(v)
		if size += v.Size(); err == nil {
			err = call.CheckSize(size)
		}
		if err != nil {
			return engine.Null, fmt.Errorf("variable %s: %w", name, err)
		}
		b.Set(name, v)
	}
	return b.Value(), nil
}

// args returns the arguments by name.
func (v *Invoke) args(ctx context.Context, call *engine.Call) (engine.Value, error) {
	b := engine.NewObject(len(v.Variables))
	for i := range v.Variables {
		x := &v.Variables[i]
		value, err := call.EvalConfig(ctx, &x.Value)
		if !x.Value.Literal.Truthy() && !x.Ref.IsZero() {
			value, err = call.ResolveConfig(ctx, &x.Ref)
		}
		if given, ok := call.Args().Lookup(x.Key); ok && x.isOpen() {
			value = given
		}
		if err != nil {
			return engine.Null, fmt.Errorf("variable %s: %w", x.Key, err)
		}
		b.Set(call.MarkSecrets(engine.String(x.Key)).Str(), value)
	}
	return b.Value(), nil
}

// header returns the header lines.
func (v *Invoke) header(ctx context.Context, call *engine.Call) ([]engine.HTTPHeader, error) {
	var list []engine.HTTPHeader
	for i := range v.headers {
		h := &v.headers[i]
		value, err := call.Render(ctx, &h.value, engine.TextStyle{Secrets: true})
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", h.name, err)
		}
		list = append(list, engine.HTTPHeader{Name: h.name, Value: value})
	}
	return list, v.headersErr
}

func readHeaders(v engine.Value) ([]engine.HTTPHeader, error) {
	if v.Kind() == engine.KindString {
		if strings.TrimSpace(v.Str()) == "" {
			return nil, nil
		}
		parsed, err := engine.ParseJSONText(v.Str())
		if err != nil {
			return nil, fmt.Errorf("headers: %w; expected a JSON object", err)
		}
		v = parsed
	}
	if k := v.Kind(); k != engine.KindObject && k != engine.KindNull {
		return nil, fmt.Errorf("headers: got a %s; expected a JSON object", k)
	}
	var list []engine.HTTPHeader
	for name, x := range v.Fields() {
		list = append(list, engine.HTTPHeader{Name: name, Value: x.Text()})
	}
	return list, nil
}

// withType adds a content type, unless the canvas sets one.
func withType(list []engine.HTTPHeader, typ string) []engine.HTTPHeader {
	for _, h := range list {
		if strings.EqualFold(h.Name, "Content-Type") {
			return list
		}
	}
	return append(list, engine.HTTPHeader{Name: "Content-Type", Value: typ})
}

// withQuery appends a query to a URL, which may have one already, before the fragment.
func withQuery(url, query string) string {
	if query == "" {
		return url
	}
	url, fragment, hasFragment := strings.Cut(url, "#")
	sep := "?"
	if strings.Contains(url, "?") {
		sep = "&"
	}
	url += sep + query
	if hasFragment {
		url += "#" + fragment
	}
	return url
}

// formEncoded encodes an object as a form. A list becomes one field per element; null is left out.
// Placeholders with the mark stay as they are, for the port.
func formEncoded(call *engine.Call, args engine.Value) (string, error) {
	var b strings.Builder
	var over error
	mark := call.SecretMark()
	add := func(name string, v engine.Value) {
		if v.IsNull() || over != nil {
			return
		}
		var text string
		if text, over = call.TextOfValue(v); over != nil {
			return
		}
		if n := int64(b.Len() + 2 + formLen(name) + formLen(text)); n > call.TextLimit() {
			over = call.CheckText(n)
			return
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		escapeForm(&b, name, mark)
		b.WriteByte('=')
		escapeForm(&b, text, mark)
	}
	for name, v := range args.Fields() {
		if v.Kind() != engine.KindList {
			add(name, v)
			continue
		}
		for _, e := range v.Elements() {
			add(name, e)
		}
	}
	return b.String(), over
}

// formLen bounds the bytes that escapeForm writes.
func formLen(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if n++; !isPlainForm(s[i]) && s[i] != ' ' {
			n += 2
		}
	}
	return n
}

func isPlainForm(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0
}

// escapeForm writes a string in form encoding: spaces as +, reserved bytes as %XX. A placeholder
// with the mark stays as it is, for the port that replaces it.
func escapeForm(b *strings.Builder, s, mark string) {
	for s != "" {
		if mark != "" && strings.HasPrefix(s, "{{secret:") {
			const longest = 1024 // bytes of a placeholder; bounds the search in hostile text
			if end := strings.Index(s[:min(len(s), longest)], "}}") + len("}}"); engine.HasSecret(s[:end], mark) {
				b.WriteString(s[:end])
				s = s[end:]
				continue
			}
		}
		if s[0] == ' ' {
			b.WriteByte('+')
		} else {
			writePercent(b, s[0], isPlainForm(s[0]))
		}
		s = s[1:]
	}
}

var (
	_ engine.Initializer = (*Invoke)(nil)
	_ engine.Referrer    = (*Invoke)(nil)
	_ definer            = (*Invoke)(nil)
)
