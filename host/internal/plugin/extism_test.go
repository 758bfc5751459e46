package plugin

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const importKernel = `
	(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
	(import "extism:host/env" "free" (func $free (param i64)))
	(import "extism:host/env" "length" (func $length (param i64) (result i64)))
	(import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
	(import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
	(import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
	(import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
	(import "extism:host/env" "input_length" (func $input_length (result i64)))
	(import "extism:host/env" "input_offset" (func $input_offset (result i64)))
	(import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
	(import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
	(import "extism:host/env" "error_set" (func $error_set (param i64)))
	(import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
	(import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
	(import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
	(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))
	(import "extism:host/env" "http_status_code" (func $status (result i32)))
	(import "extism:host/env" "log_warn" (func $warn (param i64)))
	(import "extism:host/user" "easel_emit" (func $emit (param i64) (result i64)))
	(import "extism:host/user" "easel_call" (func $call (param i64) (result i64)))
	(func $give (param $p i64) local.get $p local.get $p call $length call $output_set)`

// TestExtismKernel plays the functions of the kernel as a PDK uses them.
func TestExtismKernel(t *testing.T) {
	h := newHost(t, Config{})
	entry := map[string]any{"entry": map[string]any{"export": "copy"}}
	m, err := h.Load(context.Background(), pack(t, wattest.Must(`(module`+importKernel+`
		(func (export "copy") (result i32) (local $n i64) (local $i i64) (local $p i64)
			call $input_length local.tee $n call $alloc local.set $p
			loop $l
				local.get $p local.get $i i64.add local.get $i call $input_load_u8 call $store_u8
				local.get $i i64.const 1 i64.add local.tee $i local.get $n i64.lt_u br_if $l
			end
			local.get $p call $give i32.const 0)
		(func (export "offset") (result i32) call $input_offset call $give i32.const 0)
		(func (export "fails") (result i32) call $input_offset call $error_set i32.const 1)
		(func (export "config") (result i32) call $input_offset call $config_get call $give i32.const 0)
		(func (export "remember") (result i32) call $input_offset call $input_offset call $var_set i32.const 0)
		(func (export "recall") (result i32) call $input_offset call $var_get call $give i32.const 0)
		(func (export "fetch") (result i32) call $input_offset i64.const 0 call $http call $give call $status)
		(func (export "warns") (result i32) call $input_offset call $warn i32.const 0)
		(func (export "emits") (result i32) call $input_offset call $emit drop i32.const 0)
		(func (export "calls") (result i32) call $input_offset call $call call $give i32.const 0)
		(func (export "outside") (result i32)
			i64.const 0 call $load_u64 i64.const 9999 call $load_u64 i64.add i64.const 7 i64.const 1 call $store_u64 i64.const 99 call $free
			i64.const 12 call $length i64.add i32.wrap_i64)
		(func (export "lies") (result i32) i64.const 8 i64.const 1000 call $output_set i32.const 0)
		(func (export "hoards") (result i32) loop $l i64.const 1048576 call $alloc drop br $l end i32.const 0)
		(func (export "frugal") (result i32) (local $i i32)
			loop $l i64.const 1048576 call $alloc call $free local.get $i i32.const 1 i32.add local.tee $i i32.const 1000 i32.lt_u br_if $l end i32.const 0)
		(func (export "nothing")))`), entry), LoadOptions{Settings: map[string]string{"colour": "blue"}})
	require.NoError(t, err)
	run := &Scratch{}
	var emitted []contract.Emission
	call := func(export, input string) (Result, error) {
		return m.Call(context.Background(), CallRequest{
			Export: export, Input: []byte(input), Scratch: run,
			Emit: func(_ context.Context, e contract.Emission) error { emitted = append(emitted, e); return nil },
		})
	}
	for _, c := range []struct{ export, input, want string }{
		{"copy", "Ålesund", "Ålesund"},
		{"offset", "hello", "hello"},
		{"config", "colour", "blue"},
		{"config", "shape", ""},
		{"recall", "key", ""},
		{"remember", "key", ""},
		{"recall", "key", "key"},
		{"outside", "", ""},
		{"frugal", "", ""},
		{"nothing", "", ""},
		{"emits", `{"kind":1,"data":"piece"}`, ""},
		{"calls", `{"op":"sleep","args":{"ms":0}}`, `{"ok":{}}`},
	} {
		t.Run(c.export, func(t *testing.T) {
			res, err := call(c.export, c.input)
			require.NoError(t, err)
			require.Equal(t, c.want, string(res.Output))
		})
	}
	require.Equal(t, []contract.Emission{{Kind: contract.Delta, Text: "piece"}}, emitted)
	_, err = call("fails", "too bad")
	require.ErrorIs(t, err, contract.Internal)
	require.ErrorContains(t, err, "too bad")
	res, err := call("warns", "look out")
	require.NoError(t, err)
	require.Equal(t, []LogLine{{Level: "warn", Text: "look out"}}, res.Logs)
	_, err = call("lies", "")
	require.ErrorIs(t, err, contract.Trap)
	_, err = call("fetch", `{"url":"http://a.example/"}`)
	require.ErrorIs(t, err, contract.Denied)
	require.ErrorContains(t, err, "http_request: http.fetch is not granted")
	_, err = call("hoards", "")
	require.ErrorIs(t, err, contract.OutOfMemory)
	res, err = m.Call(context.Background(), CallRequest{Export: "recall", Input: []byte("key")})
	require.NoError(t, err)
	require.Empty(t, res.Output, "variables belong to the run, not to the instance")
}

func TestArenaReusesFreedBlocks(t *testing.T) {
	var a arena
	p, q := a.alloc(5), a.alloc(6)
	copy(a.block(q), "second")
	require.NotZero(t, p)
	a.free(p)
	r := a.alloc(6)
	require.Equal(t, p, r)
	require.Equal(t, make([]byte, 6), a.block(r), "a reused block is zeroed")
	require.Equal(t, "second", string(a.block(q)))
	a.free(q)
	a.free(q)
	require.Empty(t, a.block(q))
	require.Zero(t, a.alloc(maxKernel+1))
	a.reset()
	require.Empty(t, a.bytes)
}

func TestScratchIsBounded(t *testing.T) {
	var s Scratch
	require.True(t, s.set("a", make([]byte, maxScratch-1)))
	require.False(t, s.set("b", []byte("x")))
	require.True(t, s.set("a", nil))
	require.True(t, s.set("b", []byte("x")))
	require.Equal(t, "x", string(s.get("b")))
}

// heap returns the bytes that are alive.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// grown returns how many more bytes are alive than before.
func grown(before uint64) uint64 {
	now := heap()
	return now - min(before, now)
}

// Small blocks and small variables take at most twice the memory that is allowed.
func TestSmallBlocksCount(t *testing.T) {
	var a arena
	before := heap()
	blocks := 0
	for a.alloc(1) != 0 {
		blocks++
	}
	require.Less(t, grown(before), uint64(2*maxKernel), "%d blocks", blocks)
	require.Greater(t, blocks, 500_000)
	a.reset()
	require.Less(t, grown(before), uint64(2<<20), "an idle instance keeps none of it")
	require.Equal(t, uint64(arenaBase), a.alloc(maxKernel), "one block may have all")
	runtime.KeepAlive(&a)

	var s Scratch
	before = heap()
	variables := 0
	for s.set(strconv.Itoa(variables), []byte{1}) {
		variables++
	}
	require.Less(t, grown(before), uint64(2*maxScratch), "%d variables", variables)
	runtime.KeepAlive(&s)
}
