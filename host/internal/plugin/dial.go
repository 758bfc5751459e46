package plugin

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/plugins/contract"
)

// dialer connects to addresses it has looked at: the name is resolved once, every
// address is checked, and the checked address is dialled, so that a name cannot
// answer differently the second time.
type dialer struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	private bool // private and special ranges are allowed
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var last error
	for _, a := range addrs {
		if !d.private && !reach.Public(a) {
			if last == nil {
				last = contract.Errorf(contract.Denied,
					"http.fetch: host %s is the private or special address %s, which is not granted", host, a)
			}
			continue
		}
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	if last == nil {
		last = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return nil, last
}

func (d dialer) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return d.resolve(ctx, host)
}
