package plugin

import (
	"bytes"
	"context"
	"encoding/binary"
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

// Instructions of generated code.
const (
	opBlock, opLoop, opIf, opEnd, opDrop     = 0x02, 0x03, 0x04, 0x0b, 0x1a
	opBrTable, opLocalGet, opLocalSet, opI32 = 0x0e, 0x20, 0x21, 0x41
	opEmpty                                  = 0x40
)

// section is a section of a module.
func section(id byte, content []byte) []byte {
	return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
}

// generated is a module with n functions () -> i32 of the same code; the first is easel_invoke.
func generated(n, locals int, code []byte) []byte {
	count := binary.AppendUvarint(nil, uint64(n))
	body := []byte{0}
	if locals > 0 {
		body = append(binary.AppendUvarint([]byte{1}, uint64(locals)), 0x7f)
	}
	body = append(append(body, code...), opI32, 0, opEnd)
	body = append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	module := []byte("\x00asm\x01\x00\x00\x00")
	module = append(module, section(1, []byte{1, 0x60, 0, 1, 0x7f})...)
	module = append(module, section(3, append(bytes.Clone(count), make([]byte, n)...))...)
	module = append(module, section(7, append([]byte("\x01\x0ceasel_invoke"), 0, 0))...)
	return append(module, section(10, append(count, bytes.Repeat(body, n)...))...)
}

func nested(op byte, n int) []byte {
	return append(bytes.Repeat([]byte{op, opEmpty}, n), bytes.Repeat([]byte{opEnd}, n)...)
}

// branches is a block with a table of n branches.
func branches(n int) []byte {
	code := binary.AppendUvarint([]byte{opBlock, opEmpty, opI32, 0, opBrTable}, uint64(n))
	return append(append(code, make([]byte, n+1)...), opEnd)
}

var conditional = []byte{opLocalGet, 0, opIf, opEmpty, opI32, 1, opLocalSet, 1, opEnd}

// Code that takes compilers more than linear time is refused before it is compiled.
func TestSuperlinearCodeIsRefused(t *testing.T) {
	h := newHost(t, Config{})
	for name, module := range map[string][]byte{
		"nested loops":    generated(1, 0, nested(opLoop, 12_000)),
		"nested blocks":   generated(1, 0, nested(opBlock, 40_000)),
		"ifs":             generated(1, 1000, bytes.Repeat(conditional, 32_000)),
		"branches":        generated(1, 0, branches(1_000_000)),
		"many branches":   generated(32, 0, branches(20_000)),
		"large function":  generated(1, 0, bytes.Repeat([]byte{opI32, 0, opDrop}, 1<<20)),
		"custom sections": append(generated(1, 0, nil), bytes.Repeat([]byte{0, 2, 1, 'a'}, 3_000_000)...),
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
			generated(80, 100, bytes.Repeat(conditional, 20_000)),
			CompileLimits{CPU: time.Second},
			// a machine that gives it little of a processor ends it by the clock, at 1m0s
			contract.OverLimit, "compiling takes more than 1",
		},
		"memory": {
			generated(15, 0, branches(30_000)),
			CompileLimits{Memory: 32 << 20},
			contract.OverLimit, "compiling takes more than 32 MB of memory",
		},
		"wrong types": {
			generated(1, 0, []byte{0x42, 0, 0x6a, opDrop}),
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
	_, err := h.Load(t.Context(), pack(t, generated(1, 0, nil), nil), LoadOptions{Granted: contract.Everything()})
	require.NoError(t, err)
}
