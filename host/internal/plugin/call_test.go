package plugin

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

func TestCallReturnsTheOutputOfTheGuest(t *testing.T) {
	m := load(t, newHost(t, Config{}), echo, nil)
	for _, input := range [][]byte{nil, []byte("hello"), []byte("Ålesund 天气"), {0xff, 0, 0xfe}, bytes.Repeat([]byte("x"), 1<<20)} {
		res, err := m.Call(context.Background(), CallRequest{Input: input})
		require.NoError(t, err)
		require.True(t, bytes.Equal(input, res.Output))
	}
}

func TestCallFaults(t *testing.T) {
	h := newHost(t, Config{})
	body := func(code string) string {
		return "(module" + importAll + `(data (i32.const 0) "\08\00\00\00\05\00\00\00boom!") (data (i32.const 100) "not so fast")
		(func $deep (param i64 i64 i64 i64) (result i64) local.get 0 i64.const 1 i64.add local.get 1 local.get 2 local.get 3 call $deep
			local.get 1 i64.add local.get 2 i64.mul local.get 3 i64.xor)
		(func (export "fine") (result i32) i32.const 100 i32.const 3 call $output_write i32.const 0)
		(func (export "easel_invoke") (result i32) ` + code + "))"
	}
	limits := map[string]any{"limits": map[string]any{"memory_mb": 4, "output_kb": 64, "fuel": 1 << 40}}
	for _, c := range []struct {
		name, code string
		want       contract.Code
		message    string
		discarded  bool
	}{
		{"an endless loop meets the deadline", "loop $l br $l end i32.const 0", contract.Timeout, "in time", true},
		{
			"endless recursion", "i64.const 1 i64.const 2 i64.const 3 i64.const 4 call $deep drop i32.const 0",
			contract.StackOverflow, "recursion", true,
		},
		{"a memory bomb", "loop $l i32.const 16 memory.grow i32.const -1 i32.eq if unreachable end br $l end i32.const 0", contract.OutOfMemory, "4 MB", true},
		{
			"endless output", "loop $l i32.const 0 i32.const 65536 call $output_write br $l end i32.const 0",
			contract.OutputTooLarge, "output", true,
		},
		{
			"an endless error message", "loop $l i32.const 0 i32.const 65536 call $error_write br $l end i32.const 0",
			contract.OutputTooLarge, "error", true,
		},
		{
			"endless emits", "loop $l i32.const 1 i32.const 0 i32.const 1 call $emit drop br $l end i32.const 0",
			contract.TooManyCalls, "emits", true,
		},
		{
			"endless host calls",
			"loop $l i32.const 0 i32.const 100 i32.const 3 call $call drop br $l end i32.const 0",
			contract.TooManyCalls, "calls", true,
		},
		{
			"the message of a panic is kept",
			"i32.const 2 i32.const 0 i32.const 1 i32.const 50 call $fd_write drop unreachable", contract.Panic, "boom!",
			true,
		},
		{
			"text written before a trap is the error message",
			"i32.const 100 i32.const 11 call $error_write unreachable", contract.Panic, "not so fast", true,
		},
		{"the exit status is reported", "i32.const 3 call $exit i32.const 0", contract.Exit, "status 3", true},
		{"the trap is reported", "unreachable", contract.Trap, "unreachable", true},
		{"a division by zero", "i32.const 1 i32.const 0 i32.div_u", contract.Trap, "divide by zero", true},
		{
			"a pointer outside the memory", "i32.const 65535 i32.const 9 call $output_write i32.const 0", contract.Trap,
			"output_write: 9 bytes at 65535", true,
		},
		{
			"an error returned by the plugin",
			"i32.const 100 i32.const 11 call $error_write i32.const 1", contract.Internal,
			"not so fast", false,
		},
		{"an error without a message", "i32.const 7", contract.Internal, "returned 7", false},
	} {
		both(t, c.name, func(t *testing.T, o LoadOptions) {
			m, err := h.Load(t.Context(), pack(t, wattest.Must(body(c.code)), limits), o)
			require.NoError(t, err)
			began := time.Now()
			timeout := time.Duration(0)
			if c.want == contract.Timeout {
				timeout = 300 * time.Millisecond
			}
			res, err := m.Call(context.Background(), CallRequest{Timeout: timeout})
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.message)
			require.ErrorContains(t, err, "plugin sample: easel_invoke: ")
			require.Less(t, time.Since(began), patience, "the deadline is that, or 0.3 s")
			require.Nil(t, res.Output)
			require.Equal(t, c.discarded, m.pool.idleCount() == 0)
			res, err = m.Call(context.Background(), CallRequest{Export: "fine"})
			require.NoError(t, err, "the next call works")
			require.Equal(t, "not", string(res.Output))
		})
	}
}

func TestCallUnknownExport(t *testing.T) {
	m := load(t, newHost(t, Config{}), echo, nil)
	for _, name := range []string{"missing", "_initialize", "memory"} {
		_, err := m.Call(context.Background(), CallRequest{Export: name})
		require.ErrorIs(t, err, contract.UnknownExport)
	}
}

func TestCallCancelled(t *testing.T) {
	h := newHost(t, Config{})
	t.Run("a guest that does not listen is stopped at once", func(t *testing.T) {
		m := load(t, h, "(module (func (export \"easel_invoke\") (result i32) loop $l br $l end i32.const 0))", nil)
		best := time.Hour
		for range 10 { // a busy machine may be late, but not each time
			ctx, cancel := context.WithCancel(context.Background())
			var cancelled time.Time
			time.AfterFunc(10*time.Millisecond, func() { cancelled = time.Now(); cancel() })
			_, err := m.Call(ctx, CallRequest{})
			require.ErrorIs(t, err, contract.Cancelled)
			if best = min(best, time.Since(cancelled)); best < grace {
				break
			}
		}
		require.Less(t, best, grace, "it gets no grace")
	})
	t.Run("a guest that listens may finish", func(t *testing.T) {
		m := load(t, h, `(module`+importAll+`(data (i32.const 0) "bye")
			(func (export "easel_invoke") (result i32)
				loop $l i32.const 1 i32.const 0 i32.const 3 call $emit i32.eqz br_if $l end
				i32.const 0 i32.const 3 call $output_write i32.const 0))`, nil)
		var res Result
		var err error
		for range 10 { // a busy machine may be slower than the grace, but not each time
			ctx, cancel := context.WithCancel(context.Background())
			seen := 0
			res, err = m.Call(ctx, CallRequest{Emit: func(context.Context, contract.Emission) error {
				if seen++; seen == 3 {
					cancel()
				}
				return nil
			}})
			require.Equal(t, 3, seen)
			if err == nil {
				break
			}
		}
		require.NoError(t, err)
		require.Equal(t, "bye", string(res.Output))
	})
	t.Run("a guest that ignores a cancel is stopped after the grace period", func(t *testing.T) {
		m := load(t, h, `(module`+importAll+`(func (export "easel_invoke") (result i32)
			i32.const 1 i32.const 0 i32.const 3 call $emit drop loop $l br $l end i32.const 0))`, nil)
		ctx, cancel := context.WithCancel(context.Background())
		began := time.Now()
		_, err := m.Call(ctx,
			CallRequest{Emit: func(context.Context, contract.Emission) error { cancel(); return nil }})
		require.ErrorIs(t, err, contract.Cancelled)
		require.GreaterOrEqual(t, time.Since(began), grace)
	})
	t.Run("the caller's deadline is a timeout", func(t *testing.T) {
		m := load(t, h, "(module (func (export \"easel_invoke\") (result i32) loop $l br $l end i32.const 0))", nil)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err := m.Call(ctx, CallRequest{})
		require.ErrorIs(t, err, contract.Timeout)
	})
}

func TestFuelIsDeterministicAndBounded(t *testing.T) {
	h := newHost(t, Config{})
	m := load(t, h, `(module (func (export "easel_invoke") (result i32) (local $i i32)
		i32.const 25000 local.set $i loop $l local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`, nil)
	for range 3 {
		res, err := m.Call(context.Background(), CallRequest{})
		require.NoError(t, err)
		require.Equal(t, int64(25000), res.Fuel)
	}
	_, err := m.Call(context.Background(), CallRequest{Fuel: 25000})
	require.NoError(t, err, "exactly enough is enough")
	res, err := m.Call(context.Background(), CallRequest{Fuel: 24999})
	require.ErrorIs(t, err, contract.OutOfFuel)
	require.Equal(t, int64(25000), res.Fuel)
}

func TestEmissionsArriveInOrder(t *testing.T) {
	m := load(t, newHost(t, Config{}), `(module`+importAll+`
		(data (i32.const 0) "one") (data (i32.const 10) "{\22pct\22:150,\22note\22:\22n\22}") (data (i32.const 50) "{\22key\22:\22text\22,\22delta\22:\22d\22}")
		(func (export "easel_invoke") (result i32)
			i32.const 1 i32.const 0 i32.const 3 call $emit drop
			i32.const 2 i32.const 0 i32.const 2 call $emit drop
			i32.const 3 i32.const 10 i32.const 22 call $emit drop
			i32.const 4 i32.const 50 i32.const 26 call $emit drop
			i32.const 99 i32.const 0 i32.const 3 call $emit drop
			i32.const 3 i32.const 0 i32.const 3 call $emit))`, nil)
	var got []contract.Emission
	_, err := m.Call(context.Background(), CallRequest{Emit: func(_ context.Context, e contract.Emission) error {
		got = append(got, e)
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, []contract.Emission{
		{Kind: contract.Delta, Text: "one"},
		{Kind: contract.Reasoning, Text: "on"},
		{Kind: contract.Progress, Pct: 100, Note: "n"},
		{Kind: contract.Partial, Key: "text", Text: "d"},
	}, got, "unknown kinds and broken JSON are dropped")
}

func TestLogsAreCapped(t *testing.T) {
	m := load(t, newHost(t, Config{}), `(module`+importAll+`(func (export "easel_invoke") (result i32) (local $i i32)
		i32.const 2000 local.set $i
		loop $l i32.const 3 i32.const 0 i32.const 60000 call $log local.get $i i32.const 1 i32.sub local.tee $i br_if $l end i32.const 0))`, nil)
	res, err := m.Call(context.Background(), CallRequest{})
	require.NoError(t, err)
	require.Len(t, res.Logs, maxLogs)
	require.Equal(t, "warn", res.Logs[0].Level)
	require.Len(t, res.Logs[0].Text, maxLogBytes)
}

func TestErrorOfAPluginCannotPretendToBeTheHost(t *testing.T) {
	e := contract.GuestError([]byte(`{"code":"rate_limited","message":"slow","retryable":true,"data":{"retry_after_ms":5}}`), 1)
	require.Equal(t, contract.RateLimited, e.Code)
	require.True(t, e.Retryable)
	e = contract.GuestError([]byte(`{"code":"timeout","message":"ha","retryable":true}`), 1)
	require.Equal(t, contract.Internal, e.Code)
	require.False(t, e.Retryable)
	require.True(t, strings.HasPrefix(e.Message, "timeout: "))
}
