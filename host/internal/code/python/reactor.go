package python

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A reactor is a module whose functions the host calls after _initialize. Those that run an
// interpreter either take its command line, as main of a C program and Py_BytesMain of CPython do,
// or take nothing and read it through WASI.
var (
	mains      = []string{"Py_BytesMain", "main", "__main_argc_argv"} // (argc, argv) -> exit code
	runs       = []string{"run", "_run", "main", "__main_void"}       // () -> nothing or an exit code
	allocators = []string{"malloc", "PyMem_RawMalloc"}                // (bytes) -> address
)

// starter is the function that runs the interpreter of a reactor.
type starter struct {
	name      string
	allocator string // makes room for the command line; "" if the function does not take one
}

// entryOf returns the function that runs a reactor, and nil for a command.
func entryOf(m wazero.CompiledModule) (*starter, error) {
	exported := m.ExportedFunctions()
	if exported["_start"] != nil {
		return nil, nil
	}
	if exported["_initialize"] == nil {
		return nil, fmt.Errorf("%w: it exports neither _start nor _initialize, so it is not a WASI program", ErrModule)
	}
	find := func(names []string, params int, results ...int) string {
		i := slices.IndexFunc(names, func(name string) bool {
			f := exported[name]
			return f != nil && isWords(f.ParamTypes(), params) &&
				slices.ContainsFunc(results, func(n int) bool { return isWords(f.ResultTypes(), n) })
		})
		if i < 0 {
			return ""
		}
		return names[i]
	}
	main, allocator := find(mains, 2, 1), find(allocators, 1, 1)
	if main != "" && allocator != "" {
		return &starter{main, allocator}, nil
	}
	if run := find(runs, 0, 0, 1); run != "" {
		return &starter{name: run}, nil
	}
	if main != "" {
		return nil, fmt.Errorf("%w: its %s takes a command line; a reactor must also export one of %v",
			ErrModule, main, allocators)
	}
	return nil, fmt.Errorf("%w: a reactor must export one of %v with argc and argv, or one of %v without parameters",
		ErrModule, mains, runs)
}

// isWords reports whether types are n integers of 32 bits.
func isWords(types []api.ValueType, n int) bool {
	return len(types) == n && !slices.ContainsFunc(types, func(t api.ValueType) bool { return t != api.ValueTypeI32 })
}

// call runs the interpreter and returns its exit code.
func (e *starter) call(ctx context.Context, m api.Module, args []string) (code uint32, err error) {
	var params []uint64
	if e.allocator != "" {
		argv, err := e.put(ctx, m, args)
		if err != nil {
			return 0, fmt.Errorf("command line: %w", err)
		}
		params = []uint64{uint64(len(args)), uint64(argv)}
	}
	results, err := m.ExportedFunction(e.name).Call(ctx, params...)
	if err == nil && len(results) > 0 {
		code = api.DecodeU32(results[0])
	}
	return code, err
}

// put writes a command line into the memory of the guest, as C has it: addresses of strings that
// end with a zero byte, and a null address behind them. It returns the address of the first.
func (e *starter) put(ctx context.Context, m api.Module, args []string) (argv uint32, err error) {
	table := 4 * (len(args) + 1)
	size := table
	for _, a := range args {
		size += len(a) + 1
	}
	results, err := m.ExportedFunction(e.allocator).Call(ctx, uint64(size))
	if err != nil {
		return 0, err
	}
	argv = api.DecodeU32(results[0])
	if argv == 0 {
		return 0, fmt.Errorf("%s of %d bytes failed", e.allocator, size)
	}
	block, at := make([]byte, table, size), uint32(table)
	for i, a := range args {
		binary.LittleEndian.PutUint32(block[4*i:], argv+at)
		block = append(append(block, a...), 0)
		at += uint32(len(a)) + 1
	}
	if !m.Memory().Write(argv, block) {
		return 0, fmt.Errorf("%s gave the address %d outside of the memory", e.allocator, argv)
	}
	return argv, nil
}
