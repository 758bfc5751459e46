package api

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/web"
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
	s := newSite(t)
	url := toolServer(t)
	const at = "/v1/mcp_server/"
	a := s.good(s.post(at+"create", `{"name":"tools","url":"`+url+`","server_type":"streamable-http","headers":{"Authorization":"Bearer hush"}}`))
	id := a.data().Get("id").Str()
	require.Equal(t, "repeats", a.data().Get("variables").Get("tools").Get("echo").Get("description").Str())
	require.NotContains(t, s.post(at+"list", `{}`).text, "hush")
	var dump bytes.Buffer
	require.NoError(t, s.store.Dump(t.Context(), &dump))
	require.NotContains(t, dump.String(), "hush", "headers are sealed at rest")
	item, err := s.store.Item(t.Context(), "one", mcp.Kind, id)
	require.NoError(t, err)
	doc, err := mcp.ParseDoc(item)
	require.NoError(t, err)
	require.Equal(t, "Bearer hush", doc.Headers["Authorization"])
	a = s.good(s.post(at+"update", `{"mcp_id":"`+id+`","variables":{"token":"hush hush"}}`))
	require.NotContains(t, a.text, "hush")
	a = s.good(s.post(at+"update", `{"mcp_id":"`+id+`","headers":{"Authorization":"********"},"variables":`+a.data().Get("variables").JSON()+`}`))
	require.NotEmpty(t, a.data().Get("variables").Get("tools").JSON())
	item, err = s.store.Item(t.Context(), "one", mcp.Kind, id)
	require.NoError(t, err)
	doc, err = mcp.ParseDoc(item)
	require.NoError(t, err)
	require.Equal(t, "hush hush", doc.Variables.Get("token").Str(), "what is sent back hidden stays")
	require.Equal(t, "Bearer hush", doc.Headers["Authorization"])
	require.Equal(t, "Duplicated MCP server name.", s.post(at+"create", `{"name":"Tools","url":"`+url+`","server_type":"sse"}`).message())
	require.Equal(t, "Unsupported MCP server type.", s.post(at+"create", `{"name":"x","url":"`+url+`","server_type":"stdio"}`).message())
	require.Equal(t, "Invalid url.", s.post(at+"create", `{"name":"x","url":"ftp://x","server_type":"sse"}`).message())
	a = s.good(s.post(at+"create", `{"name":"away","url":"http://127.0.0.1:1/","server_type":"sse","timeout":1}`))
	require.Zero(t, a.data().Get("variables").Get("tools").Len(), "an unreachable server is kept without tools")

	a = s.good(s.post(at+"test_tool", `{"mcp_id":"`+id+`","tool_name":"echo","arguments":{"text":"x"}}`))
	require.Equal(t, "echo x", a.data().Str())
	s.good(s.post(at+"cache_tools", `{"mcp_id":"`+id+`","tools":[{"name":"echo","enabled":false}]}`))
	a = s.good(s.post(at+"list_tools", `{"mcp_ids":["`+id+`"]}`))
	require.False(t, a.data().Get(id).At(0).Get("enabled").True(), "what is switched off stays so")
	require.Equal(t, "404", s.get(at+"detail?mcp_id="+nowhere).body.Get("code").Text())
	require.Contains(t, s.get("/0.27/api/v1/mcp/servers/"+nowhere).message(), "Cannot find MCP server")

	a = s.good(s.post(at+"export", `{"mcp_ids":["`+id+`"]}`))
	require.Equal(t, url, a.data().Get("mcpServers").Get("tools").Get("url").Str())
	a = s.good(s.post(at+"import", `{"mcpServers":{"tools":{"type":"streamable-http","url":"`+url+`"},"bad":{"url":"x"}}}`))
	require.Equal(t, "tools_0", a.data().Get("results").At(0).Get("new_name").Str())
	require.False(t, a.data().Get("results").At(1).Get("success").True())
	a = s.good(s.post(at+"test_mcp", `{"url":"`+url+`","server_type":"streamable-http"}`))
	require.True(t, a.data().At(0).Get("enabled").True())
	s.good(s.put("/0.27/api/v1/mcp/servers/"+id, `{"description":"d"}`))
	s.good(s.post(at+"rm", `{"mcp_ids":["`+id+`"]}`))
}

func TestPrivateServersAreRefused(t *testing.T) {
	s := newSite(t, func(c *Config) { c.MCP = &mcp.Client{Transport: (&web.Client{}).Transport()} })
	a := s.post("/v1/mcp_server/test_mcp", `{"url":"`+toolServer(t)+`","server_type":"streamable-http"}`)
	require.Equal(t, 102, a.code())
	require.Contains(t, a.message(), "private or reserved")
	require.Contains(t, a.message(), "--allow-private")
}
