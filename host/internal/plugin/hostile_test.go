package plugin

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// What else hostile plugins do stands where it belongs: faults of a call in TestCallFaults, files
// that must not load in TestLoadRefuses, the network in TestFetch and TestSecretsAreMasked, a Go
// guest's ways in TestGoGuest, cancelling in TestCallCancelled.

func TestFloods(t *testing.T) {
	h := newHost(t, Config{})
	for _, c := range []struct {
		name, code string
		want       contract.Code
		message    string
	}{
		{"a gigabyte of output", "i32.const 16384 local.set $i loop $l i32.const 0 i32.const 65536 call $output_write " +
			"local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0", contract.OutputTooLarge, "allowed are 16777216"},
		{
			"a gigabyte in one piece", "i32.const 0 i32.const 1073741824 call $output_write i32.const 0", contract.Trap,
			"1073741824 bytes at 0 are outside the memory",
		},
		{
			"an emit of a gigabyte", "i32.const 1 i32.const 0 i32.const 1073741824 call $emit",
			contract.Trap, "outside the memory",
		},
		{"stderr is truncated", "loop $l i32.const 2 i32.const 16 i32.const 1 i32.const 50 call $fd_write drop " +
			"local.get $i i32.const 1 i32.add local.tee $i i32.const 5000 i32.lt_u br_if $l end unreachable", contract.Panic, "aaaaaaa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, h, `(module`+importAll+`(data (i32.const 16) "\20\00\00\00\10\00\00\00") (data (i32.const 32) "aaaaaaaaaaaaaaaa")
				(func (export "fine") (result i32) i32.const 0)
				(func (export "easel_invoke") (result i32) (local $i i32) `+c.code+`))`, nil)
			began := time.Now()
			res, err := m.Call(context.Background(), CallRequest{})
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.message)
			require.Less(t, len(err.Error()), 4<<10)
			require.Less(t, time.Since(began), patience, "before the deadline")
			require.LessOrEqual(t, len(res.Logs), maxLogs)
			_, err = m.Call(context.Background(), CallRequest{Export: "fine"})
			require.NoError(t, err, "the next call works")
		})
	}
}

// TestFloodsOfTheContract makes each golden step as often as it is allowed, and once more.
func TestFloodsOfTheContract(t *testing.T) {
	h := newHost(t, Config{})
	steps := map[string]string{
		"emit": "i32.const 1 i32.const 0 i32.const 1 call $emit drop",
		"log":  "i32.const 2 i32.const 0 i32.const 1 call $log",
		"call": "i32.const 0 i32.const 4 local.get $n call $call drop",
	}
	for _, g := range goldens(t, "flood") {
		t.Run(g.name, func(t *testing.T) {
			var flood struct {
				Step    string
				Request json.RawMessage
				Allowed uint32
				Error   contract.Error
			}
			require.NoError(t, json.Unmarshal(g.Message, &flood))
			// The input is the number of repetitions, as four bytes, and the request.
			m := load(t, h, `(module`+importAll+`(func (export "easel_invoke") (result i32) (local $i i32) (local $n i32)
				i32.const 0 i32.const 30000 call $input_read i32.const 4 i32.sub local.set $n i32.const 0 i32.load local.set $i
				loop $l `+steps[flood.Step]+` local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`, nil)
			flow := func(times uint32) error {
				_, err := m.Call(context.Background(), CallRequest{Input: append(binary.LittleEndian.AppendUint32(nil, times), flood.Request...)})
				return err
			}
			require.NoError(t, flow(flood.Allowed))
			var e *contract.Error
			require.ErrorAs(t, flow(flood.Allowed+1), &e)
			require.Equal(t, flood.Error, contract.Error{Code: e.Code, Message: e.Message, Retryable: e.Retryable})
		})
	}
}

// TestTheHostsWorkCountsAgainstTheDeadline has guests that do nearly nothing and let the host fill,
// copy and parse megabytes: between two ticks of the meter lie 10,000 such calls.
func TestTheHostsWorkCountsAgainstTheDeadline(t *testing.T) {
	h := newHost(t, Config{})
	for name, code := range map[string]string{
		"random numbers": "i32.const 0 i32.const 60000000 call $random drop",
		"vectors":        "i32.const 1 i32.const 0 i32.const 7000000 i32.const 59000000 call $fd_write drop",
		"subscriptions":  "i32.const 0 i32.const 0 i32.const 1000000 i32.const 59000000 call $poll drop",
		"requests":       "i32.const 0 i32.const 32 i32.const 4194304 call $call drop i32.const 0 i32.const 0 i32.const 0 call $call drop",
		"pieces":         "i32.const 1 i32.const 0 i32.const 1000000 call $emit drop",
		"kernel memory":  "i64.const 60000000 call $alloc call $free",
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, h, `(module`+importAll+`
				(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
				(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
				(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
				(import "extism:host/env" "free" (func $free (param i64)))
				(func (export "easel_invoke") (result i32) i32.const 1000 memory.grow drop loop $l `+code+` br $l end i32.const 0))`, nil)
			began := time.Now()
			_, err := m.Call(context.Background(), CallRequest{Timeout: 200 * time.Millisecond})
			require.True(t, is(err, contract.Timeout) || is(err, contract.TooManyCalls), "%v", err)
			require.Less(t, time.Since(began), 2*time.Minute, "unchecked it takes longer")
		})
	}
}

// TestGuestSeesNoFilesAndNoEnvironment calls WASI directly, because a language's library might not
// even try.
func TestGuestSeesNoFilesAndNoEnvironment(t *testing.T) {
	m := load(t, newHost(t, Config{}), `(module
		(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
		(memory (export "memory") 1) (data (i32.const 100) "/etc/passwd") (data (i32.const 200) "\00\04\00\00\10\00\00\00")
		(func (export "easel_invoke") (result i32)
			i32.const 0 i32.const 3 i32.const 0 i32.const 100 i32.const 11 i32.const 0 i64.const -1 i64.const -1 i32.const 0 i32.const 300 call $open i32.store8
			i32.const 1 i32.const 3 i32.const 300 call $prestat i32.store8
			i32.const 2 i32.const 5 i32.const 200 i32.const 1 i32.const 300 call $read i32.store8
			i32.const 308 i32.const 312 call $environ drop i32.const 3 i32.const 308 i32.load i32.store8
			i32.const 316 i32.const 320 call $args drop i32.const 4 i32.const 316 i32.load i32.store8
			i32.const 5 i32.const 3 i32.const 0 i32.const 300 call $accept i32.store8
			i32.const 300 i32.const 0 i32.store
			i32.const 0 i32.const 200 i32.const 1 i32.const 300 call $read drop i32.const 6 i32.const 300 i32.load i32.store8
			i32.const 0 i32.const 7 call $output_write i32.const 0))`, nil)
	res, err := m.Call(context.Background(), CallRequest{})
	require.NoError(t, err)
	const badf, perm = 8, 63
	require.Equal(t, []byte{perm, badf, badf, 0, 0, badf, 0}, res.Output, "no files, folders or sockets; no environment, no arguments, nothing on standard input")
}

// TestNothingSurvivesAFault leaves a mark in an instance and lets it fault: the next caller
// finds a clean one.
func TestNothingSurvivesAFault(t *testing.T) {
	h := newHost(t, Config{})
	for _, state := range []string{"tenant", "run", "none"} {
		for fault, code := range map[string]string{
			"trap": "unreachable", "exit": "i32.const 1 call $exit", "loop": "loop $l br $l end",
			"output": "loop $o i32.const 0 i32.const 65536 call $output_write br $o end",
		} {
			t.Run(state+" "+fault, func(t *testing.T) {
				asks := map[string]any{"state": state, "entry": map[string]any{"export": "fault"}}
				m := load(t, h, `(module`+importAll+`(global $mark (mut i32) (i32.const 0))
					(func (export "mark") (result i32)
						global.get $mark i32.const 1 i32.add global.set $mark
						i32.const 0 global.get $mark i32.store8 i32.const 0 i32.const 1 call $output_write i32.const 0)
					(func (export "fault") (result i32) i32.const 65535 i32.const 255 i32.store8 `+code+` i32.const 0))`, asks)
				call := func(export string) (Result, error) {
					return m.Call(context.Background(), CallRequest{Export: export, Tenant: "a", Run: "r", Fuel: 50_000_000})
				}
				marked, err := call("mark")
				require.NoError(t, err)
				require.Equal(t, []byte{1}, marked.Output)
				_, err = call("fault")
				require.Error(t, err)
				marked, err = call("mark")
				require.NoError(t, err)
				require.Equal(t, []byte{1}, marked.Output, "a mark survived")
				m.EndRun("a", "r")
			})
		}
	}
}

// TestTenantsNeverShareAnInstance has a guest that stores its last input and returns it to the next
// caller.
func TestTenantsNeverShareAnInstance(t *testing.T) {
	h := newHost(t, Config{MaxRunning: 8})
	m := load(t, h, `(module`+importAll+`(global $n (mut i32) (i32.const 0))
		(func (export "easel_invoke") (result i32)
			i32.const 100 global.get $n call $output_write
			i32.const 100 i32.const 50 call $input_read global.set $n i32.const 0))`, map[string]any{"state": "tenant"})
	var all sync.WaitGroup
	for tenant := range 16 {
		all.Go(func() {
			name := fmt.Sprintf("tenant-%d", tenant)
			for range 200 {
				res, err := m.Call(context.Background(), CallRequest{Tenant: name, Input: []byte(name)})
				if err != nil {
					t.Errorf("call: %v", err)
				} else if got := string(res.Output); got != "" && got != name {
					t.Errorf("%s was told %s", name, got)
				}
			}
		})
	}
	all.Wait()
}

// TestBrokenFiles loads a good plugin cut short at every byte and with bytes changed: each loads or
// is refused with a code, what loads can be called, and the whole file still loads afterwards.
func TestBrokenFiles(t *testing.T) {
	h := newHost(t, Config{})
	good := pack(t, wattest.Must(relay), map[string]any{"limits": map[string]any{"memory_mb": 2, "output_kb": 64, "fuel": 10_000_000}})
	try := func(wasm []byte) {
		t.Helper()
		m, err := h.Load(context.Background(), wasm, LoadOptions{})
		if err != nil {
			require.IsType(t, &contract.Error{}, err)
			require.NotEmpty(t, err.(*contract.Error).Code)
			require.NotEqual(t, contract.Internal, err.(*contract.Error).Code, "%v", err)
			return
		}
		_, err = m.Call(context.Background(), CallRequest{Input: []byte(`{"op":"sleep"}`), Timeout: 200 * time.Millisecond})
		if err != nil {
			require.IsType(t, &contract.Error{}, err)
		}
		require.NoError(t, m.Close(context.Background()))
	}
	for n := range good {
		try(good[:n])
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		changed := append([]byte(nil), good...)
		for range 1 + chance.IntN(3) {
			changed[chance.IntN(len(changed))] = byte(chance.Uint32())
		}
		try(changed)
	}
	require.Zero(t, h.Instances(), "a refused file leaves no instance behind")
	m, err := h.Load(context.Background(), good, LoadOptions{})
	require.NoError(t, err)
	res, err := m.Call(context.Background(), CallRequest{Input: []byte(`{"op":"sleep"}`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"ok":{}}`, string(res.Output))
}

// Pieces and errors are smaller than outputs may be, because hosts and readers get both as JSON.
func TestPiecesAndErrorsAreBounded(t *testing.T) {
	h := newHost(t, Config{})
	for name, code := range map[string]string{
		"an emit": "i32.const 1 i32.const 0 i32.const %d call $emit",
		"error":   "i32.const 0 i32.const %d call $error_write i32.const 0",
	} {
		for _, size := range []int{contract.MaxPiece, contract.MaxPiece + 1} {
			invoke := `(func (export "easel_invoke") (result i32) i32.const 16 memory.grow drop ` + code + `)`
			m := load(t, h, `(module`+importAll+fmt.Sprintf(invoke, size)+`)`, nil)
			_, err := m.Call(t.Context(), CallRequest{})
			large := fmt.Sprintf("%s of at least %d bytes, allowed are %d", name, size, contract.MaxPiece)
			if size > contract.MaxPiece {
				require.True(t, is(err, contract.OutputTooLarge), "%v", err)
				require.ErrorContains(t, err, large)
			} else {
				require.False(t, is(err, contract.OutputTooLarge), "%v", err)
			}
		}
	}
}
