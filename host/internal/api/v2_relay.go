package api

import (
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/host/internal/plugin"
	plugins "github.com/easel-canvas/easel/plugins/contract"
)

// A plugin that runs in a page reaches the web through the host, which holds
// what it is granted and the tenant's secrets.
var v2RelayRoutes = []route{
	{method: "POST", path: "/api/v2/plugins/{plugin}/fetch", body: bodyCanvas, scope: scopeRun, answer: (*API).v2Relay, doc: &v2Doc{
		name: "pluginFetch", about: "Sends a request of a plugin that runs in a page, with the plugin's grant and the tenant's secrets: {{secret:NAME:MARK}}, where MARK is secret_mark. Other placeholders are plain text.",
		in: schemaOf[v2RelayInput](), out: schemaOf[v2Relayed](),
	}},
}

type v2RelayInput struct {
	Method     string            `json:"method,omitempty" jsonschema:"GET when left out"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"`
	SecretMark string            `json:"secret_mark,omitempty" jsonschema:"mark of the call, carried by the placeholders of secrets that count; without it none does"`
}

type v2Relayed struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	BodyBase64 string            `json:"body_base64"`
}

func (a *API) v2Relay(c *call) error {
	var in v2RelayInput
	if err := c.decode(&in); err != nil {
		return err
	}
	body, err := base64.StdEncoding.DecodeString(in.BodyBase64)
	if err != nil {
		return badArgument("body_base64: %s", err)
	}
	if a.cfg.Plugins == nil {
		return notFoundV2("plugin")
	}
	res, err := a.cfg.Plugins.Relay(c.ctx(), c.who.tenant, c.params["plugin"], plugin.Relayed{
		Method: in.Method, URL: in.URL, Headers: in.Headers, Body: body, SecretMark: in.SecretMark,
	})
	if err != nil {
		return relayFailure(err)
	}
	c.json(http.StatusOK, v2Relayed{res.Status, res.Headers, base64.StdEncoding.EncodeToString(res.Body)})
	return nil
}

// relayFailure keeps a plugin's error code.
func relayFailure(err error) error {
	var e *plugins.Error
	if !errors.As(err, &e) {
		return err
	}
	code, ok := map[plugins.Code]int{
		plugins.Denied: http.StatusForbidden, plugins.InvalidArgument: http.StatusUnprocessableEntity,
		plugins.NotFound: http.StatusNotFound, plugins.Unauthorized: http.StatusConflict,
		plugins.Unsupported: http.StatusConflict, plugins.NeedsApproval: http.StatusConflict,
	}[e.Code]
	if !ok {
		code = http.StatusBadGateway
	}
	return &status{code, string(e.Code), e.Message}
}
