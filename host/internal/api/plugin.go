package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	grants "github.com/easel-canvas/easel/plugins/contract"
)

// Plugins are the installed plugins as the API needs them.
type Plugins interface {
	// Palette describes them for one tenant.
	Palette(ctx context.Context, tenant string) ([]Plugin, error)
	// Grant is the most that plugins may do for a tenant; nil when it does not restrict them.
	Grant(ctx context.Context, tenant string) (*grants.Permissions, error)
	// SetGrant restricts what plugins may do for a tenant; nil takes the restriction away.
	SetGrant(ctx context.Context, tenant string, p *grants.Permissions) error
	// Relay sends a request of a plugin, NAME or NAME@VERSION, that runs in a page.
	Relay(ctx context.Context, tenant, name string, r plugin.Relayed) (*plugin.Response, error)
}

// Plugin is an installed plugin, as editors of canvases see it.
type Plugin struct {
	Component   string             `json:"component" jsonschema:"its name in a canvas, such as plugin:weather@1"`
	Name        string             `json:"name"`
	Version     string             `json:"version"`
	State       string             `json:"state" jsonschema:"on, off, waiting for approval, or broken"`
	Note        string             `json:"note,omitempty" jsonschema:"why it is not on"`
	Display     map[string]string  `json:"display,omitempty" jsonschema:"its name for people, by locale"`
	Category    string             `json:"category,omitempty"`
	Description string             `json:"description,omitempty"`
	License     string             `json:"license,omitempty"`
	Icon        string             `json:"icon,omitempty" jsonschema:"a data URL"`
	Streams     bool               `json:"streams" jsonschema:"its answer comes in pieces"`
	Preview     string             `json:"preview,omitempty" jsonschema:"where a preview runs it: local, server or none"`
	Params      engine.Value       `json:"params" jsonschema:"JSON Schema of what a node sets"`
	Outputs     engine.Value       `json:"outputs" jsonschema:"what other nodes may refer to: [{name, type, doc}]"`
	Tool        engine.Value       `json:"tool" jsonschema:"the function that a model may call, in OpenAI's form; null when it is none"`
	Granted     grants.Permissions `json:"granted" jsonschema:"what it may do for the caller"`
	Secrets     map[string]bool    `json:"secrets,omitempty" jsonschema:"the secrets it uses, and whether they are set"`
}

type v2Plugins struct {
	Items []Plugin `json:"items"`
}

type v2Grant struct {
	Grant *grants.Permissions `json:"grant" jsonschema:"the most that plugins may do for the caller; null restricts nothing"`
}

var pluginRoutes = []route{
	{method: "GET", path: "/api/v1/plugins", body: bodyNone, scope: scopeRead, answer: (*API).listPlugins},
	{method: "GET", path: "/v1/plugin/llm_tools", body: bodyNone, scope: scopeRead, answer: (*API).pluginTools},
	{method: "GET", path: "/api/v1/plugin/tools", body: bodyNone, scope: scopeRead, answer: (*API).pluginTools},
}

func (c *call) palette() ([]Plugin, error) {
	if c.a.cfg.Plugins == nil {
		return []Plugin{}, nil
	}
	list, err := c.a.cfg.Plugins.Palette(c.ctx(), c.who.tenant)
	if list == nil {
		list = []Plugin{}
	}
	return list, err
}

func (a *API) v2Plugins(c *call) error {
	list, err := c.palette()
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2Plugins{list})
	return nil
}

func (a *API) listPlugins(c *call) error {
	list, err := c.palette()
	if err != nil {
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return c.ok(document(text))
}

// pluginTools lists the functions of plugins as the original describes its own: {name, displayName,
// description, displayDescription, parameters: {name: {type, description, displayDescription,
// required}}}.
func (a *API) pluginTools(c *call) error {
	list, err := c.palette()
	if err != nil {
		return err
	}
	tools := []engine.Value{}
	for i := range list {
		if p := &list[i]; p.State == "on" && !p.Tool.IsNull() {
			tools = append(tools, toolMetadata(p))
		}
	}
	return c.ok(engine.List(tools...))
}

func toolMetadata(p *Plugin) engine.Value {
	f := p.Tool.Get("function")
	display := p.Display["en"]
	if display == "" {
		display = p.Name
	}
	required := map[string]bool{}
	for _, name := range f.Get("parameters").Get("required").Elements() {
		required[name.Str()] = true
	}
	params := engine.NewObject(4)
	for name, s := range f.Get("parameters").Get("properties").Fields() {
		params.Set(name, engine.Object("type", s.Get("type"), "description", s.Get("description"),
			"displayDescription", s.Get("description"), "required", required[name]))
	}
	return engine.Object("name", p.Name, "displayName", display, "description", p.Description,
		"displayDescription", p.Description, "parameters", params.Value())
}

func (a *API) v2GetGrant(c *call) error {
	if a.cfg.Plugins == nil {
		return notFoundV2("plugins")
	}
	p, err := a.cfg.Plugins.Grant(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2Grant{p})
	return nil
}

func (a *API) v2PutGrant(c *call) error {
	if a.cfg.Plugins == nil {
		return notFoundV2("plugins")
	}
	var in v2Grant
	grant, given := c.body.Lookup("grant")
	if !given {
		return &status{http.StatusUnprocessableEntity, "bad_argument", "grant is needed; null restricts nothing"}
	}
	if !grant.IsNull() {
		in.Grant = &grants.Permissions{}
		if err := json.Unmarshal(grant.AppendJSON(nil), in.Grant); err != nil {
			return &status{http.StatusUnprocessableEntity, "bad_argument", decodeProblem(err, "grant")}
		}
	}
	if err := a.cfg.Plugins.SetGrant(c.ctx(), c.who.tenant, in.Grant); err != nil {
		return err
	}
	c.json(http.StatusOK, in)
	return nil
}
