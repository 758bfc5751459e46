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
		return fmt.Errorf("%w: %s is private or reserved", ErrAddress, ap.Addr())
	}
	return nil
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
		if !reach.Public(a) {
			return fmt.Errorf("%w: %s is %s, which is private or reserved", ErrAddress, host, a.Unmap())
		}
	}
	return nil
}

// sortHeader gives answers one order.
func sortHeader(h []engine.HTTPHeader) {
	slices.SortStableFunc(h, func(a, b engine.HTTPHeader) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}
