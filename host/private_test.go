package host

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// teapot is a response that must not be read.
const teapot = "short and stout"

// site is a server of this machine that canvases must not reach.
type site struct {
	port string
	hits atomic.Int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, s.port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.hits.Add(1)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, teapot)
	})}
	go func() { _ = server.Serve(l) }()
	// The same address by its other name, if the machine has one.
	if l, err := net.Listen("tcp", "[::1]:"+s.port); err == nil {
		go func() { _ = server.Serve(l) }()
	}
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// hosts returns ways to write an address of this machine or of its network.
func (s *site) hosts() []string {
	return []string{
		"127.0.0.1:" + s.port, "localhost:" + s.port, "LOCALHOST.:" + s.port, "127.1:" + s.port, "2130706433:" + s.port,
		"0x7f000001:" + s.port,
		"0177.0.0.1:" + s.port, "0:" + s.port, "0.0.0.0:" + s.port, "127.255.255.254:" + s.port, "[::1]:" + s.port,
		"[::]:" + s.port,
		"[::ffff:127.0.0.1]:" + s.port, "[::ffff:7f00:1]:" + s.port, "[64:ff9b::7f00:1]:" + s.port,
		"[fe80::1%25lo]:" + s.port,
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "[fd00:ec2::254]", "[fc00::1]",
		"198.18.0.1", "224.0.0.1",
		"u:p@127.0.0.1:" + s.port, "example.org@127.0.0.1:" + s.port, "127.0.0.1:" + s.port + "#@example.org",
	}
}

// asked sends a request and returns the response, of any status.
func asked(t *testing.T, url, method, path, kind, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(text)
}

// TestPrivateAddresses tries every way from a request to an address, through the served API, with
// every way to write one. No request arrives, and each answer has the reason or is empty. With
// --allow-private the same requests arrive.
func TestPrivateAddresses(t *testing.T) {
	s := newSite(t)
	const json = "application/json"
	ways := []struct {
		name string
		ask  func(t *testing.T, url, address string) string
	}{
		{"Invoke", func(t *testing.T, url, address string) string {
			return said(t, url, "key", saved(t, url, "key", sketch.Chain("begin Begin",
				`Invoke:X Invoke {"url":"`+address+`","method":"get","timeout":5}`)), "")
		}},
		{"Invoke with an address from the user", func(t *testing.T, url, address string) string {
			return said(t, url, "key", saved(t, url, "key", sketch.Chain("begin Begin",
				`Invoke:X Invoke {"url":"{sys.query}","method":"post","timeout":5}`)), address)
		}},
		{"Invoke through a proxy", func(t *testing.T, url, address string) string {
			return said(t, url, "key", saved(t, url, "key", sketch.Chain("begin Begin",
				`Invoke:X Invoke {"url":"http://example.org/","proxy":"`+address+`","method":"get","timeout":5}`)), "")
		}},
		{"Invoke with a fixed address", func(t *testing.T, url, address string) string {
			id := saved(t, url, "key", sketch.Chain("begin Begin", `Invoke:X Invoke {"url":"`+address+`","method":"get","timeout":5}`))
			return asked(t, url, "POST", "/v1/canvas/debug", json, `{"id":"`+id+`","component_id":"Invoke:X","params":{}}`)
		}},
		{"tool that reads pages", func(t *testing.T, url, address string) string {
			canvas := sketch.Chain("begin Begin", "X Crawler")
			return said(t, url, "key", saved(t, url, "key", canvas), address)
		}},
		{"tool with a base URL from the canvas", func(t *testing.T, url, address string) string {
			search := `{"searxng_url":"` + address + `"}`
			canvas := sketch.Chain("begin Begin", "X SearXNG "+search)
			return said(t, url, "key", saved(t, url, "key", canvas), "q")
		}},
		{"test of an MCP server", func(t *testing.T, url, address string) string {
			return asked(t, url, "POST", "/v1/mcp_server/test_mcp", json,
				`{"url":"`+address+`","server_type":"streamable-http","timeout":5}`)
		}},
		{"test of an MCP server over SSE", func(t *testing.T, url, address string) string {
			return asked(t, url, "POST", "/v1/mcp_server/test_mcp", json,
				`{"url":"`+address+`","server_type":"sse","timeout":5}`)
		}},
		{"adding an MCP server", func(t *testing.T, url, address string) string {
			return asked(t, url, "POST", "/0.27/api/v1/mcp/servers", json, fmt.Sprintf(`{"name":"m%d","url":"%s","server_type":"streamable-http","timeout":5}`, time.Now().UnixNano(), address))
		}},
		{"upload by URL", func(t *testing.T, url, address string) string {
			id := saved(t, url, "key", sketch.Chain("begin Begin", `M Message {"content":["x"]}`))
			return asked(t, url, "POST", "/v1/canvas/upload/"+id+"?url="+escape(address), "", "")
		}},
		{"test of a model provider", func(t *testing.T, url, address string) string {
			asked(t, url, "PUT", "/api/v2/providers/p", json,
				`{"base_url":"`+address+`","key":"k","models":[{"name":"m"}]}`)
			return asked(t, url, "POST", "/api/v2/providers/p/test", json, `{}`)
		}},
	}
	for _, allowed := range []bool{false, true} {
		t.Run(fmt.Sprint("allowed ", allowed), func(t *testing.T) {
			_, url := open(t, Config{AllowPrivate: allowed})
			for _, way := range ways {
				t.Run(way.name, func(t *testing.T) {
					before := s.hits.Load()
					if allowed {
						way.ask(t, url, "http://127.0.0.1:"+s.port+"/")
						require.Greater(t, s.hits.Load(), before, "the way leads somewhere")
						return
					}
					for _, host := range s.hosts() {
						answer := way.ask(t, url, "http://"+host+"/")
						require.Equal(t, before, s.hits.Load(), "%s arrived", host)
						require.NotContains(t, answer, teapot, host)
					}
				})
			}
		})
	}
}

func escape(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", "/", "%2F", "@", "%40", "#", "%23", "[", "%5B", "]",
		"%5D").Replace(s)
}

// A plugin reaches a private address only if that was approved.
func TestPluginsAndPrivateAddresses(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	c := installer(t, filepath.Join(dir, "plugins"))
	_, url := open(t, Config{Dir: dir, AllowPrivate: true})
	canvas := saved(t, url, "key", telling)
	request := `{"op":"http.fetch","args":{"url":"http://localhost:` + s.port + `/"}}`
	for n, private := range []bool{false, true} {
		version := fmt.Sprintf("1.%d.0", n)
		_, err := c.Install(t.Context(), teller(t, version, request,
			fmt.Sprintf(`{"http":{"hosts":["*"],"private":%v,"reason":"r"}}`, private)), plugin.Local)
		require.NoError(t, err)
		_, err = c.Enable(t.Context(), "teller", "", nil)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			answer := said(t, url, "key", canvas, "")
			return private == strings.Contains(answer, teapot) &&
				strings.Contains(answer, map[bool]string{false: "denied", true: "ok"}[private])
		}, patience, poll)
	}
	require.Positive(t, s.hits.Load())
}

// A host reports which part of it is not ready, and exports its metrics.
func TestReadiness(t *testing.T) {
	h, err := New(t.Context(), Config{Dir: t.TempDir(), Key: "key", Sync: SyncInterval, Log: quiet})
	require.NoError(t, err)
	url, done := serving(h)
	defer done()
	require.JSONEq(t, `{"status":"ok","db":"ok","log":"ok"}`, asked(t, url, "GET", "/readyz", "", ""))
	require.Equal(t, "ok\n", asked(t, url, "GET", "/healthz", "", ""))
	saved(t, url, "key", sketch.Chain("begin Begin", `M Message {"content":["x"]}`))
	numbers := asked(t, url, "GET", "/metrics", "", "")
	for _, name := range []string{
		"easel_runs_active 0", "easel_run_seconds_count", `easel_request_seconds_count{route="/api/v2/canvases"} 1`,
		"go_goroutines", "process_start_time_seconds", "easel_build_info",
	} {
		require.Contains(t, numbers, name)
	}
	require.NoError(t, h.conn.Close())
	require.JSONEq(t, `{"status":"nok","db":"ok","log":"nok"}`, asked(t, url, "GET", "/readyz", "", ""))
	require.NoError(t, h.store.Close())
	res, err := http.Get(url + "/readyz")
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	var text bytes.Buffer
	_, _ = text.ReadFrom(res.Body)
	require.JSONEq(t, `{"status":"nok","db":"nok","log":"nok"}`, text.String())
	require.Equal(t, "ok\n", asked(t, url, "GET", "/healthz", "", ""), "the process lives")
	h.store = nil
	_ = h.Close() // its parts are closed already
}
