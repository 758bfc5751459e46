package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Clients of the protocol 2026-07-28 begin with server/discover. Servers of earlier protocols
// should refuse that request, but some never respond to it. The SDK continues with initialize after
// any error of server/discover.

const (
	methodDiscover = "server/discover"
	// discoverTimeout leaves time to initialize and to list tools within the ListTimeout.
	discoverTimeout = 4 * time.Second
)

// errDiscover means that a server does not respond to server/discover.
var errDiscover = errors.New("no response to " + methodDiscover)

// boundDiscover ends the wait for server/discover, and leaves the request out for a server that
// ignored it and was initialized before. ignored is called when the wait ends.
func (c *Client) boundDiscover(fingerprint string, ignored func()) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != methodDiscover {
				return next(ctx, method, req)
			}
			if c.silent.has(fingerprint) {
				return nil, errDiscover
			}
			bounded, cancel := context.WithTimeout(ctx, orElse(c.DiscoverTimeout, discoverTimeout))
			defer cancel()
			res, err := next(bounded, method, req)
			if err != nil && bounded.Err() != nil && ctx.Err() == nil {
				ignored()
				return nil, errDiscover
			}
			return res, err
		}
	}
}

// silentServers are the fingerprints of servers that ignored server/discover, but not initialize.
type silentServers struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *silentServers) has(fingerprint string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[fingerprint]
}

func (s *silentServers) add(fingerprint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) >= maxLists {
		s.all = map[string]bool{}
	}
	s.all[fingerprint] = true
}
