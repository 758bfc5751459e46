package python

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
)

const (
	wasmPage = 64 << 10
	// libraryAt is the guest's path of the packages that the interpreter does not contain.
	libraryAt = "/lib/python"
)

// loaded is a compiled interpreter. It has no way to be interrupted, which would slow it down
// several times: its process is killed instead.
type loaded struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	entry   *starter // of a reactor; nil for a command
}

// load compiles the module at path, or reads its machine code from the cache.
func load(ctx context.Context, path, cacheDir string, memory int64) (*loaded, error) {
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files, cache, err := wasmcache.Open(cacheDir, quiet)
	if err != nil { // a read-only disk must not prevent the run
		files, cache = nil, wazero.NewCompilationCache()
	}
	// WebAssembly 2.0. Exceptions stay off: their implementation in wazero may use freed memory.
	config := wazero.NewRuntimeConfig().WithCompilationCache(cache).WithDebugInfoEnabled(false).
		WithMemoryLimitPages(uint32(memory / wasmPage)).WithMemoryCapacityFromMax(true)
	l := &loaded{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, l.runtime); err != nil {
		return nil, err
	}
	err = files.Compile(wasmcache.KeyOf(code), func() (err error) {
		l.module, err = l.runtime.CompileModule(ctx, code)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModule, err)
	}
	if l.entry, err = entryOf(l.module); err != nil {
		return nil, err
	}
	return l, l.refuseImports(ctx)
}

// refuseImports provides the functions that the module imports besides those of WASI: a script that
// reaches one of them ends.
func (l *loaded) refuseImports(ctx context.Context) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, f := range l.module.ImportedFunctions() {
		module, name, _ := f.Import()
		if module == wasi_snapshot_preview1.ModuleName {
			continue
		}
		b := builders[module]
		if b == nil {
			b = l.runtime.NewHostModuleBuilder(module)
			builders[module] = b
		}
		refuse := api.GoFunc(func(context.Context, []uint64) {
			panic(fmt.Errorf("the interpreter called %s.%s, which no host of easel offers", module, name))
		})
		b.NewFunctionBuilder().WithGoFunction(refuse, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// config mounts the files of a script and the library of the interpreter.
func (l *loaded) config(f *files, library string) (wazero.ModuleConfig, error) {
	mounts, config := wazero.NewFSConfig(), wazero.NewModuleConfig().WithName("")
	if library != "" {
		lib, err := zip.OpenReader(library) // open until the process ends
		if err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
		mounts = mounts.WithFSMount(lib, libraryAt)
		config = config.WithEnv("PYTHONPATH", libraryAt)
	}
	extended, ok := mounts.(sysfs.FSConfig)
	if !ok {
		return nil, errors.New("this wazero does not mount file systems of its host")
	}
	config = config.WithFSConfig(extended.WithSysFSMount(f, "/"))
	if l.entry != nil {
		config = config.WithStartFunctions("_initialize")
	}
	return config, nil
}

// run runs the interpreter to its end.
func (l *loaded) run(ctx context.Context, config wazero.ModuleConfig, args []string) error {
	m, err := l.runtime.InstantiateModule(ctx, l.module, config.WithArgs(args...))
	if err != nil || l.entry == nil {
		return err
	}
	code, err := l.entry.call(ctx, m, args)
	if err == nil && code != 0 {
		err = wasys.NewExitError(code)
	}
	return err
}
