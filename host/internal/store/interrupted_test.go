package store

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// cutter forwards connections to a server, and ends them when a query arrives while it is armed.
type cutter struct {
	net.Listener
	server string

	mu    sync.Mutex
	armed bool
}

func (c *cutter) arm(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = on
}

func (c *cutter) serve() {
	for {
		client, err := c.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		}()
		go c.forward(client, server)
	}
}

func (c *cutter) forward(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		c.mu.Lock()
		cut := c.armed
		c.mu.Unlock()
		if cut {
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A server that ends in the middle of a query is unavailable, whatever statement runs.
func TestServerThatEndsInAQueryIsUnavailable(t *testing.T) {
	address := servertest.NewSchema(t)
	u, err := url.Parse(address)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	proxy := &cutter{Listener: listener, server: u.Host}
	go proxy.serve()
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	u.Host = listener.Addr().String()
	s := openTest(t, Config{Dir: t.TempDir(), URL: u.String()})
	for name, query := range map[string]func() error{
		"read": func() error {
			_, err := s.Runs.Get(t.Context(), "t", "r")
			return err
		},
		"list": func() error {
			_, _, err := s.Runs.List(t.Context(), RunFilter{Tenant: "t"}, Page{})
			return err
		},
		"statement": func() error { return s.Runs.Start(t.Context(), Run{ID: "a", Tenant: "t", Canvas: "c"}) },
		"transaction": func() error {
			_, err := s.Runs.End(t.Context(), RunEnd{ID: "a", Tenant: "t", Session: "s"}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				proxy.arm(true)
				require.ErrorIs(t, query(), ErrUnavailable)
				proxy.arm(false)
				require.NotErrorIs(t, query(), ErrUnavailable)
			}
		})
	}
}
