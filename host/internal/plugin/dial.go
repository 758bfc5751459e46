package plugin

import (
	"context"
	"net"
	"net/netip"
	"time"
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
		if !d.private && special(a) {
			if last == nil {
				last = fail(Denied, "http.fetch: host %s is the private or special address %s, which is not granted", host, a)
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

// ranges that are not the public internet and that netip does not name.
var specialRanges = func() (out []netip.Prefix) {
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// special reports whether an address is private, local, multicast, or one that
// wraps such an address.
func special(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, p := range specialRanges {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
