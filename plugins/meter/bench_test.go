package meter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/plugins/meter"
	"github.com/easel-canvas/easel/plugins/wattest"
)

const loops = `(module (func (export "run") (param $n i32) (result i32) (local $s i32)
  loop $l
    local.get $s local.get $n i32.xor i32.const 16777619 i32.mul local.set $s
    local.get $s i32.const 13 i32.rotl local.set $s
    local.get $n i32.const 1 i32.sub local.tee $n br_if $l
  end local.get $s))`

const fib = `(module (func $fib (export "run") (param $n i32) (result i32)
  local.get $n i32.const 2 i32.lt_u if $z (result i32) local.get $n else
    local.get $n i32.const 1 i32.sub call $fib local.get $n i32.const 2 i32.sub call $fib i32.add
  end))`

const store = `(module (memory 1) (func (export "run") (param $n i32) (result i32)
  loop $l
    local.get $n i32.const 65532 i32.and local.get $n i32.store
    local.get $n i32.const 1 i32.sub local.tee $n br_if $l
  end i32.const 0 i32.load))`

// BenchmarkMetered compares the tightest loops and calls unmodified and metered: the worst cases of
// the meter.
func BenchmarkMetered(b *testing.B) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, rt.Close(ctx)) })
	for _, c := range []struct {
		name, text string
		n          uint64
	}{{"arithmetic", loops, 1_000_000}, {"stores", store, 1_000_000}, {"calls", fib, 27}} {
		plain, err := rt.InstantiateWithConfig(ctx, wattest.Must(c.text), wazero.NewModuleConfig().WithName(""))
		require.NoError(b, err)
		metered, _ := start(b, rewrite(b, c.text), 1<<50)
		for name, mod := range map[string]api.Module{"plain": plain, "metered": metered} {
			run := mod.ExportedFunction("run")
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					_, err := run.Call(ctx, c.n)
					require.NoError(b, err)
				}
			})
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	wasm := wattest.Must(loops)
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		_, err := meter.Rewrite(wasm, meter.Limits{})
		require.NoError(b, err)
	}
}
