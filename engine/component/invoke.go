package component

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Invoke sends one HTTP request. Any status is a result; only a request that gets no answer fails.
//
// Secrets reach the HTTP port by name: it replaces the placeholders {{secret:NAME}} that stand in
// the params themselves, so that no output ever holds a value. A placeholder that a reference
// brings along is plain text. Differs: references in url and in values are replaced, values in url
// are escaped, a missing proxy means none, status and headers are outputs, and clean_html works for
// every method. Source: RAGFlow agent/component/invoke.py at 80a16e71 (behaviour read, written
// anew).
type Invoke struct {
	URL       engine.Text      `json:"url" doc:"address; http:// is put before one without scheme" check:"nonempty" label:"URL"`
	Method    string           `json:"method" doc:"HTTP method" default:"get" enum:"get,post,put,GET,POST,PUT"`
	Headers   engine.Value     `json:"headers" doc:"JSON text of an object with header lines; taken as it is"`
	Variables []InvokeVariable `json:"variables" doc:"what is sent: {key, value} or {key, ref}"`
	Proxy     string           `json:"proxy" doc:"address of a proxy; empty means none"`
	Timeout   int              `json:"timeout" doc:"seconds to wait for the answer" default:"60" min:"1"`
	CleanHTML bool             `json:"clean_html" doc:"give only the text of a web page" label:"HTML to text"`
	DataType  string           `json:"datatype" doc:"form of the body of post and put" default:"json" enum:"json,formdata,JSON,formData"`
}

// InvokeVariable is one thing that is sent.
type InvokeVariable struct {
	Key   string      `json:"key" doc:"name it is sent under"`
	Value engine.Expr `json:"value" doc:"the value itself, in which references are replaced; wins over ref"`
	Ref   engine.Ref  `json:"ref" doc:"where the value comes from"`
}

var invokeSpec = engine.Spec{
	Name:     "Invoke",
	Category: engine.CategoryTool, Icon: "globe",
	Doc: "Sends an HTTP request and gives the body of the answer.",
	New: func() engine.Component { return &Invoke{} },
	Outputs: []engine.Field{
		{Name: "result", Type: "string", Doc: "body of the answer"},
		{Name: "status_code", Type: "number", Doc: "HTTP status"},
		{Name: "headers", Type: "object", Doc: "header lines of the answer"},
	},
	Retries:  true,
	Tells:    true,
	Thoughts: "Calling the web service.",
}

// Needs names the port the component acts through.
func (*Invoke) Needs() string { return "HTTP" }

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
		Method: strings.ToUpper(v.Method), URL: url, Proxy: call.MarkSecrets(engine.String(strings.TrimSpace(v.Proxy))).Str(),
		Timeout: time.Duration(v.Timeout) * time.Second,
	}
	if req.Header, err = readHeaders(call.MarkSecrets(v.Headers)); err != nil {
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

// args is what is sent, by name.
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

func readHeaders(v engine.Value) ([]engine.HTTPHeader, error) {
	if v.Kind() == engine.KindString {
		if strings.TrimSpace(v.Str()) == "" {
			return nil, nil
		}
		parsed, err := engine.ParseJSONText(v.Str())
		if err != nil {
			return nil, fmt.Errorf("headers: %w; a JSON object is needed", err)
		}
		v = parsed
	}
	if k := v.Kind(); k != engine.KindObject && k != engine.KindNull {
		return nil, fmt.Errorf("headers: a %s was given; a JSON object is needed", k)
	}
	var list []engine.HTTPHeader
	for name, x := range v.Fields() {
		list = append(list, engine.HTTPHeader{Name: name, Value: x.Text()})
	}
	return list, nil
}

// withType adds a content type, unless the canvas gives one.
func withType(list []engine.HTTPHeader, typ string) []engine.HTTPHeader {
	for _, h := range list {
		if strings.EqualFold(h.Name, "Content-Type") {
			return list
		}
	}
	return append(list, engine.HTTPHeader{Name: "Content-Type", Value: typ})
}

// withQuery puts a query behind a URL, which may have one already, and before a fragment.
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

// formEncoded writes an object as a form does. A list is written as its name once per element; null
// is left out. Placeholders with the mark stay as they are, for the port.
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

// formLen is how many bytes escapeForm writes at most.
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

// escapeForm writes a text as forms do: blanks as +, what is not plain as %XX. A placeholder with
// the mark stays as it is, for the port that replaces it.
func escapeForm(b *strings.Builder, s, mark string) {
	for s != "" {
		if mark != "" && strings.HasPrefix(s, "{{secret:") {
			const longest = 1024 // bytes of a placeholder; hostile text must not be searched to its end again and again
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

var _ engine.Component = (*Invoke)(nil)
