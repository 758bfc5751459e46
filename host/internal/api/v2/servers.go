package v2

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// servers are the MCP servers of a tenant, whose tools agents call.
type servers struct{ *app.Services }

func (s servers) operations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	const all, one = "/api/v2/mcp-servers", "/api/v2/mcp-servers/{id}"
	return []operation{
		handle(operation{
			method: "GET", path: all, body: api.BodyNone, scope: read, name: "listMCPServers",
			about: "List the MCP servers of the tenant. The values of headers are not shown.",
		}, s.list),
		handle(operation{
			method: "POST", path: all, body: api.BodySmall, scope: edit, name: "createMCPServer", status: created,
			about: "Add an MCP server that is reached over HTTP.",
		}, s.add),
		handle(operation{
			method: "PUT", path: one, body: api.BodySmall, scope: edit, name: "updateMCPServer",
			about: "Update the given members of an MCP server. Headers replace all headers; one whose value is " +
				"empty keeps its stored value, unless the URL changes.",
		}, s.update),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteMCPServer",
			about: "Remove an MCP server.",
		}, s.remove),
		handle(operation{
			method: "POST", path: one + "/tools", body: api.BodyTiny, scope: edit, name: "listMCPTools",
			about: "Connect to an MCP server, and store and return the tools that it offers.",
		}, s.tools),
	}
}

type serverView struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type" jsonschema:"streamable-http, sse or stdio"`
	URL         string    `json:"url,omitempty" jsonschema:"absent for stdio"`
	Description string    `json:"description,omitempty"`
	Headers     []string  `json:"headers" jsonschema:"names of the headers that are sent"`
	Tools       []string  `json:"tools" jsonschema:"names of the tools that it offered last"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

type serverInput struct {
	Name        *string           `json:"name,omitempty" jsonschema:"unique within the tenant"`
	Type        *string           `json:"type,omitempty" jsonschema:"streamable-http (default) or sse"`
	URL         *string           `json:"url,omitempty"`
	Description *string           `json:"description,omitempty"`
	Headers     map[string]string `json:"headers,omitempty" jsonschema:"sent along; may hold {{secret:NAME}}"`
}

type toolView struct {
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	InputSchema engine.Value `json:"input_schema,omitzero" jsonschema:"JSON Schema of the arguments"`
}

type toolList struct {
	OK    bool       `json:"ok"`
	Error string     `json:"error,omitempty" jsonschema:"why the server cannot be used"`
	Items []toolView `json:"items"`
}

// toolTime bounds the listing of a server's tools.
const toolTime = 20 * time.Second

func serverViewOf(item app.Item) serverView {
	d, err := app.ParseServer(item)
	if err != nil {
		d = app.ServerDoc{}
	}
	out := serverView{
		ID: item.ID, Name: item.Name, Type: d.Type, URL: d.URL, Description: d.Description,
		Headers: slices.Sorted(maps.Keys(d.Headers)), Tools: []string{},
		Created: timeOf(item.CreateTime), Updated: timeOf(item.UpdateTime),
	}
	if out.Headers == nil {
		out.Headers = []string{}
	}
	for name := range d.Variables.Get(app.ToolsVariable).Fields() {
		out.Tools = append(out.Tools, name)
	}
	return out
}

func (s servers) list(ctx context.Context, in byTenant) (list[serverView], error) {
	items, err := s.Servers.List(ctx, in.Who.Tenant)
	out := list[serverView]{Items: make([]serverView, len(items))}
	for i, item := range items {
		out.Items[i] = serverViewOf(item)
	}
	return out, err
}

// apply writes the given members over a server. An empty header is the one that is stored.
func (in *serverInput) apply(item *app.Item, d *app.ServerDoc) {
	if in.Name != nil {
		item.Name = *in.Name
	}
	headers := maps.Clone(in.Headers)
	for name, value := range headers {
		if value == "" {
			headers[name] = app.KeptValue
		}
	}
	c := app.ServerChange{Type: in.Type, URL: in.URL, Description: in.Description, Headers: headers}
	*d = d.Apply(c)
}

// put checks and stores a server.
func (s servers) put(ctx context.Context, who app.Principal, item app.Item, d app.ServerDoc) (serverView, error) {
	if item.Name == "" {
		return serverView{}, app.BadArgument("name is empty; expected the name of the server")
	}
	if err := s.Servers.Check(d, item.Name); err != nil {
		return serverView{}, app.BadArgument("%s", err)
	}
	item, err := s.Servers.Put(ctx, who.Tenant, item, d)
	if errors.Is(err, app.ErrExists) {
		err = app.Refuse(app.CodeExists, "there is an MCP server named %q already", item.Name)
	}
	return serverViewOf(item), err
}

type addServer struct {
	Who  app.Principal
	Body serverInput
}

func (s servers) add(ctx context.Context, in addServer) (serverView, error) {
	item, d := app.Item{}, app.ServerDoc{Type: "streamable-http"}
	in.Body.apply(&item, &d)
	if d.Type == "stdio" {
		return serverView{}, app.BadArgument("servers of type stdio cannot be added here")
	}
	return s.put(ctx, in.Who, item, d)
}

// find finds a server of the principal's tenant.
func (s servers) find(ctx context.Context, who app.Principal, id string) (app.Item, app.ServerDoc, error) {
	item, d, err := s.Servers.Get(ctx, who.Tenant, id)
	if errors.Is(err, app.ErrNotFound) {
		err = app.Missing("MCP server")
	}
	return item, d, err
}

type updateServer struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body serverInput
}

func (s servers) update(ctx context.Context, in updateServer) (serverView, error) {
	item, d, err := s.find(ctx, in.Who, in.ID)
	if err != nil {
		return serverView{}, err
	}
	kind := d.Type
	in.Body.apply(&item, &d)
	if (d.Type == "stdio") != (kind == "stdio") {
		return serverView{}, app.BadArgument("type cannot be changed from %s to %s", kind, d.Type)
	}
	return s.put(ctx, in.Who, item, d)
}

type serverByID struct {
	Who app.Principal
	ID  string `path:"id"`
}

func (s servers) remove(ctx context.Context, in serverByID) (empty, error) {
	if _, _, err := s.find(ctx, in.Who, in.ID); err != nil {
		return empty{}, err
	}
	return empty{}, s.Servers.Delete(ctx, in.Who.Tenant, in.ID)
}

func (s servers) tools(ctx context.Context, in serverByID) (toolList, error) {
	item, d, err := s.find(ctx, in.Who, in.ID)
	if err != nil {
		return toolList{}, err
	}
	out := toolList{Items: []toolView{}}
	tools, err := s.Servers.Tools(ctx, in.Who.Tenant, d, item, toolTime)
	if err != nil {
		out.Error = err.Error()
		return out, nil
	}
	for name, tool := range tools.Fields() {
		out.Items = append(out.Items, toolView{name, tool.Get("description").Str(), tool.Get("inputSchema")})
	}
	d.Variables = d.Variables.With(app.ToolsVariable, tools)
	out.OK = true
	_, err = s.Servers.Put(ctx, in.Who.Tenant, item, d)
	return out, err
}
