package plugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// The test binary is the compiler process of its tests, and the host process of attacks.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "plugin-attack" {
		if err := attackWork(os.Args[2], os.Args[0]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "plugin-compiler" {
		if err := CompileWork(context.Background(), os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func testCompiler(t testing.TB) []string {
	self, err := os.Executable()
	require.NoError(t, err)
	return []string{self, "plugin-compiler"}
}

// Code that takes compilers more than linear time is refused before it is compiled.
func TestSuperlinearCodeIsRefused(t *testing.T) {
	h := newHost(t, Config{})
	for name, module := range map[string][]byte{
		"nested loops":    wattest.Generated(1, 0, wattest.Nested(wattest.OpLoop, 12_000)),
		"nested blocks":   wattest.Generated(1, 0, wattest.Nested(wattest.OpBlock, 40_000)),
		"ifs":             wattest.Generated(1, 1000, bytes.Repeat(wattest.Conditional, 32_000)),
		"branches":        wattest.Generated(1, 0, wattest.Branches(1_000_000)),
		"many branches":   wattest.Generated(32, 0, wattest.Branches(20_000)),
		"large function":  wattest.Generated(1, 0, bytes.Repeat([]byte{wattest.OpI32, 0, wattest.OpDrop}, 1<<20)),
		"custom sections": append(wattest.Generated(1, 0, nil), bytes.Repeat([]byte{0, 2, 1, 'a'}, 3_000_000)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Load(t.Context(), pack(t, module, nil), LoadOptions{Granted: contract.Everything()})
			require.True(t, is(err, contract.OverLimit), "%v", err)
		})
	}
}

func TestCompilerProcess(t *testing.T) {
	for name, c := range map[string]struct {
		module []byte
		limits CompileLimits
		code   contract.Code
		text   string
	}{
		"time": {
			wattest.Generated(80, 100, bytes.Repeat(wattest.Conditional, 20_000)),
			CompileLimits{CPU: time.Second},
			// on a machine with little processor time the clock ends it, at 1m0s
			contract.OverLimit, "compiling takes more than 1",
		},
		"memory": {
			wattest.Generated(15, 0, wattest.Branches(30_000)),
			CompileLimits{Memory: 32 << 20},
			contract.OverLimit, "compiling takes more than 32 MB of memory",
		},
		"wrong types": {
			wattest.Generated(1, 0, []byte{0x42, 0, 0x6a, wattest.OpDrop}),
			CompileLimits{},
			contract.Malformed, "type mismatch",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, Config{Compiler: testCompiler(t), Compiling: c.limits})
			_, err := h.Load(t.Context(), pack(t, c.module, nil), LoadOptions{Granted: contract.Everything()})
			require.True(t, is(err, c.code), "%v", err)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// What a compiler process has compiled is read from the cache, now and by the next host.
func TestCompilerProcessFillsTheCache(t *testing.T) {
	dir := t.TempDir()
	m := load(t, newHost(t, Config{Compiler: testCompiler(t), CacheDir: dir}), echo, nil)
	res, err := m.Call(t.Context(), CallRequest{Input: []byte("words")})
	require.NoError(t, err)
	require.Equal(t, "words", string(res.Output))
	again := newHost(t, Config{Compiler: []string{"/nonexistent"}, CacheDir: dir})
	load(t, again, echo, nil)
	_, err = again.Load(t.Context(), pack(t, wattest.Must(relay), nil), LoadOptions{Granted: contract.Everything()})
	require.True(t, is(err, contract.Internal), "%v", err)
	require.ErrorContains(t, err, "start the compiler")
}

// The largest plugins that there are compile within the limits.
func TestGoGuestCompilesInItsProcess(t *testing.T) {
	h := newHost(t, Config{Compiler: testCompiler(t)})
	wasm := goGuest(t, "goguest")
	_, err := h.Load(t.Context(), pack(t, wasm, nil), LoadOptions{Granted: contract.Everything()})
	require.NoError(t, err)
}

// A compiler that waits long for a processor, as on a busy machine, is not ended.
func TestCompilerMayWait(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the processor time of a process")
	}
	waits := append([]string{"/bin/sh", "-c", `sleep 13; exec "$0" "$@"`}, testCompiler(t)...)
	h := newHost(t, Config{Compiler: waits, Compiling: CompileLimits{CPU: time.Second}})
	wasm := pack(t, wattest.Generated(1, 0, nil), nil)
	_, err := h.Load(t.Context(), wasm, LoadOptions{Granted: contract.Everything()})
	require.NoError(t, err)
}
