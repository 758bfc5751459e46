package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestVariables(t *testing.T) {
	s := Server{Values: map[string]string{"a": "1", "b c": "2", "evil": "{{a}} $a"}}
	for text, want := range map[string]string{
		"$a ${a} {{a}} {{ a }}": "1 1 1 1",
		"{{b c}} $ab $none":     "2 $ab $none",
		"$$a costs 5$":          "$a costs 5$",
		"{{evil}}":              "{{a}} $a",
		"{{secret:X}} {{none}}": "{{secret:X}} {{none}}",
	} {
		require.Equal(t, want, s.resolve(text), text)
	}
	address := Server{Type: TypeStreamable, URL: "https://{{host}}/$path"}
	address.Values = map[string]string{"host": "h", "path": "p/q"}
	require.NoError(t, address.Check())
	out := address.resolved()
	require.Equal(t, "https://h/p/q", out.URL)
	address.Values = map[string]string{"host": ""}
	require.ErrorIs(t, address.Check(), ErrAddress)
}

// secrets has one secret, bound to hosts.
type secrets struct{ hosts []string }

func (s secrets) Secret(context.Context, string) (engine.Secret, error) {
	return engine.Secret{Value: "sesame-123", Hosts: s.hosts}, nil
}

// headerServer returns a server whose only tool returns the headers of its requests.
func headerServer(t *testing.T, versions ...string) (url string, seen *atomic.Pointer[http.Header]) {
	t.Helper()
	seen = &atomic.Pointer[http.Header]{}
	answer := func() *sdk.CallToolResult {
		text := &sdk.TextContent{Text: "key " + seen.Load().Get("X-Key")}
		return &sdk.CallToolResult{Content: []sdk.Content{text}}
	}
	return answering(t, seen, answer, versions...), seen
}

// answering returns the address of a server whose only tool has these answers.
func answering(
	t *testing.T, seen *atomic.Pointer[http.Header], answer func() *sdk.CallToolResult, versions ...string,
) (url string) {
	t.Helper()
	options := &sdk.ServerOptions{SupportedProtocolVersions: versions}
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, options)
	sdk.AddTool(s, &sdk.Tool{Name: "show"}, func(context.Context, *sdk.CallToolRequest, struct{}) (
		*sdk.CallToolResult, any, error,
	) {
		return answer(), nil, nil
	})
	stateless := &sdk.StreamableHTTPOptions{Stateless: len(versions) == 0}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, stateless)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		seen.Store(&h)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = srv.Listener.Close() // Close would wait for streams that the SDK's server keeps open
		srv.CloseClientConnections()
	})
	return srv.URL
}

// TestProtocols connects to servers of the stateless protocol and of earlier ones.
func TestProtocols(t *testing.T) {
	for version, versions := range map[string][]string{
		"2026-07-28": nil, "2025-11-25": {"2025-11-25"}, "2025-03-26": {"2025-03-26"},
	} {
		t.Run(version, func(t *testing.T) {
			url, seen := headerServer(t, versions...)
			c := &Client{}
			t.Cleanup(c.Close)
			s := Server{ID: "a", Name: "test", Type: TypeStreamable, URL: url}
			s.Headers = map[string]string{"X-Key": "{{secret:K}}"}
			port := &Port{Client: c, Owner: "run", Secrets: secrets{}, Find: Set{"a": s}.Find}
			tools, err := port.ListTools(t.Context(), ref("a"))
			require.NoError(t, err)
			require.Len(t, tools, 1)
			text, err := textFrom(port)(t.Context(), ref("a"), "show", engine.Null)
			require.NoError(t, err)
			require.Equal(t, "key {{secret:K}}", text, "the secret was sent, and is hidden in the result")
			require.Equal(t, "sesame-123", seen.Load().Get("X-Key"))
			require.Equal(t, version, seen.Load().Get("Mcp-Protocol-Version"))
			sessions := seen.Load().Get("Mcp-Session-Id") != ""
			require.Equal(t, version != "2026-07-28", sessions, "that protocol has no sessions")
		})
	}
}

// The headers of an agent reach the server, in addition to its configured ones and overriding them.
func TestHeadersOfTheNode(t *testing.T) {
	url, seen := headerServer(t)
	c := &Client{}
	t.Cleanup(c.Close)
	s := Server{ID: "a", Type: TypeStreamable, URL: url, Headers: map[string]string{"X-Key": "old", "X-Own": "own"}}
	port := &Port{Client: c, Owner: "run", Secrets: secrets{}, Find: Set{"a": s}.Find}
	server := &engine.MCPServer{ID: "a", SecretMark: "m1", Header: []engine.HTTPHeader{
		{Name: "x-key", Value: "Bearer {{secret:K:m1}}"}, {Name: "X-Plain", Value: "{{secret:K}}"},
	}}
	_, err := port.CallTool(t.Context(), server, "show", engine.Null)
	require.NoError(t, err)
	require.Equal(t, "Bearer sesame-123", seen.Load().Get("X-Key"))
	require.Equal(t, "{{secret:K}}", seen.Load().Get("X-Plain"), "a placeholder without the mark is text")
	require.Equal(t, "own", seen.Load().Get("X-Own"))

	_, err = port.CallTool(t.Context(), ref("a"), "show", engine.Null)
	require.NoError(t, err)
	require.Equal(t, "old", seen.Load().Get("X-Key"), "another agent of the run has its own headers")

	port.Secrets = secrets{hosts: []string{"example.org"}}
	_, err = port.CallTool(t.Context(), server, "show", engine.Null)
	require.ErrorContains(t, err, "not bound to this host")
}

func TestServersOfTheCanvas(t *testing.T) {
	url, _ := headerServer(t)
	port := &Port{Client: &Client{}, Owner: "run", Find: Set{}.Find}
	t.Cleanup(port.Client.Close)
	tools, err := port.ListTools(t.Context(), &engine.MCPServer{URL: url})
	require.NoError(t, err)
	require.Len(t, tools, 1)
	_, err = port.ListTools(t.Context(), &engine.MCPServer{URL: "x", Type: TypeStdio})
	require.ErrorIs(t, err, ErrType)
	_, err = port.ListTools(t.Context(), &engine.MCPServer{URL: "file:///etc/passwd"})
	require.ErrorIs(t, err, ErrAddress)
	_, err = port.ListTools(t.Context(), ref("nope"))
	require.ErrorContains(t, err, `MCP server "nope" is not known`)
}

func TestReadSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	read := func(text string) (Set, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return ReadSet(file)
	}
	set, err := read(`{"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "${package}"], "env": {"TOKEN": "x"}, "variables": {"package": "p"}},
		"old": {"type": "sse", "url": "https://example.org/sse", "headers": {"Authorization": "Bearer $key"}},
		"web": {"url": "https://example.org/mcp", "authorization_token": "t"}}}`)
	require.NoError(t, err)
	require.Equal(t, TypeStdio, set["files"].Type)
	files := set["files"]
	files = files.resolved()
	require.Equal(t, []string{"-y", "p"}, files.Args)
	require.Equal(t, map[string]string{"TOKEN": "x"}, files.Env)
	require.Equal(t, TypeSSE, set["old"].Type)
	web := set["web"]
	require.Equal(t, TypeStreamable, web.Type)
	require.Equal(t, "Bearer t", web.header().Get("Authorization"))
	_, err = set.Find(t.Context(), "fils")
	require.ErrorContains(t, err, `did you mean "files"?`)

	for text, want := range map[string]string{
		`{}`: "mcpServers is missing",
		`{"mcpServers": {"a": {"type": "pigeon", "url": "https://a"}}}`:   `a: unsupported MCP server type: "pigeon"`,
		`{"mcpServers": {"a": {}}}`:                                       "a: invalid MCP server address",
		`{"mcpServers": {"a": {"type": "stdio", "url": "https://a"}}}`:    "a: invalid MCP server command",
		`{"mcpServers": {"a": {"type": "http", "url": "ftp://a.org/b"}}}`: "a: invalid MCP server address",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want, text)
	}
}
