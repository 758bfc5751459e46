package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Kind is the kind of items under which servers are kept.
const Kind = "mcp"

// Doc is what is kept of a server beside its name.
type Doc struct {
	Type        string            `json:"server_type"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	Headers     map[string]string `json:"headers"`
	Variables   engine.Value      `json:"variables"` // values of headers, and tools: what the server offered last
}

// ParseDoc reads an item's document.
func ParseDoc(item store.Item) (Doc, error) {
	var d Doc
	if err := json.Unmarshal(item.Doc, &d); err != nil {
		return d, fmt.Errorf("MCP server %q: %w", item.Name, err)
	}
	return d, nil
}

// Server is how the server of a document is reached.
func (d Doc) Server(id, name string) Server {
	values := map[string]string{}
	for k, v := range d.Variables.Fields() {
		if k != "tools" {
			values[k] = v.Text()
		}
	}
	return Server{ID: id, Name: name, Type: d.Type, URL: d.URL, Headers: d.Headers, Values: values}
}

// Finder looks servers of one tenant up.
func Finder(s *store.Store, tenant string) func(context.Context, string) (Server, error) {
	return func(ctx context.Context, id string) (Server, error) {
		item, err := s.Item(ctx, tenant, Kind, id)
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
