package ragflow_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func toolServer(t *testing.T) string {
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	type input struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "repeats"}, func(_ context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo " + in.Text}}}, nil, nil
	})
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

func TestServers(t *testing.T) {
	s := apitest.New(t)
	url := toolServer(t)
	const at = "/v1/mcp_server/"
	a := s.Good(s.Post(at+"create", `{"name":"tools","url":"`+url+`","server_type":"streamable-http","headers":{"Authorization":"Bearer hush"}}`))
	id := a.Data().Get("id").Str()
	require.Equal(t, "repeats", a.Data().Get("variables").Get("tools").Get("echo").Get("description").Str())
	require.NotContains(t, s.Post(at+"list", `{}`).Text, "hush")
	var dump bytes.Buffer
	require.NoError(t, s.Store.Dump(t.Context(), &dump))
	require.NotContains(t, dump.String(), "hush", "headers are sealed at rest")
	item, err := s.Store.Items.Get(t.Context(), "one", app.ServerKind, id)
	require.NoError(t, err)
	doc, err := app.ParseServer(item)
	require.NoError(t, err)
	require.Equal(t, "Bearer hush", doc.Headers["Authorization"])
	a = s.Good(s.Post(at+"update", `{"mcp_id":"`+id+`","variables":{"token":"hush hush"}}`))
	require.NotContains(t, a.Text, "hush")
	a = s.Good(s.Post(at+"update", `{"mcp_id":"`+id+`","headers":{"Authorization":"********"},"variables":`+a.Data().Get("variables").JSON()+`}`))
	require.NotEmpty(t, a.Data().Get("variables").Get("tools").JSON())
	item, err = s.Store.Items.Get(t.Context(), "one", app.ServerKind, id)
	require.NoError(t, err)
	doc, err = app.ParseServer(item)
	require.NoError(t, err)
	require.Equal(t, "hush hush", doc.Variables.Get("token").Str(), "what is sent back hidden stays")
	require.Equal(t, "Bearer hush", doc.Headers["Authorization"])
	require.Equal(t, "Duplicated MCP server name: Tools", s.Post(at+"create", `{"name":"Tools","url":"`+url+`","server_type":"sse"}`).Message())
	require.Equal(t, "Unsupported MCP server type.", s.Post(at+"create", `{"name":"x","url":"`+url+`","server_type":"stdio"}`).Message())
	require.Equal(t, "Invalid url.", s.Post(at+"create", `{"name":"x","url":"ftp://x","server_type":"sse"}`).Message())
	a = s.Good(s.Post(at+"create", `{"name":"away","url":"http://127.0.0.1:1/","server_type":"sse","timeout":1}`))
	require.Zero(t, a.Data().Get("variables").Get("tools").Len(), "an unreachable server is kept without tools")

	a = s.Good(s.Post(at+"test_tool", `{"mcp_id":"`+id+`","tool_name":"echo","arguments":{"text":"x"}}`))
	require.Equal(t, "echo x", a.Data().Str())
	s.Good(s.Post(at+"cache_tools", `{"mcp_id":"`+id+`","tools":[{"name":"echo","enabled":false}]}`))
	a = s.Good(s.Post(at+"list_tools", `{"mcp_ids":["`+id+`"]}`))
	require.False(t, a.Data().Get(id).At(0).Get("enabled").True(), "what is switched off stays so")
	require.Equal(t, "404", s.Get(at+"detail?mcp_id="+apitest.Nowhere).Body.Get("code").Text())
	require.Contains(t, s.Get("/0.27/api/v1/mcp/servers/"+apitest.Nowhere).Message(), "Cannot find MCP server")

	a = s.Good(s.Post(at+"export", `{"mcp_ids":["`+id+`"]}`))
	require.Equal(t, url, a.Data().Get("mcpServers").Get("tools").Get("url").Str())
	a = s.Good(s.Post(at+"import", `{"mcpServers":{"tools":{"type":"streamable-http","url":"`+url+`"},"bad":{"url":"x"}}}`))
	require.Equal(t, "tools_0", a.Data().Get("results").At(0).Get("new_name").Str())
	require.False(t, a.Data().Get("results").At(1).Get("success").True())
	a = s.Good(s.Post(at+"test_mcp", `{"url":"`+url+`","server_type":"streamable-http"}`))
	require.True(t, a.Data().At(0).Get("enabled").True())
	s.Good(s.Put("/0.27/api/v1/mcp/servers/"+id, `{"description":"d"}`))
	s.Good(s.Post(at+"rm", `{"mcp_ids":["`+id+`"]}`))
}

func TestPrivateServersAreRefused(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.MCP = &mcp.Client{Transport: (&web.Client{}).Transport()} })
	a := s.Post("/v1/mcp_server/test_mcp", `{"url":"`+toolServer(t)+`","server_type":"streamable-http"}`)
	require.Equal(t, 102, a.Code())
	require.Contains(t, a.Message(), "private or reserved")
	require.Contains(t, a.Message(), "--allow-private")
}

// Servers over stdio are refused unless the host allows them; their environment is sealed.
func TestServersOverStdio(t *testing.T) {
	const at = "/v1/mcp_server/"
	const body = `{"name":"child","server_type":"stdio","command":"/nowhere/server","args":["--fast"],
		"env":{"TOKEN":"hush"}}`
	s := apitest.New(t)
	require.Contains(t, s.Post(at+"create", body).Message(), "start it with --mcp-stdio")

	s = apitest.New(t, func(c *apitest.Config) { c.MCP = &mcp.Client{Stdio: true} })
	a := s.Good(s.Post(at+"create", body))
	require.Equal(t, "/nowhere/server", a.Data().Get("command").Str())
	require.Equal(t, "--fast", a.Data().Get("args").At(0).Str())
	require.NotContains(t, a.Text, "hush")
	id := a.Data().Get("id").Str()
	item, err := s.Store.Items.Get(t.Context(), "one", app.ServerKind, id)
	require.NoError(t, err)
	require.NotContains(t, string(item.Doc), "hush")
	a = s.Post(at+"test_tool", `{"mcp_id":"`+id+`","tool_name":"x","arguments":{}}`)
	require.Contains(t, a.Message(), "no such file")
	s.Good(s.Post(at+"update", `{"mcp_id":"`+id+`","env":{"TOKEN":"********"},"description":"d"}`))
	item, err = s.Store.Items.Get(t.Context(), "one", app.ServerKind, id)
	require.NoError(t, err)
	doc, err := app.ParseServer(item)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"TOKEN": "hush"}, doc.Env)
	a = s.Good(s.Post(at+"import", `{"mcpServers":{"other":{"command":"/nowhere/other"}}}`))
	require.True(t, a.Data().Get("results").At(0).Get("success").True(), a.Text)
	require.Contains(t, s.Post(at+"create", `{"name":"x","url":"u","server_type":"stdio"}`).Message(), "command")
}
