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
// reference is plain text. Differs: references in url and in values are replaced, and those in
// headers that are an object (JSON text is sent as it is), values in url are escaped, a missing
// proxy means none, status and headers are outputs, and clean_html works for every method. Source:
// RAGFlow agent/component/invoke.py at 80a16e71 (behaviour only).
type Invoke struct {
	URL       engine.Text      `json:"url" doc:"address; http:// is the default scheme" check:"nonempty" label:"URL"`
	Method    string           `json:"method" doc:"HTTP method" default:"get" enum:"get,post,put,GET,POST,PUT"`
	Headers   engine.Value     `json:"headers" doc:"object of header lines, whose values may contain references; JSON text is sent as it is"`
	Variables []InvokeVariable `json:"variables" doc:"arguments of the request: {key, value} or {key, ref}"`
	Proxy     string           `json:"proxy" doc:"address of a proxy; empty for none"`
	Timeout   int              `json:"timeout" doc:"seconds to wait for the response" default:"60" min:"1"`
	CleanHTML bool             `json:"clean_html" doc:"return only the text of a web page" label:"HTML to text"`
	DataType  string           `json:"datatype" doc:"encoding of the body of post and put" default:"json" enum:"json,formdata,JSON,formData"`
}

// InvokeVariable is one argument of the request.
type InvokeVariable struct {
	Key   string      `json:"key" doc:"name of the argument"`
	Value engine.Expr `json:"value" doc:"the value, may contain references; takes precedence over ref"`
	Ref   engine.Ref  `json:"ref" doc:"reference to the value"`
}

var invokeSpec = engine.Spec{
	Name:     "Invoke",
	Category: engine.CategoryTool, Icon: "globe",
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
}

// Needs returns the port the component uses.
func (*Invoke) Needs() string { return "HTTP" }

// References returns the references in header lines.
func (v *Invoke) References() (refs []engine.Ref) {
	for _, x := range v.Headers.Fields() {
		text := engine.ParseText(x.Text())
		refs = append(refs, text.Refs()...)
	}
	return refs
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
	req.SecretMark = call.SecretMark()
	switch {
	case req.Method == "GET":
		query, err := formEncoded(call, args)
		if err != nil {
			return nil, err
		}
		req.URL = withQuery(url, query)
	case strings.EqualFold(v.DataType, "formdata"):
		if req.Body, err = formEncoded(call, args); err != nil {
			return nil, err
		}
		req.Header = withType(req.Header, engine.FormType)
	default:
		if req.Body, err = call.JSONOf(args); err != nil {
			return nil, err
		}
		req.Header = withType(req.Header, "application/json")
	}
	return req, nil
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
		if err != nil {
			return engine.Null, fmt.Errorf("variable %s: %w", x.Key, err)
		}
		b.Set(call.MarkSecrets(engine.String(x.Key)).Str(), value)
	}
	return b.Value(), nil
}

// header returns the header lines. JSON text has no references: canvases rely on braces that reach
// the server.
func (v *Invoke) header(ctx context.Context, call *engine.Call) ([]engine.HTTPHeader, error) {
	if v.Headers.Kind() != engine.KindObject {
		return readHeaders(call.MarkSecrets(v.Headers))
	}
	list, err := readHeaders(v.Headers)
	for i := range list {
		text := engine.ParseText(list[i].Value)
		if list[i].Value, err = call.Render(ctx, &text, engine.TextStyle{Secrets: true}); err != nil {
			return nil, fmt.Errorf("header %s: %w", list[i].Name, err)
		}
	}
	return list, err
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

var _ engine.Referrer = (*Invoke)(nil)
