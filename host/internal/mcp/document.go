package mcp

import (
	"encoding/json"

	"github.com/easel-canvas/easel/engine"
)

// Doc is the stored configuration of a server, without its name.
type Doc struct {
	Type        string            `json:"server_type"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	Headers     map[string]string `json:"headers"`
	Variables   engine.Value      `json:"variables"` // values of variables, and "tools": the last tool list
	Command     string            `json:"command,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
}

// sealed is the part of a Doc that is stored sealed: it often contains keys.
type sealed struct {
	Headers   map[string]string `json:"headers"`
	Variables engine.Value      `json:"variables"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// ToolsVariable is the variable that holds a server's tools; all others are values for its headers.
const ToolsVariable = "tools"

// ParseDoc decodes the two parts of [Doc.Encode]; secret may be empty.
func ParseDoc(open, secret []byte) (Doc, error) {
	var d Doc
	var s sealed
	err := json.Unmarshal(open, &d)
	if err == nil && len(secret) > 0 {
		err = json.Unmarshal(secret, &s)
	}
	if err != nil {
		return d, err
	}
	if len(secret) > 0 {
		d.Headers, d.Args, d.Env = s.Headers, s.Args, s.Env
		for k, v := range s.Variables.Fields() {
			d.Variables = d.Variables.With(k, v)
		}
	}
	return d, nil
}

// Encode encodes d in two parts, of which the second is to be stored sealed.
func (d Doc) Encode() (open, secret []byte, err error) {
	s := sealed{Headers: d.Headers, Variables: engine.Object(), Args: d.Args, Env: d.Env}
	variables := engine.Object()
	for k, v := range d.Variables.Fields() {
		if k == ToolsVariable {
			variables = variables.With(k, v)
		} else {
			s.Variables = s.Variables.With(k, v)
		}
	}
	d.Headers, d.Args, d.Env, d.Variables = nil, nil, nil, variables
	if open, err = json.Marshal(d); err != nil {
		return nil, nil, err
	}
	secret, err = json.Marshal(s)
	return open, secret, err
}

// Server returns the server that d configures.
func (d Doc) Server(id, name string) Server {
	values := map[string]string{}
	for k, v := range d.Variables.Fields() {
		if k != ToolsVariable {
			values[k] = v.Text()
		}
	}
	return Server{
		ID: id, Name: name, Type: d.Type, URL: d.URL, Headers: d.Headers,
		Command: d.Command, Args: d.Args, Env: d.Env, Values: values,
	}
}
