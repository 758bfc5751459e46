package sdk

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
)

// Request is one HTTP request.
type Request struct {
	URL     string
	Method  string // GET when empty
	Headers map[string]string
	Body    []byte
}

// Response is an answer; any status is one.
type Response struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// Secret returns the placeholder of a secret for a header value, the query of a URL or a body. The
// host puts the value in for the hosts it is bound to; the plugin never sees it. The placeholder
// carries the mark of this call, without which it would be plain text: text that came from
// elsewhere and looks like one names no secret. It is of no use in another call.
func (c *Call) Secret(name string) string {
	if c.SecretMark == "" { // a host without marks, or a call that may use no secret
		return "{{secret:" + name + "}}"
	}
	return "{{secret:" + name + ":" + c.SecretMark + "}}"
}

// Basic is the value of a header Authorization with a user's name and a secret as the password.
func (c *Call) Basic(user, secret string) string {
	return "Basic {{base64:" + user + ":" + c.Secret(secret) + "}}"
}

// Query writes a query string, in the order of its names.
func Query(pairs map[string]string) string {
	v := url.Values{}
	for name, value := range pairs {
		v.Set(name, value)
	}
	return v.Encode()
}

// Fetch sends a request and waits for the whole response, of 10 MiB at most. It needs the permission http.
func (c *Call) Fetch(r Request) (*Response, error) {
	var out answered
	if err := c.ask("http.fetch", r.args(), &out); err != nil {
		return nil, err
	}
	return &Response{Status: out.Status, Headers: out.Headers, Body: out.bytes()}, nil
}

// args are the arguments of http.fetch.
func (r *Request) args() map[string]any {
	args := map[string]any{"url": r.URL}
	if r.Method != "" {
		args["method"] = r.Method
	}
	if len(r.Headers) > 0 {
		args["headers"] = r.Headers
	}
	if len(r.Body) > 0 {
		args["body_base64"] = base64.StdEncoding.EncodeToString(r.Body)
	}
	return args
}

// answered is what http.fetch and http.read answer.
type answered struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	BodyBase64 []byte            `json:"body_base64"`
	Stream     int               `json:"stream"`
	Done       bool              `json:"done"`
}

func (a *answered) bytes() []byte {
	if a.BodyBase64 != nil {
		return a.BodyBase64
	}
	return []byte(a.Body)
}

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Chat asks a model.
type Chat struct {
	Model       string    `json:"model,omitempty"` // an alias of the host; empty is the default
	Messages    []Message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Stream      bool      `json:"stream,omitempty"` // the pieces also become pieces of the answer
}

// Reply is what a model said.
type Reply struct {
	Text  string `json:"text"`
	Usage Usage  `json:"usage"`
}

// Chat asks a model. It needs the permission llm.
func (c *Call) Chat(q Chat) (Reply, error) {
	var r Reply
	err := c.ask("llm.chat", q, &r)
	return r, err
}

// Embed turns texts into vectors, one per text. It needs the permission embed.
func (c *Call) Embed(texts ...string) ([][]float32, error) {
	var out struct {
		Vectors [][]float32 `json:"vectors"`
	}
	err := c.ask("embed", map[string]any{"texts": texts}, &out)
	return out.Vectors, err
}

// Load gives the value kept under a key. It needs the permission kv, as do Store, Delete and Keys.
func (c *Call) Load(key string) (value string, found bool, err error) {
	var out struct {
		Found bool   `json:"found"`
		Value string `json:"value"`
	}
	err = c.ask("kv.get", map[string]any{"key": key}, &out)
	return out.Value, out.Found, err
}

// Store keeps a value under a key, for later calls of the same tenant.
func (c *Call) Store(key, value string) error {
	return c.ask("kv.set", map[string]any{"key": key, "value": value}, nil)
}

// Delete forgets a key.
func (c *Call) Delete(key string) error { return c.ask("kv.delete", map[string]any{"key": key}, nil) }

// Keys lists the keys that begin with prefix, sorted.
func (c *Call) Keys(prefix string) ([]string, error) {
	var out struct {
		Keys []string `json:"keys"`
	}
	err := c.ask("kv.list", map[string]any{"prefix": prefix}, &out)
	return out.Keys, err
}

// Variable reads a variable of the run into v and says whether there is one. It needs the permission variables.
func (c *Call) Variable(name string, v any) (found bool, err error) {
	var out struct {
		Found bool            `json:"found"`
		Value json.RawMessage `json:"value"`
	}
	if err := c.ask("var.get", map[string]any{"name": name}, &out); err != nil || !out.Found {
		return false, err
	}
	return true, json.Unmarshal(out.Value, v)
}

// SetVariable writes a variable of the run. It needs the permission variables.
func (c *Call) SetVariable(name string, v any) error {
	return c.ask("var.set", map[string]any{"name": name, "value": v}, nil)
}
