package failure_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// lossyProxy is a proxy between hosts and NATS that drops some of the answers, or all messages of
// hosts.
type lossyProxy struct {
	url  string
	lose func(payload []byte) bool // asked for each message to a host
	lost atomic.Int64
	mute atomic.Bool // messages of hosts are dropped
}

func newLossyProxy(t testing.TB, natsURL string, lose func(payload []byte) bool) *lossyProxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // the connections end with the host
	p := &lossyProxy{url: "nats://" + l.Addr().String(), lose: lose}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(natsURL, "nats://"))
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(mutable{server, &p.mute}, client) // until one side ends
				_ = server.Close()
			}()
			go func() {
				_ = p.toClient(client, bufio.NewReader(server)) // until one side ends
				_ = client.Close()
			}()
		}
	}()
	return p
}

// mutable drops writes while it is mute.
type mutable struct {
	io.Writer
	mute *atomic.Bool
}

func (m mutable) Write(b []byte) (int, error) {
	if m.mute.Load() {
		return len(b), nil
	}
	return m.Writer.Write(b)
}

// toClient forwards the server's messages except the lost ones: "MSG subject sid [reply] size" or
// "HMSG subject sid [reply] headers size", and the payload after it.
func (p *lossyProxy) toClient(client io.Writer, server *bufio.Reader) error {
	for {
		line, err := server.ReadBytes('\n')
		if err != nil {
			return err
		}
		fields := bytes.Fields(line)
		if len(fields) > 0 && (string(fields[0]) == "MSG" || string(fields[0]) == "HMSG") {
			size, err := strconv.Atoi(string(fields[len(fields)-1]))
			if err != nil {
				return err
			}
			payload := make([]byte, size+2)
			if _, err := io.ReadFull(server, payload); err != nil {
				return err
			}
			if p.lose(payload) {
				p.lost.Add(1)
				continue
			}
			line = append(line, payload...)
		}
		if _, err := client.Write(line); err != nil {
			return err
		}
	}
}

// lostAck drops acknowledgements of appends to the run log. The host detects that its records are
// stored: none twice, and it does not consider itself fenced.
func lostAck(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	var acks atomic.Int64
	proxy := newLossyProxy(t, w.nats[0].URL, func(payload []byte) bool {
		if !bytes.HasPrefix(payload, []byte(`{"stream":"easel_LOG"`)) {
			return false
		}
		n := acks.Add(1)
		return n == 2 || n == 6
	})
	c := w.conversation(w.start("a", "--nats", proxy.url), "q")
	all := c.requireDone()
	require.EqualValues(t, 2, proxy.lost.Load())
	for _, e := range all {
		require.NotEqual(t, "takeover", e.kind)
	}
}
