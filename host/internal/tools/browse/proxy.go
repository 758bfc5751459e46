package browse

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// proxy is the only way of a browser to the network. It dials with the rules of a client and bounds
// the bytes of a call.
type proxy struct {
	network  Network
	server   *http.Server
	listener net.Listener
	ctx      context.Context
	fail     func(error) // ends the call
	left     atomic.Int64
}

// startProxy listens on a port of this machine until ctx ends or it is closed. fail is called when
// the traffic is used up.
func startProxy(ctx context.Context, network Network, traffic int64, fail func(error)) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{network: network, listener: listener, ctx: ctx, fail: fail}
	p.left.Store(traffic)
	base := func(net.Listener) context.Context { return ctx }
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: longestPage, BaseContext: base}
	go func() { _ = p.server.Serve(listener) }() // it always ends with the error of Close
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) close() error { return p.server.Close() }

// ServeHTTP forwards a request, or opens a tunnel.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "not a request to a proxy", http.StatusBadRequest)
		return
	}
	transport := p.network.Transport()
	transport.DisableKeepAlives, transport.DisableCompression = true, true
	r.RequestURI = ""
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection"} {
		r.Header.Del(name)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, p.counted(res.Body)) // the browser sees that the answer ends early
}

// statusOf returns the answer to a request whose address cannot be reached.
func statusOf(err error) int {
	if errors.Is(err, web.ErrAddress) {
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

// tunnel carries bytes in both directions.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	server, err := p.network.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	defer server.Close()
	browser, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the connection is gone
	}
	defer browser.Close()
	stop := context.AfterFunc(p.ctx, func() {
		_ = server.Close()
		_ = browser.Close()
	})
	defer stop()
	if _, err := io.WriteString(browser, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, p.counted(buffered)) // an end of either side ends both
		_ = server.Close()
	}()
	_, _ = io.Copy(browser, p.counted(server))
}

// counted subtracts the bytes read from the traffic of the call.
func (p *proxy) counted(from io.Reader) io.Reader { return &counter{from, p} }

type counter struct {
	from  io.Reader
	proxy *proxy
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	if c.proxy.left.Add(-int64(n)) < 0 {
		c.proxy.fail(ErrTooLarge)
		return 0, ErrTooLarge
	}
	return n, err
}
