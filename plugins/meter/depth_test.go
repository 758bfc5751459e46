package meter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

const deep = `(module (memory 1)
  (func $down (export "down") (param $n i32) (result i32)
    local.get $n i32.eqz if i32.const 7 return end
    block local.get $n i32.const 1 i32.and br_if 0 local.get $n i32.const 1 i32.sub call $down return end
    local.get $n i32.const 1 i32.sub call $down)
  (func $two (export "two") (param i32) (result i32 i64)
    local.get 0 i32.eqz if i32.const 1 i64.const 2 return end
    local.get 0 i32.const 1 i32.sub call $two)
  (func $none (export "none") (param i32)
    local.get 0 i32.eqz if return end
    local.get 0 i32.const 1 i32.sub call $none)
  (func $branch (export "branch") (param i32) (result i32)
    local.get 0 local.get 0 i32.eqz br_if 0 drop
    i32.const 5 i32.const 0 call $down drop local.get 0 br_table 0 0 0))`

// TestStackIsReleased calls each exit path of a function often enough to exhaust the budget many
// times over.
func TestStackIsReleased(t *testing.T) {
	mod, _ := start(t, rewrite(t, deep), 1<<50)
	for _, export := range []string{"down", "two", "none", "branch"} {
		f := mod.ExportedFunction(export)
		for range 2000 {
			_, err := f.Call(context.Background(), 1000)
			require.NoError(t, err, export)
		}
	}
	got, err := mod.ExportedFunction("two").Call(context.Background(), 3)
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 2}, got)
	got, err = mod.ExportedFunction("down").Call(context.Background(), 3)
	require.NoError(t, err)
	require.Equal(t, []uint64{7}, got)
}

func TestDeepRecursionExceedsTheBudget(t *testing.T) {
	for _, export := range []string{"down", "two", "none"} {
		mod, _ := start(t, rewrite(t, deep), 1<<50)
		_, err := mod.ExportedFunction(export).Call(context.Background(), 10_000)
		require.NoError(t, err, "ten thousand small frames fit")
		_, err = mod.ExportedFunction(export).Call(context.Background(), 10_000_000)
		require.ErrorIs(t, err, errStack)
	}
}
