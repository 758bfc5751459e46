package web

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/easel-canvas/easel/engine"
)

// reserved are ranges that netip has no word for: shared, documentation, benchmark and translation addresses.
var reserved = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10")

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// public reports whether an address belongs to the open network.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control looks at the address of each connection, right before it is made.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	if c.AllowPrivate {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	if !public(ap.Addr()) {
		return notPublic(ap.Addr().String() + " is")
	}
	return nil
}

// notPublic refuses an address. The commands that have a Client have the flag.
func notPublic(address string) error {
	return fmt.Errorf("%w: %s private or reserved; allow such addresses with --allow-private", ErrAddress, address)
}

// check refuses a host before anything is sent, so that secrets are not even looked up for it. What is dialled is
// checked again.
func (c *Client) check(ctx context.Context, host string) error {
	if c.AllowPrivate {
		return nil
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		if !public(a) {
			return notPublic(host + " is " + a.Unmap().String() + ", which is")
		}
	}
	return nil
}

// sortHeader gives answers one order.
func sortHeader(h []engine.HTTPHeader) {
	slices.SortStableFunc(h, func(a, b engine.HTTPHeader) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}
