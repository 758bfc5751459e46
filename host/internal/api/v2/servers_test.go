package v2_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// Validation reports MCP servers that the host does not have, and tools that a server did not list.
func TestDiagnosticsOfServers(t *testing.T) {
	s := apitest.New(t)
	ctx, at := t.Context(), func(id string) app.Item { return app.Item{ID: id, Name: id} }
	tools := engine.Object(app.ToolsVariable, engine.Object("open", engine.Object("name", "open")))
	for id, variables := range map[string]engine.Value{"tickets": tools, "unlisted": engine.Object()} {
		d := app.ServerDoc{Type: "sse", URL: "https://x.org", Variables: variables}
		_, err := s.Services.Servers.Put(ctx, "one", at(id), d)
		require.NoError(t, err)
	}
	named := app.Item{ID: "7f", Name: "Help desk"}
	d := app.ServerDoc{Type: "sse", URL: "https://z.org", Variables: tools}
	_, err := s.Services.Servers.Put(ctx, "one", named, d)
	require.NoError(t, err)
	dsl := sketch.Canvas("begin Begin -> Agent:A", `Agent:A Agent {"llm_id":"x","mcp":[
		{"mcp_id":"tickets","tools":{"open":{},"close":{}}}, {"mcp_id":"unlisted","tools":{"any":{}}},
		{"mcp_id":"Help desk","tools":{"open":{}}}, {"mcp_id":"gone","tools":{"x":{}}},
		{"url":"https://y.org","tools":{"z":{}}}]}`)
	found := map[string]string{}
	for _, d := range s.As("one", "POST", "/api/v2/validate", `{"dsl":`+dsl+`}`, 200).Get("diagnostics").Elements() {
		if d.Get("param").Str() == "mcp" {
			require.Equal(t, "warning", d.Get("severity").Str())
			found[d.Get("code").Str()] += d.Get("message").Str()
		}
	}
	require.Equal(t, map[string]string{
		"unknown_server": `MCP server "gone" is not known, so the agent has none of its tools; add it first`,
		"unknown_tool":   `MCP server "tickets" had no tool "close" when its tools were last listed`,
	}, found)
}

// Validation reports models that a tenant does not have, in steps that run and in their tools.
func TestDiagnosticsOfModels(t *testing.T) {
	s := apitest.New(t)
	unknown := func(key, dsl string) (nodes []string) {
		for _, d := range s.As(key, "POST", "/api/v2/validate", `{"dsl":`+dsl+`}`, 200).Get("diagnostics").Elements() {
			if d.Get("code").Str() == "unknown_model" {
				require.Equal(t, "error", d.Get("severity").Str())
				nodes = append(nodes, d.Get("node").Str()+" "+d.Get("param").Str())
			}
		}
		return nodes
	}
	dsl := sketch.Canvas("begin Begin -> LLM:A", `LLM:A LLM {"llm_id":"deepseek-chat@DeepSeek"} -> LLM:B`,
		`LLM:B LLM {"llm_id":"SMALL@vendor"} -> LLM:C`, `LLM:C LLM {} -> Agent:D`,
		`Agent:D Agent {"tools":[{"component_name":"Agent","name":"sub","params":{"llm_id":"x@Y"}}]}`)
	require.Empty(t, unknown("one", dsl), "without a provider the offline model answers for all")
	server := apitest.Vendor(t)
	body := `{"base_url":"` + server.URL + `/v1","key":"sk-vendor","models":[{"name":"small"}]}`
	s.As("one", "PUT", "/api/v2/providers/Vendor", body, 200)
	require.Equal(t, []string{"LLM:A llm_id", "Agent:D tools"}, unknown("one", dsl))
	require.Empty(t, unknown("two", dsl))
	s.As("one", "PUT", "/api/v2/models/aliases", `{"aliases":{"deepseek-chat@DeepSeek":"small@Vendor"}}`, 200)
	require.Equal(t, []string{"Agent:D tools"}, unknown("one", dsl))
	s.As("one", "PUT", "/api/v2/models/aliases", `{"aliases":{"y":"none@Vendor"}}`, 422)
	s.As("one", "PUT", "/api/v2/models/aliases", `{}`, 422)
	s.As("one", "PUT", "/api/v2/models/default", `{"chat":"small@Vendor"}`, 200)
	require.Equal(t, "small@Vendor", s.As("one", "GET", "/api/v2/models/aliases", "", 200).Get("aliases").
		Get("deepseek-chat@DeepSeek").Str(), "a new default leaves the aliases")
	doc, err := engine.ParseJSON([]byte(dsl))
	require.NoError(t, err)
	steps := doc.Get("components")
	off := steps.With("Agent:D", steps.Get("Agent:D").With("disabled", engine.Bool(true)))
	require.Empty(t, unknown("one", doc.With("components", off).JSON()), "of a step that is switched off")
	fallback := engine.Object("fallback_models", engine.List(engine.String("none@Vendor")))
	set := doc.With("components", off).With("settings", fallback)
	require.Equal(t, []string{" settings.fallback_models"}, unknown("one", set.JSON()))
}

func TestMCPServers(t *testing.T) {
	s := apitest.New(t)
	made := s.As("one", "POST", "/api/v2/mcp-servers",
		`{"name":"Tickets","url":"https://mcp.example.org/mcp","headers":{"Authorization":"Bearer my-key"}}`, 201)
	id := made.Get("id").Str()
	require.Equal(t, "streamable-http", made.Get("type").Str())
	require.JSONEq(t, `["Authorization"]`, made.Get("headers").JSON())
	list := s.Request("GET", "/api/v2/mcp-servers", "one", "")
	require.NotContains(t, list.Text, "my-key", "values of headers are not shown")
	require.Zero(t, s.As("two", "GET", "/api/v2/mcp-servers", "", 200).Get("items").Len())

	header := func() string {
		_, d, err := s.Services.Servers.Get(t.Context(), "one", id)
		require.NoError(t, err)
		return d.Headers["Authorization"]
	}
	variables := func() string {
		_, d, err := s.Services.Servers.Get(t.Context(), "one", id)
		require.NoError(t, err)
		return d.Variables.JSON()
	}
	path := "/api/v2/mcp-servers/" + id
	s.As("one", "PUT", path, `{"description":"tickets","headers":{"Authorization":""}}`, 200)
	require.Equal(t, "Bearer my-key", header(), "an empty value keeps the stored one")
	s.As("one", "PUT", path, `{"url":"https://evil.example.org/mcp","headers":{"Authorization":""}}`, 200)
	require.Empty(t, header(), "a stored key is not sent to another address")
	s.As("one", "PUT", path, `{"headers":{"Authorization":"Bearer other"}}`, 200)
	s.As("one", "PUT", path, `{"url":"https://third.example.org/mcp"}`, 200)
	require.Empty(t, header())

	// What a dialect of RAGFlow stored with the headers is not sent there either.
	s.As("one", "PUT", path, `{"url":"http://127.0.0.1:1/mcp"}`, 200)
	s.Good(s.Post("/v1/mcp_server/update", `{"mcp_id":"`+id+`","timeout":1,"variables":{"token":"my-key"}}`))
	s.As("one", "PUT", path, `{"url":"HTTP://127.0.0.1:1/mcp"}`, 200)
	require.Contains(t, variables(), "my-key", "the same address")
	s.As("one", "PUT", path, `{"url":"http://127.0.0.1:2/mcp","headers":{"X":"${token}"}}`, 200)
	require.NotContains(t, variables(), "my-key")

	for _, bad := range []string{
		`{}`, `{"name":"x"}`, `{"name":"x","url":"ftp://x"}`, `{"name":"x","type":"pigeon","url":"https://x.org"}`,
		`{"name":"x","type":"stdio","url":"https://x.org"}`,
	} {
		s.As("one", "POST", "/api/v2/mcp-servers", bad, 422)
	}
	s.As("one", "PUT", path, `{"type":"stdio"}`, 422)
	s.As("one", "POST", "/api/v2/mcp-servers", `{"name":"Tickets","url":"https://x.org"}`, 409)

	s.As("one", "PUT", path, `{"url":"http://127.0.0.1:1/mcp"}`, 200)
	tools := s.As("one", "POST", path+"/tools", "", 200)
	require.False(t, tools.Get("ok").True())
	require.NotEmpty(t, tools.Get("error").Str())

	for _, call := range [][2]string{{"PUT", path}, {"DELETE", path}, {"POST", path + "/tools"}} {
		s.As("two", call[0], call[1], `{}`, 404)
	}
	s.As("one", "DELETE", path, "", 204)
	s.As("one", "DELETE", path, "", 404)
}

// A tenant sets its own prices, and others do not see them.
func TestPricesOfATenant(t *testing.T) {
	s := apitest.New(t)
	const path = "/api/v2/models/prices"
	require.Equal(t, `{}`, s.As("one", "GET", path, "", 200).Get("prices").JSON())
	const set = `{"small@Vendor":{"input":1,"output":2.5,"cached_input":0.5,"above":` +
		`{"tokens":200000,"input":2,"output":4}}}`
	s.As("one", "PUT", path, `{"prices":`+set+`}`, 200)
	require.JSONEq(t, set,
		s.As("one", "GET", path, "", 200).Get("prices").JSON())
	require.Equal(t, `{}`, s.As("two", "GET", path, "", 200).Get("prices").JSON())
	for _, bad := range []string{
		`{}`, `{"prices":{"m":{"input":-1,"output":1}}}`, `{"prices":{"":{"input":1,"output":1}}}`,
		`{"prices":{"m":{"input":"x","output":1}}}`, `{"prices":[]}`,
		`{"prices":{"m":{"input":1,"output":1,"above":{"input":1,"output":1}}}}`,
		`{"prices":{"m":{"input":1,"output":1,"above":{"tokens":9,"input":-1,"output":1}}}}`,
	} {
		s.As("one", "PUT", path, bad, 422)
	}
	s.As("one", "PUT", path, `{"prices":{}}`, 200)
	require.Equal(t, `{}`, s.As("one", "GET", path, "", 200).Get("prices").JSON())
}

// The tools of a server are listed with the headers that a run would send, secrets included, and
// with what a canvas stores of each.
func TestToolsOfServer(t *testing.T) {
	s := apitest.New(t)
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{
		Name: "echo", Description: "knows Bearer hush", InputSchema: map[string]any{
			"type": "object", "title": "hush", "properties": map[string]any{"hush": map[string]any{"type": "string"}},
		},
	}, nil)
	type order struct {
		Number int `json:"number"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "track", Description: "Tracks an order."},
		func(context.Context, *sdk.CallToolRequest, order) (*sdk.CallToolResult, any, error) {
			return nil, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hush" {
			http.Error(w, "not allowed: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	id := s.As("one", "POST", "/api/v2/mcp-servers",
		`{"name":"Shop","url":"`+srv.URL+`","headers":{"Authorization":"Bearer {{secret:SHOP}}"}}`, 201).Get("id").Str()
	list := func() engine.Value { return s.As("one", "POST", "/api/v2/mcp-servers/"+id+"/tools", "", 200) }
	require.Contains(t, list().Get("error").Str(), `secret "SHOP"`)
	s.As("one", "PUT", "/api/v2/secrets/SHOP", `{"value":"wrong"}`, 204)
	require.NotContains(t, list().Get("error").Str(), "wrong", "the value is removed from errors")
	s.As("one", "PUT", "/api/v2/secrets/SHOP", `{"value":"hush"}`, 204)
	found := list()
	require.True(t, found.Get("ok").True(), found.JSON())
	require.NotContains(t, found.JSON(), "hush", "a server cannot show an editor the value of a secret")
	tool := found.Get("items").At(1)
	require.Equal(t, "track Tracks an order.", tool.Get("name").Str()+" "+tool.Get("description").Str())
	require.Equal(t, "integer", tool.Get("input_schema").Get("properties").Get("number").Get("type").Str())
	s.As("one", "PUT", "/api/v2/secrets/SHOP", `{"value":"hush","hosts":["shop.example.org"]}`, 204)
	require.Contains(t, list().Get("error").Str(), "shop.example.org", "a secret goes to its hosts only")
}
