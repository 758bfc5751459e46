// Command golden is a guest with the Go SDK for the golden messages of the contract. Its argument
// selects an action:
//
//	output {outputs, artifacts, citations, usage} answers with these
//	error {code, message, ...}           fails with it
//	emit {kind, ...}                     emits it
//	call {op, args}                      calls the host by the method of the SDK, and returns the answer
//	read {url, ...}                      reads the body of a response to its end, in pieces
//
// Without one it returns its input. The guests of the other SDKs do the same.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/easel-canvas/easel/plugins/sdk"
)

type object = map[string]any

func init() {
	sdk.Register(sdk.Manifest{Name: "golden", Version: "1.0.0", Description: "Plays the golden messages."}, golden)
	sdk.Check(func(params object) error {
		if params["bad"] == true {
			return sdk.Fail(sdk.InvalidArgument, "bad is true")
		}
		return nil
	})
}

func golden(c *sdk.Call, params, arguments object) (object, error) {
	for what, do := range map[string]func(*sdk.Call, json.RawMessage) (object, error){
		"output": output, "error": fail, "emit": emit, "call": call, "read": read, "secret": secret,
		"panic": giveUp,
	} {
		if v, ok := arguments[what]; ok {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			return do(c, raw)
		}
	}
	info := object{
		"id": c.ID, "run": c.Run, "node": c.Node, "attempt": c.Attempt, "deadline_ms": c.DeadlineMS, "locale": c.Locale, "preview": c.Preview,
		"secret_mark": c.SecretMark, "component": c.Component,
	}
	return object{"params": params, "arguments": arguments, "call": info}, nil
}

func output(c *sdk.Call, raw json.RawMessage) (object, error) {
	var m struct {
		Outputs   object
		Artifacts []sdk.Artifact
		Citations []sdk.Citation
		Usage     sdk.Usage
		Next      string
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	for _, a := range m.Artifacts {
		c.Attach(a)
	}
	for _, passage := range m.Citations {
		c.Cite(passage)
	}
	c.Used(m.Usage)
	c.Next(m.Next)
	return m.Outputs, nil
}

func fail(_ *sdk.Call, raw json.RawMessage) (object, error) {
	e := &sdk.Error{}
	return nil, errors.Join(json.Unmarshal(raw, e), e)
}

func emit(c *sdk.Call, raw json.RawMessage) (object, error) {
	var m struct {
		Kind                   int
		Text, Note, Key, Delta string
		Pct                    float64
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	emits := []func() error{
		func() error { return c.Emit(m.Text) }, func() error { return c.Think(m.Text) },
		func() error { return c.Progress(m.Pct, m.Note) }, func() error { return c.Partial(m.Key, m.Delta) },
	}
	return object{}, emits[m.Kind-1]()
}

// call uses the method for the operation; an unknown operation has none.
func call(c *sdk.Call, raw json.RawMessage) (object, error) {
	var m struct {
		Op   string
		Args json.RawMessage
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	ok, err := ask(c, m.Op, m.Args)
	var e *sdk.Error
	if errors.As(err, &e) {
		return object{"answer": object{"error": e}}, nil
	}
	return object{"answer": object{"ok": ok}}, err
}

func ask(c *sdk.Call, op string, raw json.RawMessage) (any, error) {
	var a struct {
		URL, Method, Key, Prefix, Name string
		ID, MIME, Body                 string
		Base64                         []byte `json:"body_base64"`
		Headers                        map[string]string
		Texts                          []string
		MS                             int64
		Stream, Value                  any
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, err
		}
	}
	switch op {
	case "http.fetch":
		if a.Stream == true {
			break
		}
		r, err := c.Fetch(sdk.Request{URL: a.URL, Method: a.Method, Headers: a.Headers})
		if err != nil {
			return nil, err
		}
		return object{"status": r.Status, "headers": r.Headers, "body": string(r.Body)}, nil
	case "llm.chat":
		var q sdk.Chat
		if err := json.Unmarshal(raw, &q); err != nil {
			return nil, err
		}
		return c.Chat(q)
	case "embed":
		v, err := c.Embed(a.Texts...)
		return object{"vectors": v}, err
	case "kv.get":
		v, found, err := c.Load(a.Key)
		return object{"found": found, "value": v}, err
	case "kv.set":
		text, _ := a.Value.(string)
		return object{}, c.Store(a.Key, text)
	case "kv.delete":
		return object{}, c.Delete(a.Key)
	case "kv.list":
		keys, err := c.Keys(a.Prefix)
		return object{"keys": keys}, err
	case "var.get":
		var v any
		found, err := c.Variable(a.Name, &v)
		return object{"found": found, "value": v}, err
	case "var.set":
		return object{}, c.SetVariable(a.Name, a.Value)
	case "file.read":
		if a.Stream == true {
			f, s, err := c.OpenFile(a.ID)
			if err != nil {
				return nil, err
			}
			return object{"name": f.Name, "mime": f.MIME, "size": f.Size, "stream": 1}, s.Close()
		}
		f, err := c.ReadFile(a.ID)
		if err != nil {
			return nil, err
		}
		return object{"name": f.Name, "mime": f.MIME, "size": f.Size, "body": string(f.Data)}, nil
	case "file.put":
		id, err := c.PutFile(a.Name, a.MIME, append(a.Base64, a.Body...))
		return object{"id": id}, err
	case "sleep":
		return object{}, c.Sleep(time.Duration(a.MS) * time.Millisecond)
	}
	var ok any
	err := c.Ask(op, raw, &ok)
	return ok, err
}

// secret sends a placeholder of a secret to an address, and text that looks like one.
func secret(c *sdk.Call, raw json.RawMessage) (object, error) {
	var m struct{ URL, Name string }
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	res, err := c.Fetch(sdk.Request{URL: m.URL, Headers: map[string]string{"X-Key": c.Secret(m.Name), "X-Plain": "{{secret:" + m.Name + "}}"}})
	if err != nil {
		return nil, err
	}
	return object{"text": string(res.Body), "sent": c.Secret(m.Name)}, nil
}

func read(c *sdk.Call, raw json.RawMessage) (object, error) {
	var r sdk.Request
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	s, err := c.Open(r)
	if err != nil {
		return nil, err
	}
	defer s.Close() // after io.ReadAll there is nothing left to close
	body, err := io.ReadAll(s)
	return object{"status": s.Status, "text": string(body)}, err
}

// giveUp panics with the given text.
func giveUp(_ *sdk.Call, raw json.RawMessage) (object, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	panic(text)
}

func main() {}
