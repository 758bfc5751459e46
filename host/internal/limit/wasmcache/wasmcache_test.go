package wasmcache_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/easel-canvas/easel/host/internal/limit/wasmcache"
	"github.com/easel-canvas/easel/plugins/wattest"
)

var module = wattest.Must(`(module (func (export "answer") (result i32) i32.const 42))`)

// answer compiles the module as another process would: with a separate cache on the folder.
func answer(t *testing.T, dir string, log *slog.Logger) int {
	t.Helper()
	return answerOf(t, dir, log, module)
}

func answerOf(t *testing.T, dir string, log *slog.Logger, code []byte) int {
	t.Helper()
	d, cache, err := wasmcache.Open(dir, log)
	require.NoError(t, err)
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfig().WithCompilationCache(cache))
	defer func() { require.NoError(t, cache.Close(t.Context())) }()
	var compiled wazero.CompiledModule
	require.NoError(t, d.Compile(wasmcache.KeyOf(code), func() (err error) {
		compiled, err = r.CompileModule(t.Context(), code)
		return err
	}))
	instance, err := r.InstantiateModule(t.Context(), compiled, wazero.NewModuleConfig())
	require.NoError(t, err)
	out, err := instance.ExportedFunction("answer").Call(t.Context())
	require.NoError(t, err)
	return int(out[0])
}

// entries returns the paths of compiled modules.
func entries(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	for _, path := range all {
		if !strings.Contains(filepath.Base(path), ".") {
			out = append(out, path)
		}
	}
	return out
}

func TestDamagedEntryIsCompiledAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(whole []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"cut", func(b []byte) []byte { return b[:len(b)/2] }},
		{"first byte", func(b []byte) []byte { b[0] ^= 1; return b }},
		{"number of functions", func(b []byte) []byte { // 4 bytes behind "WAZEVO", the version's length and the version
			at := 7 + int(b[6])
			copy(b[at:], "\xff\xff\xff\x7f")
			return b
		}},
		{"offset of the function", func(b []byte) []byte { b[7+int(b[6])+4] ^= 0x10; return b }},
		{"machine code", func(b []byte) []byte { b[len(b)*3/4] ^= 1; return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, lines := t.TempDir(), &bytes.Buffer{}
			log := slog.New(slog.NewTextHandler(lines, nil))
			require.Equal(t, 42, answer(t, dir, log))
			files := entries(t, dir)
			require.Len(t, files, 1)
			whole, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(files[0], c.damage(bytes.Clone(whole)), 0o600))

			require.Equal(t, 42, answer(t, dir, log))
			require.Equal(t, 1, strings.Count(lines.String(), "\n"), lines)
			require.Contains(t, lines.String(), "damaged compiled code removed")
			require.Contains(t, lines.String(), files[0])
			mended, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.Equal(t, whole, mended)
			require.Equal(t, 42, answer(t, dir, log))
			require.Equal(t, 1, strings.Count(lines.String(), "\n"), "it is whole now")
		})
	}
}

func TestEntryWithoutChecksumIsCompiledAgain(t *testing.T) {
	dir, lines := t.TempDir(), &bytes.Buffer{}
	log := slog.New(slog.NewTextHandler(lines, nil))
	require.Equal(t, 42, answer(t, dir, log))
	file := entries(t, dir)[0]
	require.NoError(t, os.Remove(file+".sha256"))
	require.NoError(t, os.WriteFile(file, []byte("left by a process that died"), 0o600))
	require.Equal(t, 42, answer(t, dir, log))
	require.FileExists(t, file+".sha256")
	require.Empty(t, lines.String(), "a process may die at any time")
}

func TestNoFolder(t *testing.T) { require.Equal(t, 42, answer(t, "", nil)) }
