package meter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/plugins/meter"
	"github.com/easel-canvas/easel/plugins/wattest"
)

var (
	errFuel  = errors.New("out of fuel")
	errStack = errors.New("stack overflow")
)

// gauge is a minimal host of a metered module: it returns allowances.
type gauge struct {
	used, budget int64
	allowance    int32
	ticks        int
}

func (g *gauge) tick(_ context.Context, _ api.Module, stack []uint64) {
	if int32(uint32(stack[0])) == meter.Overflow {
		panic(errStack)
	}
	g.ticks++
	g.used += int64(g.allowance) - int64(int32(uint32(stack[0])))
	if g.used > g.budget {
		panic(errFuel)
	}
	g.allowance = int32(min(int64(meter.Interval), g.budget-g.used))
	stack[0] = uint64(uint32(g.allowance))
}

func (g *gauge) total(mod api.Module) int64 {
	return g.used + int64(g.allowance) - int64(int32(uint32(mod.ExportedGlobal(meter.Fuel).Get())))
}

// start instantiates a metered module with budget units of fuel.
func start(t testing.TB, metered []byte, budget int64) (api.Module, *gauge) {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(2048))
	t.Cleanup(func() { require.NoError(t, rt.Close(ctx)) })
	g := &gauge{budget: budget}
	i32 := []api.ValueType{api.ValueTypeI32}
	_, err := rt.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(g.tick), i32, i32).Export(meter.Tick).Instantiate(ctx)
	require.NoError(t, err)
	mod, err := rt.InstantiateWithConfig(ctx, metered, wazero.NewModuleConfig().WithName(""))
	require.NoError(t, err)
	return mod, g
}

func rewrite(t testing.TB, text string) []byte {
	t.Helper()
	out, err := meter.Rewrite(wattest.Must(text), meter.Limits{})
	require.NoError(t, err)
	return out
}

const sum = `(module
  (func (export "sum") (param $n i32) (result i32) (local $s i32)
    loop $again
      local.get $s local.get $n i32.add local.set $s
      local.get $n i32.const 1 i32.sub local.tee $n
      br_if $again
    end
    local.get $s)
  (func (export "spin") loop $l br $l end)
  (func $down (export "down") (param $n i32) (result i32)
    local.get $n i32.eqz if $z (result i32) i32.const 0 else
      local.get $n i32.const 1 i32.sub call $down
    end)
  (func (export "leaf") (param i32) (result i32) local.get 0 i32.const 1 i32.add))`

func TestFuelCountsLoopsAndCalls(t *testing.T) {
	for _, c := range []struct {
		name, export string
		arg          uint64
		fuel         int64
	}{
		{"a loop costs one unit per pass", "sum", 25_000, 25_000},
		{"a recursive call costs one unit", "down", 100, 101},
		{"a small leaf is free", "leaf", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod, g := start(t, rewrite(t, sum), 1<<40)
			_, err := mod.ExportedFunction(c.export).Call(context.Background(), c.arg)
			require.NoError(t, err)
			require.Equal(t, c.fuel, g.total(mod))
			again, h := start(t, rewrite(t, sum), 1<<40)
			_, err = again.ExportedFunction(c.export).Call(context.Background(), c.arg)
			require.NoError(t, err)
			require.Equal(t, g.total(mod), h.total(again), "fuel must not vary")
		})
	}
}

func TestFuelEndsARunaway(t *testing.T) {
	for _, text := range []string{
		sum,
		`(module (memory 16) (func (export "spin") loop $l i32.const 0 i32.const 0 i32.const 1048576 memory.fill br $l end))`,
		`(module (memory 1) (func (export "spin") loop $l i32.const 1 memory.grow drop br $l end))`,
		`(module (table 1 funcref) (func (export "spin") loop $l ref.null func i32.const 9999 table.grow drop br $l end))`,
		`(module (func $a call $b) (func $b (export "spin") loop $l call $a br $l end))`,
	} {
		mod, g := start(t, rewrite(t, text), 50_000)
		_, err := mod.ExportedFunction("spin").Call(context.Background())
		if err != nil && !errors.Is(err, errFuel) { // mutual recursion may reach the stack budget first
			require.ErrorContains(t, err, "stack overflow")
			continue
		}
		require.ErrorIs(t, err, errFuel)
		require.Greater(t, g.used, int64(50_000))
	}
}

func TestBigBodiesCostMore(t *testing.T) {
	text := "(module (func (export \"f\") (local i32)"
	for range 2560 {
		text += " local.get 0 drop"
	}
	mod, g := start(t, rewrite(t, text+"))"), 1<<40)
	_, err := mod.ExportedFunction("f").Call(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(1+5121/256), g.total(mod))
}

func TestBulkCostsPerKiB(t *testing.T) {
	mod, g := start(t, rewrite(t, `(module (memory 16)
	  (func (export "fill") (param i32) i32.const 0 i32.const 7 local.get 0 memory.fill))`), 1<<40)
	fill := func(n uint64) int64 {
		before := g.total(mod)
		_, err := mod.ExportedFunction("fill").Call(context.Background(), n)
		require.NoError(t, err)
		return g.total(mod) - before
	}
	require.Equal(t, int64(0), fill(1023))
	require.Equal(t, int64(1), fill(1024))
	require.Equal(t, int64(1024), fill(1<<20))
	b, _ := mod.Memory().ReadByte(1<<20 - 1)
	require.Equal(t, byte(7), b)
}

func TestTickWorksInStart(t *testing.T) {
	metered := rewrite(t, `(module (global $i (mut i32) (i32.const 20000))
	  (func $s loop $l global.get $i i32.const 1 i32.sub global.set $i global.get $i br_if $l end)
	  (start $s))`)
	_, g := start(t, metered, 1<<40)
	require.GreaterOrEqual(t, g.ticks, 2)
}

func TestRefusedMemorySetsTheFlag(t *testing.T) {
	out, err := meter.Rewrite(wattest.Must(`(module (memory (export "memory") 1)
	  (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))`), meter.Limits{Pages: 4})
	require.NoError(t, err)
	mod, _ := start(t, out, 1<<40)
	grow := func(n uint64) int32 {
		res, err := mod.ExportedFunction("grow").Call(context.Background(), n)
		require.NoError(t, err)
		return int32(res[0])
	}
	require.Equal(t, int32(1), grow(3))
	require.Zero(t, mod.ExportedGlobal(meter.Refused).Get())
	require.Equal(t, int32(-1), grow(1))
	require.Equal(t, uint64(1), mod.ExportedGlobal(meter.Refused).Get())
}

func TestRewriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		wasm []byte
		want error
	}{
		{"an import of the meter", wattest.Must(`(module (import "easel:meter/v1" "tick" (func (param i32) (result i32))))`), meter.ErrForged},
		{"an import of another meter version", wattest.Must(`(module (import "easel:meter/v9" "x" (func)))`), meter.ErrForged},
		{"an export of the fuel name", wattest.Must(`(module (global (mut i32) (i32.const 0)) (export "easel:fuel" (global 0)))`), meter.ErrForged},
		{"an export of the added global", wattest.Must(`(module (export "x" (global 0)))`), meter.ErrMalformed},
		{"global.set of the added global", wattest.Must(`(module (func i32.const 9 global.set 0))`), meter.ErrMalformed},
		{"global.get of the added global", wattest.Must(`(module (func global.get 0 drop))`), meter.ErrMalformed},
		{"a constant reading the added global", wattest.Must(`(module (memory 1) (data (global.get 0) "x"))`), meter.ErrMalformed},
		{"local.get of the added scratch local", wattest.Must(`(module (func loop local.get 0 drop end))`), meter.ErrMalformed},
		{"a call of the added function", wattest.Must(`(module (func call 1))`), meter.ErrMalformed},
		{"a block of the added type", wattest.Must(`(module (func (byte 0x02 0x01) end))`), meter.ErrMalformed},
		{"a module metered twice", rewrite(t, sum), meter.ErrForged},
		{"an unknown instruction", wattest.Must(`(module (func (byte 0x06)))`), meter.ErrUnsupported},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), meter.ErrUnsupported},
		{"a tail call", wattest.Must(`(module (func (byte 0x12 0)))`), meter.ErrUnsupported},
		{"an atomic", wattest.Must(`(module (func (byte 0xfe 0x03 0)))`), meter.ErrUnsupported},
		{"relaxed vectors", wattest.Must(`(module (func (byte 0xfd 0x80 0x02)))`), meter.ErrUnsupported},
		{"a second memory", wattest.Must(`(module (memory 1) (memory 1))`), meter.ErrUnsupported},
		{"too much memory", wattest.Must(`(module (memory 2000))`), meter.ErrLimit},
		{"too large a table", wattest.Must(`(module (table 200000 funcref))`), meter.ErrLimit},
		{"a body that ends early", wattest.Must(`(module (func (byte 0x0b)))`), meter.ErrMalformed},
		{"a body that does not end", wattest.Must(`(module (func block))`), meter.ErrMalformed},
		{"text", []byte("hello"), meter.ErrMalformed},
		{"an empty input", nil, meter.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := meter.Rewrite(c.wasm, meter.Limits{})
			require.ErrorIs(t, err, c.want)
			require.Nil(t, out)
		})
	}
}

func TestTruncatedModulesAreRefused(t *testing.T) {
	whole := wattest.Must(sum)
	for n := range whole {
		if _, err := meter.Rewrite(whole[:n], meter.Limits{}); err == nil {
			require.Contains(t, []int{8, 8 + sectionEnd(whole, 8)}, n, "only a module cut between independent sections may pass")
		}
	}
}

// sectionEnd returns the size of the section at position at.
func sectionEnd(wasm []byte, at int) int { return 2 + int(wasm[at+1]) }

func TestNamesMoveWithTheirFunctions(t *testing.T) {
	text := `(module (import "m" "i" (func)) (func (export "f") unreachable)
	  (custom "name" "\01\07\02\00\01i\01\01f") (custom ".debug_info" "x") (custom "easel.manifest" "{}"))`
	out, err := meter.Rewrite(wattest.Must(text), meter.Limits{})
	require.NoError(t, err)
	shape, err := meter.Inspect(out)
	require.NoError(t, err)
	require.Equal(t, []string{"name", "easel.manifest"}, shape.Custom)
	require.Contains(t, string(out), "\x03\x00\x01i\x01\x0aeasel.tick\x02\x01f")
}

func TestInspect(t *testing.T) {
	shape, err := meter.Inspect(wattest.Must(`(module (import "easel:host/v1" "emit" (func (param i32 i32 i32) (result i32)))
	  (memory (export "memory") 1 3) (func $s (export "easel_invoke") (result i32) i32.const 0) (start $s))`))
	require.NoError(t, err)
	require.True(t, shape.Start)
	require.Equal(t, &meter.Bounds{Min: 1, Max: 3}, shape.Memory)
	require.Equal(t, "easel:host/v1", shape.Imports[0].Module)
	require.Equal(t, []byte{0x7f, 0x7f, 0x7f}, shape.Imports[0].Type.Params)
	f, ok := shape.Func("easel_invoke")
	require.True(t, ok)
	require.Equal(t, []byte{0x7f}, f.Results)
	_, ok = shape.Func("memory")
	require.False(t, ok)
}

// TestBranchesLeaveWrappedLoops branches out of loops in every possible way, through the blocks
// that the meter adds, and compares the results before and after.
func TestBranchesLeaveWrappedLoops(t *testing.T) {
	text := `(module
	  (func $one (result i32) i32.const 1)
	  (func (export "run") (param $n i32) (result i32) (local $s i32)
	    block $done (result i32)
	      loop $outer
	        loop $inner (result i32)
	          local.get $s call $one i32.add local.tee $s
	          i32.const 1000 i32.gt_u if local.get $s return end
	          block $a block $b block $c
	            local.get $n i32.const 1 i32.sub local.tee $n
	            i32.const 7 i32.and
	            br_table $a $b $c $inner $outer $inner $outer $a
	          end local.get $s i32.const 3 i32.add local.set $s br $inner
	          end local.get $s i32.const 5 i32.add local.tee $s local.get $n i32.eqz br_if $done drop br $outer
	          end local.get $n i32.const 0 i32.lt_s if local.get $s br $done end
	          br $inner
	        end
	        drop br $outer
	      end
	      i32.const -1
	    end))`
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { require.NoError(t, rt.Close(ctx)) })
	plain, err := rt.InstantiateWithConfig(ctx, wattest.Must(text), wazero.NewModuleConfig().WithName(""))
	require.NoError(t, err)
	metered, _ := start(t, rewrite(t, text), 1<<40)
	for n := range uint64(300) {
		want, err := plain.ExportedFunction("run").Call(ctx, n)
		require.NoError(t, err)
		got, err := metered.ExportedFunction("run").Call(ctx, n)
		require.NoError(t, err)
		require.Equal(t, want, got, "run(%d)", n)
	}
}

// TestLabelOutOfRange checks a module that is invalid before the meter adds labels; it must stay
// invalid.
func TestLabelOutOfRange(t *testing.T) {
	for _, text := range []string{
		`(module (func $f call $f br 1))`, `(module (func loop br 2 end))`, `(module (func $f call $f loop i32.const 0 br_if 4 end))`,
		`(module (func $f call $f i32.const 0 br_table 0 3))`, `(module (func $f loop $l br $l unreachable br 5 end))`,
	} {
		_, err := meter.Rewrite(wattest.Must(text), meter.Limits{})
		require.ErrorIs(t, err, meter.ErrMalformed, text)
	}
}
