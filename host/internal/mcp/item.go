package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Kind is the item kind of MCP servers in the store.
const Kind = "mcp"

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

// ParseDoc decodes the Doc of an item.
func ParseDoc(item store.Item) (Doc, error) {
	var d Doc
	var s sealed
	err := json.Unmarshal(item.Doc, &d)
	if err == nil && len(item.Secret) > 0 {
		err = json.Unmarshal(item.Secret, &s)
	}
	if err != nil {
		return d, fmt.Errorf("MCP server %q: %w", item.Name, err)
	}
	if len(item.Secret) > 0 {
		d.Headers, d.Args, d.Env = s.Headers, s.Args, s.Env
		for k, v := range s.Variables.Fields() {
			d.Variables = d.Variables.With(k, v)
		}
	}
	return d, nil
}

// Into encodes d into an item.
func (d Doc) Into(item *store.Item) (err error) {
	s := sealed{Headers: d.Headers, Variables: engine.Object(), Args: d.Args, Env: d.Env}
	open := engine.Object()
	for k, v := range d.Variables.Fields() {
		if k == ToolsVariable {
			open = open.With(k, v)
		} else {
			s.Variables = s.Variables.With(k, v)
		}
	}
	d.Headers, d.Args, d.Env, d.Variables = nil, nil, nil, open
	if item.Doc, err = json.Marshal(d); err != nil {
		return err
	}
	item.Secret, err = json.Marshal(s)
	return err
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

// Finder returns a function that looks up a server of the tenant by id.
func Finder(items store.Items, tenant string) func(context.Context, string) (Server, error) {
	return func(ctx context.Context, id string) (Server, error) {
		item, err := items.Get(ctx, tenant, Kind, id)
		if errors.Is(err, store.ErrNotFound) {
			return Server{}, fmt.Errorf("MCP server %q is not known; add it first", id)
		}
		if err != nil {
			return Server{}, err
		}
		d, err := ParseDoc(item)
		return d.Server(item.ID, item.Name), err
	}
}
