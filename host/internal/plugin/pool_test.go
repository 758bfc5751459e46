package plugin

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// counter returns, as one byte, the number of calls of its instance.
const counter = `(module` + importAll + `
	(global $n (mut i32) (i32.const 0))
	(func (export "easel_invoke") (result i32)
		global.get $n i32.const 1 i32.add global.set $n
		i32.const 0 global.get $n i32.store8
		i32.const 0 i32.const 1 call $output_write i32.const 0))`

func count(t *testing.T, m *Module, tenant, run string) int {
	t.Helper()
	res, err := m.Call(context.Background(), CallRequest{Tenant: tenant, Run: run})
	require.NoError(t, err)
	return int(res.Output[0])
}

func TestStateDeterminesWhichCallsShareAnInstance(t *testing.T) {
	h := newHost(t, Config{FreshUnder: time.Minute})
	t.Run("none gives each call a fresh one where that is cheap", func(t *testing.T) {
		m := load(t, h, counter, map[string]any{"state": "none"})
		for range 3 {
			require.Equal(t, 1, count(t, m, "a", ""))
		}
	})
	t.Run("tenant shares within a tenant only", func(t *testing.T) {
		m := load(t, h, counter, map[string]any{"state": "tenant"})
		require.Equal(t, 1, count(t, m, "a", ""))
		require.Equal(t, 2, count(t, m, "a", ""))
		require.Equal(t, 1, count(t, m, "b", ""))
		require.Equal(t, 3, count(t, m, "a", ""))
	})
	t.Run("run shares within a run only", func(t *testing.T) {
		m := load(t, h, counter, map[string]any{"state": "run"})
		require.Equal(t, 1, count(t, m, "a", "r1"))
		require.Equal(t, 1, count(t, m, "a", "r2"))
		require.Equal(t, 1, count(t, m, "b", "r1"))
		require.Equal(t, 2, count(t, m, "a", "r1"))
		m.EndRun("a", "r1")
		require.Equal(t, 1, count(t, m, "a", "r1"))
	})
	t.Run("none without cheap instances reuses within a tenant", func(t *testing.T) {
		m := load(t, newHost(t, Config{FreshUnder: -1}), counter, map[string]any{"state": "none"})
		require.Equal(t, 1, count(t, m, "a", ""))
		require.Equal(t, 2, count(t, m, "a", ""))
		require.Equal(t, 1, count(t, m, "b", ""))
	})
}

func TestCallsOfARunTakeTurns(t *testing.T) {
	h := newHost(t, Config{MaxRunning: 1})
	m := load(t, h, relay, map[string]any{"state": "run"})
	b := blocking{make(chan struct{})}
	req := CallRequest{
		Run: "r", Input: []byte(`{"op":"var.get","args":{"name":"x"}}`), Services: Services{Variables: b}, Grant: &contract.Permissions{Variables: &contract.VariablePermission{Read: []string{"x"}}},
	}
	done := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := m.Call(context.Background(), req)
			done <- err
		}()
	}
	for range 3 { // the others wait for the instance and keep no place to compute
		<-b.c
		b.c <- struct{}{}
	}
	for range 3 {
		require.NoError(t, <-done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := m.Call(ctx, req)
	require.ErrorIs(t, err, contract.Cancelled)
	m.EndRun("", "r")
	require.Zero(t, m.pool.idleCount())
}

func TestIdleInstancesExpire(t *testing.T) {
	for _, idle := range []time.Duration{time.Hour, 20 * time.Millisecond} {
		m := load(t, newHost(t, Config{IdleFor: idle}), counter, nil)
		count(t, m, "a", "")
		if idle == time.Hour {
			require.Equal(t, 1, m.pool.idleCount())
			continue
		}
		require.Eventually(t, func() bool { return m.pool.idleCount() == 0 }, 2*time.Minute, 5*time.Millisecond)
	}
}

func TestCallsBeyondTheQueueAreRefused(t *testing.T) {
	h := newHost(t, Config{MaxCalls: 1, QueueWait: 10 * time.Millisecond})
	m := load(t, h, relay, nil)
	b := blocking{make(chan struct{})}
	done := make(chan error, 1)
	req := CallRequest{
		Input: []byte(`{"op":"var.get","args":{"name":"x"}}`), Services: Services{Variables: b}, Grant: &contract.Permissions{Variables: &contract.VariablePermission{Read: []string{"x"}}},
	}
	go func() {
		_, err := m.Call(context.Background(), req)
		done <- err
	}()
	<-b.c
	_, err := m.Call(context.Background(), req)
	require.ErrorIs(t, err, contract.Unavailable)
	b.c <- struct{}{}
	require.NoError(t, <-done)
}

// TestHammer makes 10,000 calls from 64 goroutines, with faults among them, and wants everything
// back at the end.
func TestHammer(t *testing.T) {
	h := newHost(t, Config{})
	m := load(t, h, `(module`+importAll+`
		(func (export "easel_invoke") (result i32) (local $n i32)
			call $input_len local.set $n
			i32.const 0 i32.const 0 local.get $n call $input_read call $output_write
			i32.const 0 i32.load8_u i32.const 33 i32.eq if unreachable end
			i32.const 0))`, nil)
	hammer(t, h, m, "", 10_000)
}

// hammer makes calls of an echo that traps on a leading "!", counts the faults and looks for leaks.
func hammer(t *testing.T, h *Host, m *Module, export string, calls int) {
	goroutines := runtime.NumGoroutine()
	before := settled()
	var faults, made atomic.Int64
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			tenant := fmt.Sprint(w % 4)
			for i := made.Add(1); i <= int64(calls); i = made.Add(1) {
				input := fmt.Sprintf("%d/%d", w, i)
				if i%50 == 7 {
					input = "!" + input
				}
				res, err := m.Call(context.Background(), CallRequest{Export: export, Input: []byte(input), Tenant: tenant})
				switch {
				case is(err, contract.Trap) || is(err, contract.Panic):
					faults.Add(1)
				case err != nil:
					t.Errorf("call: %v", err)
				case string(res.Output) != input:
					t.Errorf("got the answer of another call: %q for %q", res.Output, input)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, (calls+43)/50, faults.Load())
	require.Zero(t, h.cfg.MaxRunning-h.running.free+h.calls.busy(), "every place is free")
	require.Equal(t, m.pool.idleCount(), h.Instances(), "every instance is in the pool, or gone")
	require.LessOrEqual(t, m.pool.idleCount(), 4*maxIdle)
	m.pool.drain()
	require.Zero(t, h.Instances())
	require.Less(t, settled()-before, int64(8<<20), "bytes on the heap")
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 }, 2*time.Minute, 10*time.Millisecond)
}

// settled returns the bytes on the heap after garbage collection.
func settled() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
