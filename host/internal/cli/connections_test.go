package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// At the bound a new connection replaces the one that has been idle for longest; active ones stay.
func TestConnectionsAreBounded(t *testing.T) {
	bound := newConnections(0)
	bound.most = 3
	hold, idle := make(chan struct{}), make(chan struct{}, 100)
	watch := func(conn net.Conn, state http.ConnState) {
		bound.watch(conn, state)
		if state == http.StateIdle {
			idle <- struct{}{}
		}
	}
	server := &http.Server{ConnState: watch, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/hold" {
			<-hold
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(l) }() // ends with Close
	defer server.Close()
	defer close(hold)
	type client struct {
		net.Conn
		in *bufio.Reader
	}
	dial := func() client {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		return client{conn, bufio.NewReader(conn)}
	}
	ask := func(c client, path string) error {
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
			return err
		}
		res, err := http.ReadResponse(c.in, nil)
		if err == nil && path != "/hold" {
			_, err = io.Copy(io.Discard, res.Body)
			<-idle
		}
		return err
	}
	closed := func(c client) {
		_, err := c.in.ReadByte()
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	busy := dial()
	require.NoError(t, ask(busy, "/hold"))
	first, second := dial(), dial()
	require.NoError(t, ask(first, "/"))
	require.NoError(t, ask(second, "/"))
	require.NoError(t, ask(first, "/"), "now the second one has been idle for longest")
	third := dial()
	require.NoError(t, ask(third, "/"))
	closed(second)
	require.NoError(t, ask(first, "/hold"))
	require.NoError(t, ask(third, "/hold"))
	closed(dial())
}
