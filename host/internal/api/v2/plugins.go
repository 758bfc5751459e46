package v2

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// plugins are the installed plugins. One that runs in a page reaches the web through the host,
// which knows what it is granted and the tenant's secrets.
type plugins struct{ *app.Services }

func (p plugins) operations() []operation {
	const read = app.ScopeRead
	const grant, settings = "/api/v2/plugins/grant", "/api/v2/plugins/{plugin}/settings"
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/plugins", body: api.BodyNone, scope: read, name: "listPlugins",
			about: "List the installed plugins, with the schemas of their params and their grants for the caller.",
		}, p.list),
		handle(operation{
			method: "GET", path: grant, body: api.BodyNone, scope: read, name: "getPluginGrant",
			about: "Get the grant that restricts all plugins for the caller.",
		}, p.grant),
		handle(operation{
			method: "PUT", path: grant, body: api.BodySmall, scope: app.ScopeAdmin, name: "putPluginGrant",
			about: "Set the grant that restricts all plugins for the caller, in addition to what was approved for " +
				"this host.",
		}, p.putGrant),
		handle(operation{
			method: "GET", path: settings, body: api.BodyNone, scope: read, name: "getPluginSettings",
			about: "Get the settings of a plugin for the caller, and which of its secrets are set. Values of secrets " +
				"are not shown.",
		}, p.settings),
		handle(operation{
			method: "PATCH", path: settings, body: api.BodySmall, scope: app.ScopeEdit, name: "updatePluginSettings",
			about: "Change settings and secrets of a plugin for the caller. Members that are absent stay; null " +
				"removes a setting, an empty text a secret. A new secret is bound to the hosts for which the " +
				"plugin asks for it.",
		}, p.setSettings),
		handle(operation{
			method: "GET", path: "/api/v2/plugins/{plugin}/file", body: api.BodyNone, scope: read, name: "pluginFile",
			media: wasmType,
			about: "Get the file of an installed plugin, NAME or NAME@VERSION, to run it in a web page. The ETag is " +
				"the SHA-256 of the file. A plugin that is off or waits for approval has none.",
		}, p.file),
		handle(operation{
			method: "POST", path: "/api/v2/plugins/{plugin}/fetch", body: api.BodyCanvas, scope: app.ScopeRun,
			name: "pluginFetch",
			about: "Send an HTTP request for a plugin that runs in a web page, with the grants of the plugin and " +
				"the secrets of the tenant. A secret is written as {{secret:NAME:MARK}}, where MARK is " +
				"secret_mark; other placeholders are plain text.",
		}, p.fetch),
	}
}

type grantView struct {
	Grant *contract.Permissions `json:"grant" jsonschema:"upper bound of all plugin grants for the caller; null for no restriction"`
}

type relayInput struct {
	Method     string            `json:"method,omitempty" jsonschema:"default GET"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"`
	SecretMark string            `json:"secret_mark,omitempty" jsonschema:"mark of the call; only placeholders of secrets that carry it are replaced"`
}

type relayView struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	BodyBase64 string            `json:"body_base64"`
}

func (p plugins) list(ctx context.Context, in byTenant) (list[app.Plugin], error) {
	all, err := p.Palette(ctx, in.Who.Tenant)
	return list[app.Plugin]{all}, err
}

func (p plugins) grant(ctx context.Context, in byTenant) (grantView, error) {
	if p.Plugins == nil {
		return grantView{}, app.Missing("plugins")
	}
	grant, err := p.Plugins.Grant(ctx, in.Who.Tenant)
	return grantView{grant}, err
}

// readBody distinguishes a grant of null, which restricts nothing, from an absent one.
func (g *grantView) readBody(r *api.Request) error {
	grant, given := r.Body.Lookup("grant")
	if !given {
		return app.BadArgument("grant is missing; expected an object, or null to restrict nothing")
	}
	if grant.IsNull() {
		return nil
	}
	g.Grant = &contract.Permissions{}
	if err := json.Unmarshal(grant.AppendJSON(nil), g.Grant); err != nil {
		return app.BadArgument("%s", api.DecodeProblem(err, "grant"))
	}
	return nil
}

type putGrant struct {
	Who  app.Principal
	Body grantView
}

func (p plugins) putGrant(ctx context.Context, in putGrant) (grantView, error) {
	if p.Plugins == nil {
		return grantView{}, app.Missing("plugins")
	}
	return in.Body, p.Plugins.SetGrant(ctx, in.Who.Tenant, in.Body.Grant)
}

type pluginByName struct {
	Who    app.Principal
	Plugin string `path:"plugin"`
}

func (p plugins) settings(ctx context.Context, in pluginByName) (app.PluginSettings, error) {
	if p.Plugins == nil {
		return app.PluginSettings{}, app.Missing("plugin")
	}
	out, err := p.Plugins.Settings(ctx, in.Who.Tenant, in.Plugin)
	if err != nil {
		return out, pluginFailure(err)
	}
	return out, nil
}

const wasmType = "application/wasm"

// moduleFile is the file of a plugin as an answer.
type moduleFile struct {
	wasm   []byte
	digest string
}

// Write sends the file, or 304 to a request that has it.
func (f moduleFile) Write(r *api.Request) error {
	h := r.Writer.Header()
	h.Set("Content-Type", wasmType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-cache") // another version may be on, or none
	h.Set("ETag", `"`+f.digest+`"`)
	r.Begin()
	http.ServeContent(r.Writer, r.HTTP, "", time.Time{}, bytes.NewReader(f.wasm))
	return nil
}

func (p plugins) file(_ context.Context, in pluginByName) (moduleFile, error) {
	if p.Plugins == nil {
		return moduleFile{}, app.Missing("plugin")
	}
	wasm, digest, err := p.Plugins.File(in.Plugin)
	if err != nil {
		return moduleFile{}, pluginFailure(err)
	}
	return moduleFile{wasm, digest}, nil
}

type settingsInput struct {
	Settings engine.Value      `json:"settings,omitzero" jsonschema:"settings by name; null removes one"`
	Secrets  map[string]string `json:"secrets,omitempty" jsonschema:"secrets by name; an empty text removes one"`
}

type changeSettings struct {
	Who    app.Principal
	Plugin string `path:"plugin"`
	Body   settingsInput
}

func (p plugins) setSettings(ctx context.Context, in changeSettings) (app.PluginSettings, error) {
	if k := in.Body.Settings.Kind(); k != engine.KindNull && k != engine.KindObject {
		return app.PluginSettings{}, app.BadArgument("settings is a %s; expected an object", k)
	}
	if p.Plugins == nil {
		return app.PluginSettings{}, app.Missing("plugin")
	}
	change := app.PluginChange{Settings: in.Body.Settings, Secrets: in.Body.Secrets}
	if err := p.Plugins.SetSettings(ctx, in.Who.Tenant, in.Plugin, change); err != nil {
		return app.PluginSettings{}, pluginFailure(err)
	}
	return p.settings(ctx, pluginByName{in.Who, in.Plugin})
}

type fetch struct {
	Who    app.Principal
	Plugin string `path:"plugin"`
	Body   relayInput
}

func (p plugins) fetch(ctx context.Context, in fetch) (relayView, error) {
	body, err := base64.StdEncoding.DecodeString(in.Body.BodyBase64)
	if err != nil {
		return relayView{}, app.BadArgument("body_base64: %s", err)
	}
	if p.Plugins == nil {
		return relayView{}, app.Missing("plugin")
	}
	res, err := p.Plugins.Relay(ctx, in.Who.Tenant, in.Plugin, plugin.Relayed{
		Method: in.Body.Method, URL: in.Body.URL, Headers: in.Body.Headers, Body: body, SecretMark: in.Body.SecretMark,
	})
	if err != nil {
		return relayView{}, pluginFailure(err)
	}
	return relayView{res.Status, res.Headers, base64.StdEncoding.EncodeToString(res.Body)}, nil
}

// pluginStatus are the statuses of a plugin's errors; those of others are 502.
var pluginStatus = map[contract.Code]int{
	contract.Denied: http.StatusForbidden, contract.InvalidArgument: http.StatusUnprocessableEntity,
	contract.NotFound: http.StatusNotFound, contract.Unauthorized: http.StatusConflict,
	contract.Unsupported: http.StatusConflict, contract.NeedsApproval: http.StatusConflict,
}

// pluginFailure keeps a plugin's error code.
func pluginFailure(err error) error {
	var e *contract.Error
	if !errors.As(err, &e) {
		return err
	}
	code, ok := pluginStatus[e.Code]
	if !ok {
		code = http.StatusBadGateway
	}
	return &api.Status{HTTP: code, Code: string(e.Code), Message: e.Message}
}
