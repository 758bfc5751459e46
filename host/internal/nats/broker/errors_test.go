package broker

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that dies while a host connects is unavailable like one that does not listen, so that
// hosts wait for it.
func TestServerThatDiesWhileConnectingIsUnavailable(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn) error{
		"reset": func(c *net.TCPConn) error { return c.SetLinger(0) },
		"end":   func(*net.TCPConn) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			done := make(chan struct{})
			t.Cleanup(func() {
				require.NoError(t, l.Close())
				<-done
			})
			go func() {
				defer close(done)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_ = end(c.(*net.TCPConn))
					_ = c.Close()
				}
			}()
			_, err = Open(t.Context(), Config{URLs: []string{"nats://" + l.Addr().String()}}, "test")
			require.ErrorIs(t, err, ErrUnavailable)
		})
	}
}
