package plugin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// An interpreted module has the same output as the compiled one, and uses the same fuel.
func TestInterpretedCallsEqualCompiledOnes(t *testing.T) {
	h := newHost(t, Config{})
	wasm := pack(t, wattest.Must(echo), nil)
	in := []byte("what comes in goes out")
	var fuel []int64
	both(t, "echo", func(t *testing.T, o LoadOptions) {
		m, err := h.Load(t.Context(), wasm, o)
		require.NoError(t, err)
		require.Equal(t, o.Interpret, m.runtime != h.runtime)
		res, err := m.Call(t.Context(), CallRequest{Input: in})
		require.NoError(t, err)
		require.Equal(t, in, res.Output)
		fuel = append(fuel, res.Fuel)
	})
	require.Equal(t, fuel[0], fuel[1])
}

// Modules that are no part of the program are compiled, in the process that limits that.
func TestOnlyBuiltinModulesAreInterpreted(t *testing.T) {
	h := newHost(t, Config{})
	wasm := pack(t, wattest.Must(echo), nil)
	m, err := h.Load(t.Context(), wasm, LoadOptions{Granted: contract.Everything(), Interpret: true})
	require.NoError(t, err)
	require.Equal(t, h.runtime, m.runtime)
}

// A module that starts while the host closes is stopped, and the host waits for that: its runtime
// is freed afterwards.
func TestCloseWaitsForLoads(t *testing.T) {
	h, err := New(context.Background(), Config{})
	require.NoError(t, err)
	started := make(chan struct{})
	h.cfg.Random = reads(func(p []byte) (int, error) {
		close(started)
		return len(p), nil
	})
	wasm := pack(t, wattest.Must(`(module`+importAll+`
		(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
		(data (i32.const 24) "\00\e8\76\48\17\00\00\00")
		(func (export "_initialize") i32.const 1000 i32.const 1 call $random drop
			i32.const 0 i32.const 100 i32.const 1 i32.const 200 call $poll drop)
		(func (export "easel_invoke") (result i32) i32.const 0))`), nil)
	ended := make(chan error, 1)
	go func() {
		_, err := h.Load(context.Background(), wasm, LoadOptions{Granted: contract.Everything()})
		ended <- err
	}()
	<-started
	require.NoError(t, h.Close(context.Background()))
	require.Zero(t, h.Instances(), "the instance that started is closed")
	require.Error(t, <-ended)

	_, err = h.Load(context.Background(), wasm, LoadOptions{Granted: contract.Everything()})
	require.ErrorIs(t, err, contract.Closed)
}

type reads func([]byte) (int, error)

func (r reads) Read(p []byte) (int, error) { return r(p) }
