package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
	"github.com/easel-canvas/easel/plugins/contract"
)

// CompileLimits bound the compilation of one module. A plugin written in Go, the largest that there
// are, takes 2 to 3 s and 300 MB.
type CompileLimits struct {
	CPU    time.Duration // of all processors together; 0 is 10 s
	Memory int64         // bytes; 0 is 512 MiB
}

func (l CompileLimits) withDefaults() CompileLimits {
	l.CPU, l.Memory = cmp.Or(l.CPU, 10*time.Second), cmp.Or(l.Memory, 512<<20)
	return l
}

// wall bounds how long a compilation takes on a busy machine.
func (l CompileLimits) wall() time.Duration { return wallFactor * l.CPU }

// job is the input of a compiler process; the module follows it.
type job struct {
	Cache  string // folder
	Limits CompileLimits
}

// CompileWork is a compiler process: it reads a module from in and writes its compiled code to the
// cache that the host names. It limits the process permanently. Errors are texts for people.
func CompileWork(ctx context.Context, in io.Reader) error {
	var j job
	header := json.NewDecoder(in)
	if err := header.Decode(&j); err != nil {
		return fmt.Errorf("plugin compiler: %w", err)
	}
	module, err := io.ReadAll(io.MultiReader(header.Buffered(), in))
	if err != nil {
		return fmt.Errorf("plugin compiler: %w", err)
	}
	module = bytes.TrimPrefix(module, []byte("\n")) // of the encoder
	if err := limitProcess(j.Limits); err != nil {
		return fmt.Errorf("plugin compiler: limit the process: %w", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(j.Cache)
	if err != nil {
		return fmt.Errorf("plugin compiler: %w", err)
	}
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cache))
	_, err = compileModule(ctx, r, module, runtime.GOMAXPROCS(0))
	return errors.Join(err, r.Close(ctx), cache.Close(ctx))
}

func runtimeConfig(cache wazero.CompilationCache) wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2).
		WithCompilationCache(cache).WithDebugInfoEnabled(false)
}

func compileModule(
	ctx context.Context, r wazero.Runtime, module []byte, workers int,
) (wazero.CompiledModule, error) {
	return r.CompileModule(experimental.WithCompilationWorkers(ctx, workers), module)
}

// compile compiles a metered module. Unless it is built in, a separate process does the work; this
// one only reads the result.
func (h *Host) compile(ctx context.Context, module []byte, source Source) (compiled wazero.CompiledModule, err error) {
	key := wasmcache.KeyOf(module)
	err = h.files.Compile(key, func() error {
		if len(h.cfg.Compiler) > 0 && source != Builtin && !h.files.Has(key) {
			if err := h.compileOutside(ctx, module); err != nil {
				return err
			}
		}
		workers := runtime.GOMAXPROCS(0)
		if source == Builtin {
			workers = max(1, workers-1) // calls are interpreted at the same time
		}
		compiled, err = compileModule(ctx, h.runtime, module, workers)
		return err
	})
	if err != nil {
		return nil, contract.AsError(err, contract.Malformed)
	}
	return compiled, nil
}

// compilerEnvironment is the whole environment of a compiler: keys of the host are none of its
// business.
var compilerEnvironment = []string{"GOMAXPROCS=2", "MALLOC_ARENA_MAX=1"}

func (h *Host) compileOutside(ctx context.Context, module []byte) error {
	limits := h.cfg.Compiling.withDefaults()
	header, err := json.Marshal(job{Cache: h.cfg.CacheDir, Limits: limits})
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, limits.wall())
	defer cancel()
	cmd := exec.CommandContext(timed, h.cfg.Compiler[0], h.cfg.Compiler[1:]...)
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(header, '\n')), bytes.NewReader(module))
	cmd.Env, cmd.WaitDelay = compilerEnvironment, 10*time.Second // as for scripts: it has no children
	var said tail
	cmd.Stderr = &said
	failed := cmd.Run()
	switch {
	case failed == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case timed.Err() != nil:
		return contract.Errorf(contract.OverLimit, "compiling takes more than %v", limits.wall())
	case cmd.ProcessState == nil:
		return contract.Errorf(contract.Internal, "start the compiler %q: %s", h.cfg.Compiler[0], failed)
	case cmd.ProcessState.ExitCode() == 1:
		return contract.Errorf(contract.Malformed, "%s", strings.TrimSpace(said.String()))
	case outOfTime(cmd.ProcessState, said.String()):
		return contract.Errorf(contract.OverLimit, "compiling takes more than %v of processor time", limits.CPU)
	}
	h.cfg.Log.Debug("compiler of plugins ended", "err", failed, "stderr", said.String())
	return contract.Errorf(contract.OverLimit, "compiling takes more than %d MB of memory", limits.Memory>>20)
}

// tail keeps the first bytes of a process's output.
type tail struct{ strings.Builder }

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.Builder.Write(p[:max(0, min(len(p), most-t.Len()))])
	return len(p), nil
}
