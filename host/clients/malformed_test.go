package clients

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dial opens a raw connection to a host.
func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(2*time.Minute)))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestMalformedRequests sends requests that no regular client sends. The host responds with an
// error or closes the connection, and continues to serve others.
func TestMalformedRequests(t *testing.T) {
	s := serve(t, nil)
	ask := func(t *testing.T, request string) *http.Response {
		t.Helper()
		c := s.dial(t)
		go func() { _, _ = io.WriteString(c, request) }() // the host may close the connection early
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	line := "GET /api/v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key + "\r\n"
	t.Run("one header that is too long", func(t *testing.T) {
		require.Equal(t, 431, ask(t, line+"X: "+strings.Repeat("x", 1<<20)+"\r\n\r\n").StatusCode)
	})
	t.Run("too many headers", func(t *testing.T) {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "X-%d: x\r\n", i)
		}
		require.Equal(t, 431, ask(t, line+b.String()+"\r\n").StatusCode)
	})
	t.Run("a URL that is too long", func(t *testing.T) {
		require.Equal(t, 431, ask(t, "GET /"+strings.Repeat("a/", 1<<19)+" HTTP/1.1\r\nHost: x\r\n\r\n").StatusCode)
	})
	t.Run("not HTTP", func(t *testing.T) {
		require.Equal(t, 400, ask(t, "\x16\x03\x01\x00 hello\r\n\r\n").StatusCode)
	})
	t.Run("two Content-Length headers", func(t *testing.T) {
		require.Equal(t, 400, ask(t,
			"POST /v1/canvas/set HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}").StatusCode)
	})
	t.Run("a body above the limit", func(t *testing.T) {
		res := ask(t, "POST /v1/canvas/set HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+
			s.key+"\r\nContent-Length: 41943040\r\n\r\n"+strings.Repeat(" ", 40<<20))
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	})
	t.Run("an endless body", func(t *testing.T) {
		c := s.dial(t)
		_, err := io.WriteString(c, "POST /v1/canvas/set HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+
			s.key+"\r\nTransfer-Encoding: chunked\r\n\r\n")
		require.NoError(t, err)
		go func() {
			chunk := "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n"
			for {
				if _, err := io.WriteString(c, chunk); err != nil {
					return
				}
			}
		}()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	})
	t.Run("an unauthenticated body is not read", func(t *testing.T) {
		c := s.dial(t)
		_, err := io.WriteString(c, "POST /v1/canvas/set HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, 401, res.StatusCode)
	})
	t.Run("path traversal", func(t *testing.T) {
		for _, path := range []string{
			"/../../etc/passwd", "/api/v1/../../../etc/passwd",
			"/v1/canvas/download?id=../secret.key", "/%2e%2e/%2e%2e/etc/passwd", "/v1/canvas/get/..%5c..%5cx",
		} {
			res := ask(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+
				s.key+"\r\nConnection: close\r\n\r\n")
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NotContains(t, string(body), "root:", path)
			require.Less(t, res.StatusCode, 500, path)
		}
	})
	t.Run("unfinished headers", func(t *testing.T) {
		c := s.dial(t)
		_, err := io.WriteString(c, "GET / HTTP/1.1\r\nX: ")
		require.NoError(t, err)
		_, err = io.ReadAll(c)
		var late net.Error
		require.False(t, errors.As(err, &late) && late.Timeout(), "the host keeps an idle connection")
	})
	require.Equal(t, 200, s.call("GET", "/readyz", nil).status)
}
