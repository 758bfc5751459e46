package plugin

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const runaway = `(module` + importAll + `(func (export "easel_invoke") (result i32) loop $l br $l end i32.const 0))`

// Calls that never end, of one plugin and tenant, do not keep others from computing.
func TestRunawaysShareTheirPlaces(t *testing.T) {
	for name, c := range map[string]struct{ tenant, plugin string }{
		"another tenant": {"ann", "sample"},
		"another plugin": {"mallory", "other"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, Config{MaxRunning: 2})
			bad := load(t, h, runaway, nil)
			good := load(t, h, echo, map[string]any{"name": c.plugin})
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					_, err := bad.Call(ctx, CallRequest{Tenant: "mallory"})
					require.Error(t, err)
				})
			}
			waits := func() bool { return h.calls.busy() == 4 && h.running.crowded() }
			require.Eventually(t, waits, 2*time.Minute, time.Millisecond)
			for range 20 {
				res, err := good.Call(t.Context(), CallRequest{Tenant: c.tenant, Input: []byte("words")})
				require.NoError(t, err)
				require.Equal(t, "words", string(res.Output))
			}
			require.Equal(t, 4, h.calls.busy(), "the runaways still compute")
			stop()
			group.Wait()
			require.Equal(t, 2, h.running.free)
			require.Empty(t, h.running.tenants)
		})
	}
}

// A plugin whose start never ends does not keep others from computing while it is tried.
func TestRunawayStartSharesItsPlace(t *testing.T) {
	h := newHost(t, Config{MaxRunning: 1})
	good := load(t, h, echo, nil)
	ctx, stop := context.WithCancel(t.Context())
	tried := make(chan error)
	go func() {
		wasm := pack(t, wattest.Must(`(module`+importAll+`
			(func (export "_initialize") loop $l br $l end)
			(func (export "easel_invoke") (result i32) i32.const 0))`), map[string]any{"name": "slow"})
		_, err := h.Load(ctx, wasm, LoadOptions{Granted: contract.Everything()})
		tried <- err
	}()
	require.Eventually(t, func() bool {
		h.running.mu.Lock()
		defer h.running.mu.Unlock()
		return h.running.free == 0
	}, 2*time.Minute, time.Millisecond)
	for range 20 {
		_, err := good.Call(t.Context(), CallRequest{Tenant: "ann", Input: []byte("words")})
		require.NoError(t, err)
	}
	stop()
	require.Error(t, <-tried)
	require.Equal(t, 1, h.running.free)
}

// Time is shared by tenant first, then by plugin, independently of the number of calls.
func TestSlotsShareTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		ctx, stop := context.WithCancel(t.Context())
		got := map[string]int{} // only the guest with the place writes
		var group sync.WaitGroup
		work := func(tenant, plugin string) {
			group.Go(func() {
				for ctx.Err() == nil && entered(ctx, s, tenant, plugin) {
					got[tenant+" "+plugin]++
					since := time.Now()
					time.Sleep(time.Millisecond)
					s.leave(tenant, plugin, since)
				}
			})
		}
		for range 8 { // eight times as many calls give no more time
			work("ann", "first")
		}
		work("ann", "second")
		work("bob", "first")
		work("bob", "first")
		time.Sleep(4 * time.Second)
		stop()
		group.Wait()
		require.InDelta(t, 2000, got["bob first"], 20)
		require.InDelta(t, 1000, got["ann first"], 20)
		require.InDelta(t, 1000, got["ann second"], 20)
	})
}

func entered(ctx context.Context, s *slots, tenant, plugin string) bool {
	_, ok := s.enter(ctx, tenant, plugin, 0)
	return ok
}

// Guests that give up leave no trace.
func TestSlotsReleaseCanceledWaiters(t *testing.T) {
	s := newSlots(1)
	require.True(t, entered(t.Context(), s, "ann", "a"))
	waited, ok := s.enter(t.Context(), "bob", "b", time.Millisecond)
	require.False(t, ok)
	require.GreaterOrEqual(t, waited, time.Millisecond)
	ended, end := context.WithCancel(t.Context())
	end()
	require.False(t, entered(ended, s, "bob", "b"))
	require.False(t, s.crowded())
	s.seize()
	s.leave("bob", "b", time.Now())
	require.Equal(t, 0, s.free)
	s.leave("ann", "a", time.Now())
	require.Equal(t, 1, s.free)
	require.Empty(t, s.tenants)
	require.True(t, entered(t.Context(), s, "ann", "a"))
}
