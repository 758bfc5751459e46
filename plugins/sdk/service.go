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

// Response is a response with any status.
type Response struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// Secret returns the placeholder of a secret for a header value, the query of a URL or a body. The
// host inserts the value for the hosts it is bound to; the plugin never sees it. The placeholder
// contains the mark of this call, without which it would be plain text: text from
// elsewhere that looks like a placeholder is not replaced. It is invalid in another call.
func (c *Call) Secret(name string) string {
	if c.SecretMark == "" { // a host without marks, or a call without permission for secrets
		return "{{secret:" + name + "}}"
	}
	return "{{secret:" + name + ":" + c.SecretMark + "}}"
}

// Basic returns the value of a header Authorization with a user's name and a secret as the
// password.
func (c *Call) Basic(user, secret string) string {
	return "Basic {{base64:" + user + ":" + c.Secret(secret) + "}}"
}

// Query returns a query string, sorted by name.
func Query(pairs map[string]string) string {
	v := url.Values{}
	for name, value := range pairs {
		v.Set(name, value)
	}
	return v.Encode()
}

// Fetch sends a request and waits for the whole response, of 10 MiB at most. It requires the
// permission http.
func (c *Call) Fetch(r Request) (*Response, error) {
	var out answered
	if err := c.ask("http.fetch", r.args(), &out); err != nil {
		return nil, err
	}
	return &Response{Status: out.Status, Headers: out.Headers, Body: out.bytes()}, nil
}

// args returns the arguments of http.fetch.
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

// answered is the answer of http.fetch and http.read.
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

// Chat is a request to a model.
type Chat struct {
	Model       string    `json:"model,omitempty"` // an alias of the host; empty is the default
	Messages    []Message `json:"messages"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Stream      bool      `json:"stream,omitempty"` // the pieces are also sent as pieces of the answer
}

// Reply is the answer of a model.
type Reply struct {
	Text  string `json:"text"`
	Usage Usage  `json:"usage"`
}

// Chat calls a model. It requires the permission llm.
func (c *Call) Chat(q Chat) (Reply, error) {
	var r Reply
	err := c.ask("llm.chat", q, &r)
	return r, err
}

// Embed returns the vectors of texts, one per text. It requires the permission embed.
func (c *Call) Embed(texts ...string) ([][]float32, error) {
	var out struct {
		Vectors [][]float32 `json:"vectors"`
	}
	err := c.ask("embed", map[string]any{"texts": texts}, &out)
	return out.Vectors, err
}

// Load returns the value of a key. It requires the permission kv, as do Store, Delete and Keys.
func (c *Call) Load(key string) (value string, found bool, err error) {
	var out struct {
		Found bool   `json:"found"`
		Value string `json:"value"`
	}
	err = c.ask("kv.get", map[string]any{"key": key}, &out)
	return out.Value, out.Found, err
}

// Store stores a value under a key, for later calls of the same tenant.
func (c *Call) Store(key, value string) error {
	return c.ask("kv.set", map[string]any{"key": key, "value": value}, nil)
}

// Delete deletes a key.
func (c *Call) Delete(key string) error { return c.ask("kv.delete", map[string]any{"key": key}, nil) }

// Keys returns the keys with a prefix, sorted.
func (c *Call) Keys(prefix string) ([]string, error) {
	var out struct {
		Keys []string `json:"keys"`
	}
	err := c.ask("kv.list", map[string]any{"prefix": prefix}, &out)
	return out.Keys, err
}

// Variable reads a variable of the run into v and reports whether it exists. It requires the
// permission variables.
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

// SetVariable writes a variable of the run. It requires the permission variables.
func (c *Call) SetVariable(name string, v any) error {
	return c.ask("var.set", map[string]any{"name": name, "value": v}, nil)
}
