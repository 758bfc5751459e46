package meter_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/easel-canvas/easel/plugins/meter"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// FuzzRewrite passes hostile bytes to the rewriter. The output must be valid exactly when the input
// is; Inspect must accept the same modules as Rewrite.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{
		sum,
		`(module)`,
		`(module (import "m" "f" (func $i (param i64))) (memory 1 2) (table 2 funcref) (global $g (mut i64) (i64.const -7))
		  (func $f (export "f") (result i32) block $b loop $l br 1 end end i32.const 1 memory.grow i32.const 0 i32.load offset=4 i32.add)
		  (elem (i32.const 0) $f $i) (data (i32.const 1) "abc") (start $s) (func $s i64.const 1 call $i)
		  (custom "name" "\01\04\01\01\01f"))`,
		`(module (func (param i32) local.get 0 br_table 0 0 0) (func i32.const 3 i8x16.splat i8x16.extract_lane_u 2 drop ref.func 0 drop))`,
	} {
		f.Add(wattest.Must(text))
	}
	files, err := filepath.Glob(filepath.Join(wazeroDir(f), "examples/*/testdata/*.wasm"))
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		if len(b) < 20_000 { // larger seeds slow down every step and add no structure
			f.Add(b)
		}
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	compile := func(b []byte) error {
		mod, err := rt.CompileModule(ctx, b)
		if err == nil {
			return mod.Close(ctx)
		}
		return err
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, shapeErr := meter.Inspect(b)
		out, err := meter.Rewrite(b, meter.Limits{Pages: 1 << 16, Elements: 1 << 27})
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.NoError(t, shapeErr)
		before, after := compile(b), compile(out)
		if before == nil {
			require.NoError(t, after, "a valid module became invalid")
			return
		}
		// The rewriter drops unreadable custom sections; the runtime rejects some of them.
		if after == nil {
			require.True(t, strings.Contains(before.Error(), "custom") || strings.Contains(before.Error(), "name"), "became valid: %v", before)
		}
	})
}

// TestRealModules rewrites modules written by compilers.
func TestRealModules(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	seen := 0
	for _, pattern := range []string{"examples/*/testdata/*.wasm", "examples/*/*/testdata/*.wasm", "imports/*/example/testdata/*/*.wasm", "imports/*/testdata/*/*.wasm"} {
		files, err := filepath.Glob(filepath.Join(wazeroDir(t), pattern))
		require.NoError(t, err)
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			out, err := meter.Rewrite(b, meter.Limits{})
			require.NoError(t, err, file)
			mod, err := rt.CompileModule(ctx, out)
			require.NoError(t, err, file)
			require.NoError(t, mod.Close(ctx))
			seen++
		}
	}
	require.Greater(t, seen, 10)
}
