package web

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
)

// control checks the address of each connection before it is made.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	if c.AllowPrivate {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	local := c.Loopback != 0 && ap.Port() == c.Loopback && ap.Addr().Unmap().IsLoopback()
	if !local && !reach.Public(ap.Addr()) {
		return notPublic(ap.Addr().String() + " is")
	}
	return nil
}

// notPublic returns the error for a rejected address. All commands that use a Client have the flag.
func notPublic(address string) error {
	return fmt.Errorf("%w: %s private or reserved; allow such addresses with --allow-private", ErrAddress, address)
}

// check rejects a host before anything is sent and before secrets are resolved for it. control
// checks the dialed address again.
func (c *Client) check(ctx context.Context, host string) error {
	if c.AllowPrivate {
		return nil
	}
	_, err := c.accepted(ctx, host)
	return err
}

// sortHeader makes the order of response headers deterministic.
func sortHeader(h []engine.HTTPHeader) {
	slices.SortStableFunc(h, func(a, b engine.HTTPHeader) int {
		return cmp.Compare(strings.ToLower(a.Name),
			strings.ToLower(b.Name))
	})
}
