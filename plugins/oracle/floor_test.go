package oracle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// loadFloor is a new runtime of wazero alone that loads a module with compiled code in a cache in
// dir. The module is not metered, examined or given functions.
func loadFloor(b *testing.B, dir string, wasm []byte) func() time.Duration {
	b.Helper()
	ctx := context.Background()
	return func() time.Duration {
		began := time.Now()
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache))
		_, err = r.CompileModule(ctx, wasm)
		took := time.Since(began)
		if err := errors.Join(err, r.Close(ctx), cache.Close(ctx)); err != nil {
			b.Fatal(err)
		}
		return took
	}
}

// floor is one call of the bulk guest by wazero alone: the guest is not metered, its functions of
// the host only copy, and nothing is limited, queued or checked.
func floor(b *testing.B, export string, input []byte) func() error {
	b.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	b.Cleanup(func() { _ = r.Close(ctx) })
	var output []byte
	value := []api.ValueType{api.ValueTypeI32}
	host := r.NewHostModuleBuilder("easel:host/v1")
	for _, f := range []struct {
		name            string
		run             func(mod api.Module, stack []uint64)
		params, results []api.ValueType
	}{
		{"input_len", func(_ api.Module, s []uint64) { s[0] = uint64(len(input)) }, nil, value},
		{"input_read", func(mod api.Module, s []uint64) {
			to, _ := mod.Memory().Read(uint32(s[0]), uint32(s[1]))
			s[0] = uint64(copy(to, input))
		}, []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, value},
		{"output_write", func(mod api.Module, s []uint64) {
			from, _ := mod.Memory().Read(uint32(s[0]), uint32(s[1]))
			output = append([]byte(nil), from...)
		}, []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, nil},
		{"error_write", func(api.Module, []uint64) {}, []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, nil},
	} {
		run := api.GoModuleFunc(func(_ context.Context, mod api.Module, s []uint64) { f.run(mod, s) })
		host.NewFunctionBuilder().WithGoModuleFunction(run, f.params, f.results).Export(f.name)
	}
	if _, err := host.Instantiate(ctx); err != nil {
		b.Fatal(err)
	}
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize")
	mod, err := r.InstantiateWithConfig(ctx, guest(b, "bulk"), config)
	if err != nil {
		b.Fatal(err)
	}
	f, stack := mod.ExportedFunction(export), make([]uint64, 1)
	call := func() error { return f.CallWithStack(ctx, stack) }
	if err := call(); err != nil || len(output) != len(input) {
		b.Fatalf("%d bytes, %v", len(output), err)
	}
	return call
}
