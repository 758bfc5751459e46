package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// oldServer returns a server of an earlier protocol that never responds to server/discover, with
// the number of such requests.
func oldServer(t *testing.T) (url string, discovers *atomic.Int32) {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "old", Version: "1"}, &sdk.ServerOptions{
		SupportedProtocolVersions: []string{"2025-03-26"},
	})
	sdk.AddTool(s, &sdk.Tool{Name: "greet"}, sayHello)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	done := make(chan struct{})
	discovers = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(body), `"server/discover"`) {
			discovers.Add(1)
			select {
			case <-done:
			case <-r.Context().Done():
			}
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(done)
		_ = srv.Listener.Close() // Close would wait for streams that the SDK's server keeps open
		srv.CloseClientConnections()
	})
	return srv.URL, discovers
}

// A server that ignores server/discover is reached by initialize, and is not asked again.
func TestServersThatIgnoreDiscover(t *testing.T) {
	url, discovers := oldServer(t)
	c := &Client{DiscoverTimeout: 50 * time.Millisecond}
	t.Cleanup(c.Close)
	s := Server{ID: "a", Name: "old", Type: TypeStreamable, URL: url}
	for _, owner := range []string{"one run", "another run"} {
		port := &Port{Client: c, Owner: owner, Find: Set{"a": s}.Find}
		tools, err := port.ListTools(t.Context(), ref("a"))
		require.NoError(t, err)
		require.Len(t, tools, 1)
		text, err := textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
		require.NoError(t, err)
		require.Equal(t, "hello Ann", text)
	}
	require.EqualValues(t, 1, discovers.Load())
	require.LessOrEqual(t, discoverTimeout, 5*time.Second)
}

func TestProcessesThatIgnoreDiscover(t *testing.T) {
	port := stdio(t, "ignores discover")
	port.Client.DiscoverTimeout = 50 * time.Millisecond
	tools, err := port.ListTools(t.Context(), ref("a"))
	require.NoError(t, err)
	require.Equal(t, "greet", tools[0].Name)
}

// serveIgnoringDiscover is a server over stdio that reads requests of earlier protocols only.
func serveIgnoringDiscover(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		result := ""
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},` +
				`"serverInfo":{"name":"o","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`
		default:
			continue
		}
		_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}
