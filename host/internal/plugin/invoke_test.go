package plugin

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// says returns a guest with a fixed output.
func says(output string) string {
	return fmt.Sprintf(`(module%s(data (i32.const 0) "%s")
		(func (export "easel_invoke") (result i32) i32.const 0 i32.const %d call $output_write i32.const 0))`,
		importAll, wattest.Escape(output), len(output))
}

func TestInvokeChecksOutputs(t *testing.T) {
	h := newHost(t, Config{})
	fields := map[string]any{"outputs": map[string]any{
		"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}, "temp": map[string]any{"type": "number"}}, "required": []string{"text"},
	}}
	for _, c := range []struct {
		name, says, want string
		outputs          string
	}{
		{
			"outputs object",
			`{"outputs":{"text":"3","temp":3},"artifacts":[{"name":"a","mime":"b","ref":"c"}]}`,
			"", `{"text":"3","temp":3}`,
		},
		{"a bare string is the text output", `"天气"`, "", `{"text":"天气"}`},
		{"a missing output", `{"outputs":{"temp":3}}`, "bad_output: outputs.text: missing", ""},
		{
			"an output of the wrong type", `{"outputs":{"text":"x","temp":"warm"}}`,
			"bad_output: outputs.temp: want number, got string", "",
		},
		{"missing outputs", `{}`, "bad_output: outputs: missing", ""},
		{"text that is not JSON", `hello`, "bad_output: output is not the JSON of the contract", ""},
		{"nothing", ``, "bad_output: output is not the JSON of the contract", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := load(t, h, says(c.says), fields).Invoke(context.Background(), Invocation{})
			if c.want != "" {
				require.ErrorIs(t, err, contract.BadOutput)
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.outputs, a.Outputs.JSON())
		})
	}
}

func TestInvokeWritesTheInputOfTheContract(t *testing.T) {
	m := load(t, newHost(t, Config{}), echo, map[string]any{
		"params":    map[string]any{"type": "object", "properties": map[string]any{"units": map[string]any{"enum": []string{"c", "f"}}}},
		"arguments": map[string]any{"type": "object", "required": []string{"city"}},
	})
	in := Invocation{
		ID: "c1", Node: "Weather:0", Locale: "en", Params: engine.Object("units", "c"),
		Arguments: engine.Object("city", "Oslo"),
	}
	in.Run, in.Timeout = "r1", time.Second
	a, err := m.Invoke(context.Background(), in)
	require.ErrorIs(t, err, contract.BadOutput, "an echo has no outputs")
	require.JSONEq(t, `{"abi":1,"call":{"id":"c1","run":"r1","node":"Weather:0","attempt":1,"deadline_ms":1000,"locale":"en"},
		"params":{"units":"c"},"arguments":{"city":"Oslo"}}`, string(a.Output))
	_, err = m.Invoke(context.Background(), Invocation{Params: engine.Object("units", "k")})
	require.ErrorIs(t, err, contract.InvalidArgument)
	require.ErrorContains(t, err, "params.units: want one of [c f], got k")
	_, err = m.Invoke(context.Background(), Invocation{Arguments: engine.Object()})
	require.ErrorContains(t, err, "arguments.city: missing")
	require.NoError(t, m.Check(context.Background(), nil, engine.Object("units", "f")))
	require.ErrorIs(t, m.Check(context.Background(), nil, engine.Object("units", 3)), contract.InvalidArgument)
}

func TestClockAndRandomNumbersCanBePinned(t *testing.T) {
	m := load(t, newHost(t, Config{Now: func() time.Time { return time.Unix(0, 0x0102030405060708) }, Random: zeros{}}), `(module
		(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
		(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
		(memory (export "memory") 1)
		(func (export "easel_invoke") (result i32)
			i32.const 0 i64.const 1 i32.const 0 call $clock drop
			i32.const 8 i32.const 8 call $random drop
			i32.const 0 i32.const 16 call $output_write i32.const 0))`, nil)
	res, err := m.Call(context.Background(), CallRequest{})
	require.NoError(t, err)
	const coarse = 0x0102030405060708 / 1_000_000 * 1_000_000 // whole milliseconds
	require.Equal(t, append(binary.LittleEndian.AppendUint64(nil, coarse), make([]byte, 8)...), res.Output)
}

// TestPreciseClockNeedsAGrant reads both clocks and their resolution with and without the
// permission.
func TestPreciseClockNeedsAGrant(t *testing.T) {
	const exact = 0x0102030405060708
	const reads = `(module
		(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
		(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
		(import "wasi_snapshot_preview1" "clock_res_get" (func $res (param i32 i32) (result i32)))
		(memory (export "memory") 1)
		(func $reads (result i32)
			i32.const 0 i64.const 1 i32.const 0 call $clock drop
			i32.const 1 i64.const 1 i32.const 8 call $clock drop
			i32.const 0 i32.const 16 call $res drop
			i32.const 1 i32.const 24 call $res drop
			i32.const 32 i32.const 2 i32.const 40 call $res i32.store
			i32.const 36 i32.const 0 i32.const -4 call $res i32.store
			i32.const 0 i32.const 40 call $output_write i32.const 0)
		(func (export "easel_invoke") (result i32) call $reads)
		(func (export "easel_check") (result i32) call $reads))`
	asks := map[string]any{
		"permissions": map[string]any{"clock": map[string]any{"precise": true, "reason": "r"}}, "state": "tenant",
	}
	h := newHost(t, Config{Now: func() time.Time { return time.Unix(0, exact) }})
	answer := func(at, step uint64) []byte {
		var out []byte
		for _, v := range []uint64{at, at, step, step, 21<<32 | 28} { // EFAULT and EINVAL
			out = binary.LittleEndian.AppendUint64(out, v)
		}
		return out
	}
	coarse, precise := answer(exact/1_000_000*1_000_000, 1_000_000), answer(exact, 1)
	none := &contract.Permissions{}
	for _, c := range []struct {
		name     string
		manifest map[string]any
		req      CallRequest
		want     []byte
	}{
		{"granted", asks, CallRequest{}, precise},
		{"not asked for", nil, CallRequest{}, coarse},
		{"not allowed by the tenant", asks, CallRequest{Grant: none}, coarse},
		{"easel_check", asks, CallRequest{Export: "easel_check", Grant: none}, coarse},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, h, reads, c.manifest)
			for range 2 { // the second call has the instance of the first one
				res, err := m.Call(context.Background(), c.req)
				require.NoError(t, err)
				require.Equal(t, c.want, res.Output)
			}
		})
	}
	t.Run("one instance for calls with and without it", func(t *testing.T) {
		m := load(t, h, reads, asks)
		for range 2 {
			for want, req := range map[*[]byte]CallRequest{&precise: {}, &coarse: {Grant: none}} {
				res, err := m.Call(context.Background(), req)
				require.NoError(t, err)
				require.Equal(t, *want, res.Output)
			}
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzLoad loads changed plugins and calls what still loads. Nothing may crash or
// outlast its deadline, and every failure has a code.
func FuzzLoad(f *testing.F) {
	h := newHost(f, Config{StartWait: time.Second})
	for _, text := range []string{echo, relay, counter, says("x")} {
		f.Add(wattest.Must(text))
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		ctx := context.Background()
		m, err := h.Load(ctx, wasm, LoadOptions{
			Manifest: &contract.Manifest{
				ABI: 1, Name: "fuzz", Version: "0.0.1",
				Description: "x",
			}, Limits: contract.Limits{MemoryMB: 2, TimeoutMS: 100, OutputKB: 64},
		})
		if err != nil {
			require.IsType(t, &contract.Error{}, err)
			return
		}
		for range 2 {
			if _, err := m.Call(ctx, CallRequest{Input: []byte("input")}); err != nil {
				require.IsType(t, &contract.Error{}, err)
			}
		}
		require.NoError(t, m.Close(ctx))
	})
}
