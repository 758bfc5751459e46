package plugin

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// waiting answers lookups of variables once until is closed.
type waiting struct{ until chan struct{} }

func (w waiting) Variable(ctx context.Context, _ string) (engine.Value, bool, error) {
	select {
	case <-w.until:
	case <-ctx.Done():
	}
	return engine.Null, false, ctx.Err()
}

func (w waiting) SetVariable(context.Context, string, engine.Value) error { return nil }

// A tenant whose calls wait for the world does not take every place of a plugin.
func TestSlowCallsOfATenantLeavePlaces(t *testing.T) {
	h := newHost(t, Config{MaxPerPlugin: 8, MaxCalls: 16, QueueWait: time.Minute})
	m := load(t, h, relay, map[string]any{
		"permissions": map[string]any{"variables": map[string]any{"read": []string{"*"}, "reason": "r"}},
	})
	slow := waiting{make(chan struct{})}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := m.Call(t.Context(), CallRequest{
				Tenant: "mallory", Services: Services{Variables: slow},
				Input: []byte(`{"op":"var.get","args":{"name":"env.x"}}`),
			})
			if err != nil {
				require.ErrorIs(t, err, contract.Unavailable)
			}
		})
	}
	require.Eventually(t, func() bool { return h.calls.busy() >= 6 }, 2*time.Minute, time.Millisecond)
	for _, tenant := range []string{"ann", "bob"} {
		_, err := m.Call(t.Context(), CallRequest{Tenant: tenant, Input: []byte(`{"op":"sleep","args":{"ms":0}}`)})
		require.NoError(t, err)
	}
	close(slow.until)
	group.Wait()
	require.Zero(t, h.calls.busy())
	require.Zero(t, m.places.busy())
}

// Freed slots are assigned to the waiting tenant with the fewest, and a tenant alone uses most of
// them.
func TestGateShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8)
		enters := func(tenant string) bool { return g.enter(t.Context(), tenant, time.Second) != nil }
		leave := func(tenant string) { g.leave(g.held[tenant]) }
		for range 6 {
			require.True(t, enters("ann"))
		}
		require.False(t, enters("ann"), "the rest is for others")
		require.True(t, enters("bob"))
		require.True(t, enters("cid"))
		got := make(chan string, 2)
		for _, tenant := range []string{"ann", "dan"} {
			go func() {
				if g.enter(t.Context(), tenant, time.Minute) != nil {
					got <- tenant
				}
			}()
			synctest.Wait()
		}
		leave("bob")
		require.Equal(t, "dan", <-got, "ann waits longer and holds more")
		for range 2 {
			leave("ann")
		}
		require.Equal(t, "ann", <-got)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 4 {
			leave("ann")
		}
		leave("ann")
		leave("cid")
		leave("dan")
		require.Zero(t, g.busy())
		require.NotNil(t, g.enter(ctx, "ann", 0), "a free place is taken without waiting")
	})
}

// Every slot is released when callers cancel while they wait.
func TestGateLosesNoSlot(t *testing.T) {
	g := newGate(3)
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			tenant := string(rune('a' + i%5))
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Microsecond)
				if place := g.enter(ctx, tenant, 0); place != nil {
					g.leave(place)
				}
				cancel()
			}
		})
	}
	group.Wait()
	require.Zero(t, g.busy())
	require.Equal(t, 3, g.free)
	require.Empty(t, g.queue)
}

// A gate remembers few of the tenants that have no place, and none of those that have or wait for
// one are forgotten.
func TestGateForgetsTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3)
		first := g.enter(t.Context(), "first", 0)
		require.NotNil(t, g.enter(t.Context(), "first", 0))
		waits := make(chan *holding)
		go func() { waits <- g.enter(t.Context(), "waits", 0) }()
		require.NotNil(t, <-waits)
		go func() { waits <- g.enter(t.Context(), "waits more", 0) }()
		synctest.Wait()
		for i := range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.Nil(t, g.enter(ctx, strconv.Itoa(i), 0))
		}
		require.LessOrEqual(t, len(g.held), maxIdleHoldings+1)
		require.Same(t, first, g.held["first"])
		queued := g.held["waits more"]
		require.NotNil(t, queued)
		g.leave(first)
		require.Same(t, queued, <-waits)
	})
}
