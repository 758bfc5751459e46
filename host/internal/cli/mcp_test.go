package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// asToolServer makes a copy of the test program an MCP server over stdio.
const asToolServer = "EASEL_CLI_TEST_TOOLS"

// toolServer returns an MCP server with the tool double.
func toolServer() *sdk.Server {
	type number struct {
		N int `json:"n"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "numbers", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "double"}, func(_ context.Context, _ *sdk.CallToolRequest, in number) (
		*sdk.CallToolResult, any, error,
	) {
		text := &sdk.TextContent{Text: fmt.Sprintf("twice %d is %d", in.N, 2*in.N)}
		return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil, nil
	})
	return s
}

func serveTools() { _ = toolServer().Run(context.Background(), &sdk.StdioTransport{}) }

// doubling returns a canvas with an Agent that uses the server "numbers".
func doubling(t *testing.T) string {
	return file(t, "doubling.json", sketch.Canvas(
		"begin Begin -> Agent:A",
		`Agent:A Agent {"llm_id":"x","prompts":[{"role":"user","content":"{sys.query}"}],
			"mcp":[{"mcp_id":"numbers","tools":{"double":{}}}]} -> Message:M`,
		`Message:M Message {"content":["{Agent:A@content}"]}`,
	))
}

// doublingScript returns the answers of the model for it.
func doublingScript(t *testing.T) string {
	return "scripted:" + file(t, "script.json", `{"llm_script": [
		{"text": "[{\"name\": \"double\", \"arguments\": {\"n\": 21}}]"},
		{"text": "[{\"name\": \"complete_task\", \"arguments\": {\"answer\": \"done\"}}]"},
		{"text": "the end"}]}`)
}

// stdioServer returns the configuration of this test program as a server.
func stdioServer(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	server, err := json.Marshal(map[string]any{
		"command": self, "env": map[string]string{asToolServer: "${on}"}, "variables": map[string]string{"on": "1"},
	})
	require.NoError(t, err)
	return string(server)
}

func TestRunWithMCPServers(t *testing.T) {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return toolServer() }, nil)
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		_ = web.Listener.Close() // Close would wait for streams that the SDK's server keeps open
		web.CloseClientConnections()
	})
	for name, server := range map[string]string{"stdio": stdioServer(t), "http": `{"url":"` + web.URL + `"}`} {
		t.Run(name, func(t *testing.T) {
			servers := file(t, "mcp.json", `{"mcpServers":{"numbers":`+server+`}}`)
			flags := []string{"--mcp", servers, "--allow-private", "--model", doublingScript(t)}
			code, out, errs := easel(t, append([]string{"run", doubling(t), "-q", "x", "--events"}, flags...)...)
			require.Equal(t, ExitOK, code, errs)
			require.Contains(t, out, "twice 21 is 42")
			code, out, errs = typed(t, "x\n", append([]string{"chat", doubling(t)}, flags...)...)
			require.Equal(t, ExitOK, code, errs)
			require.Contains(t, out, "the end")
		})
	}
	code, out, errs := easel(t, "run", doubling(t), "--model", doublingScript(t), "-q", "x", "--events")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, `MCP server \"numbers\" is not known; name it in the file of --mcp`)
	wrong := file(t, "mcp.json", `{"mcpServers":{"numbers":{"type":"pigeon"}}}`)
	code, _, errs = easel(t, "run", doubling(t), "--mcp", wrong)
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, `numbers: unsupported MCP server type: "pigeon"`)
}

// A tenant's server over stdio runs only where the operator allows it.
func TestServeWithStdioServers(t *testing.T) {
	const at = "/v1/mcp_server/"
	var server map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdioServer(t)), &server))
	server["name"], server["server_type"] = "numbers", "stdio"
	body, err := json.Marshal(server)
	require.NoError(t, err)
	env := []string{"EASEL_API_KEY=" + operatorKey}
	s := serve(t, env, "--data", t.TempDir())
	require.Contains(t, s.post(at+"create", operatorKey, string(body)), "start it with --mcp-stdio")

	s = serve(t, env, "--data", t.TempDir(), "--mcp-stdio")
	created := parse1(t, s.post(at+"create", operatorKey, string(body)))
	require.Equal(t, "double", created.Get("data").Get("variables").Get("tools").Get("double").Get("name").Str())
	id := created.Get("data").Get("id").Str()
	answer := s.post(at+"test_tool", operatorKey, `{"mcp_id":"`+id+`","tool_name":"double","arguments":{"n":4}}`)
	require.Contains(t, answer, "twice 4 is 8")
}

// A Message with voice output works in run and chat as on a server.
func TestRunSpeaks(t *testing.T) {
	voice := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/v1/audio/speech", r.URL.Path)
		_, _ = io.WriteString(w, "ID3 sound")
	}))
	t.Cleanup(voice.Close)
	canvas := file(t, "speaks.json", sketch.Canvas(
		"begin Begin -> Message:M",
		`Message:M Message {"content":["Hello."],"auto_play":true}`,
	))
	models := file(t, "models.json", `{"providers":[{"name":"Local","base_url":"`+voice.URL+`/v1",
		"models":[{"name":"tts","kind":"speech"}]}]}`)
	var out, errs bytes.Buffer
	a := withEnv(t, &out, &errs, []string{"EASEL_MODEL_FILE=" + models})
	require.NoError(t, a.dispatch(t.Context(), []string{"run", canvas, "--events"}))
	require.Contains(t, out.String(), `"audio_binary":"`+hex.EncodeToString([]byte("ID3 sound")))
}
