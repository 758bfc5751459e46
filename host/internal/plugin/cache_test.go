package plugin

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// A plugin whose compiled code is damaged on disk is compiled again; it is not switched off.
func TestDamagedCompiledCode(t *testing.T) {
	dir, lines := t.TempDir(), &bytes.Buffer{}
	wasm := pack(t, wattest.Must(`(module `+importAll+` (func (export "easel_invoke") (result i32) i32.const 0))`), nil)
	cache := filepath.Join(dir, "cache")
	load := func() error {
		h, err := New(t.Context(), Config{CacheDir: cache, Log: slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelWarn}))})
		require.NoError(t, err)
		defer func() { require.NoError(t, h.Close(context.Background())) }()
		h.cfg.Trust.Local = Off
		_, err = h.Load(t.Context(), wasm, LoadOptions{Granted: contract.Everything()})
		return err
	}
	require.NoError(t, load())
	files, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, []byte("damaged"), 0o600))
	}
	require.NoError(t, load())
	require.Equal(t, 1, strings.Count(lines.String(), "\n"), lines)
	require.NoError(t, load())
	require.Equal(t, 1, strings.Count(lines.String(), "\n"), "it is whole again")
}
