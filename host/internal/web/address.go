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
	"github.com/easel-canvas/easel/host/internal/reach"
)

// control looks at the address of each connection, right before it is made.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	if c.AllowPrivate {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	if !reach.Public(ap.Addr()) {
		return notPublic(ap.Addr().String() + " is")
	}
	return nil
}

// notPublic refuses an address. The commands that have a Client have the flag.
func notPublic(address string) error {
	return fmt.Errorf("%w: %s private or reserved; allow such addresses with --allow-private", ErrAddress, address)
}

// check refuses a host before anything is sent, so that secrets are not even looked up for it. What
// is dialled is checked again.
func (c *Client) check(ctx context.Context, host string) error {
	if c.AllowPrivate {
		return nil
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		if !reach.Public(a) {
			return notPublic(host + " is " + a.Unmap().String() + ", which is")
		}
	}
	return nil
}

// sortHeader gives answers one order.
func sortHeader(h []engine.HTTPHeader) {
	slices.SortStableFunc(h, func(a, b engine.HTTPHeader) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}
