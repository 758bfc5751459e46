package plugin

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// Two catalogs on one folder stand for a server and a command that runs at the same time.
func TestReload(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	server, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	command, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	reload := func(want bool) {
		t.Helper()
		changed, err := server.Reload(ctx)
		require.NoError(t, err)
		require.Equal(t, want, changed)
	}
	reload(false)
	_, err = command.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	reload(true)
	first, err := server.Get("sample@1")
	require.NoError(t, err)
	reload(false)

	_, err = command.Install(ctx, asking(t, "1.1.0", "a.example"), Local)
	require.NoError(t, err)
	reload(true)
	kept, err := server.Get("sample@1")
	require.NoError(t, err)
	require.Same(t, first, kept, "what waits for approval replaces nothing")
	require.NotNil(t, server.List()[0].Waiting)

	_, err = command.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	reload(true)
	second, err := server.Get("sample@1.1")
	require.NoError(t, err)
	require.Equal(t, []string{"a.example"}, second.Granted().HTTP.Hosts)
	_, err = first.Call(ctx, CallRequest{})
	require.ErrorIs(t, err, contract.Closed)

	_, err = command.Enable(ctx, "sample", "", &contract.Permissions{})
	require.NoError(t, err)
	reload(true)
	cut, err := server.Get("sample")
	require.NoError(t, err)
	require.Nil(t, cut.Granted().HTTP, "less is approved")

	_, err = command.Disable(ctx, "sample")
	require.NoError(t, err)
	reload(true)
	_, err = server.Get("sample")
	require.ErrorContains(t, err, "switched off")
	require.NoError(t, command.Remove(ctx, "sample", false))
	reload(true)
	_, err = server.Get("sample")
	require.ErrorContains(t, err, "not installed")
}

// A host starts, and follows its folder, without running installed plugins: one whose start never
// ends now is ended in its first call, and the other one works.
func TestOpenRunsNoPlugin(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	early := newHost(t, Config{Now: func() time.Time { return time.Unix(0, 0) }})
	command, err := OpenCatalog(ctx, early, dir, contract.Everything())
	require.NoError(t, err)
	install := func(name, start string) {
		wasm := wattest.Must(`(module (import "wasi_snapshot_preview1" "clock_time_get"
				(func $clock (param i32 i64 i32) (result i32)))
			(memory (export "memory") 1)
			(func (export "_initialize") i32.const 0 i64.const 0 i32.const 0 call $clock drop ` + start + `)
			(func (export "easel_invoke") (result i32) i32.const 0))`)
		_, err := command.Install(ctx, pack(t, wasm, map[string]any{"name": name}), Local)
		require.NoError(t, err)
	}
	install("waits", "loop $l i32.const 0 i64.load i64.eqz if else br $l end end")

	var started atomic.Bool
	late := newHost(t, Config{Now: func() time.Time { started.Store(true); return time.Unix(1, 0) }})
	server, err := OpenCatalog(ctx, late, dir, contract.Everything())
	require.NoError(t, err)
	install("works", "")
	changed, err := server.Reload(ctx)
	require.NoError(t, err)
	require.True(t, changed)
	require.False(t, started.Load(), "a plugin has started")

	waits, err := server.Get("waits@1")
	require.NoError(t, err)
	_, err = waits.Call(ctx, CallRequest{Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, contract.Timeout)
	works, err := server.Get("works@1")
	require.NoError(t, err)
	_, err = works.Call(ctx, CallRequest{})
	require.NoError(t, err)
}

func TestReloadKeepsWhatItHasWhenTheFolderIsBroken(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	c, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	_, err = c.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	require.NoError(t, disk.Replace(dir+"/"+stateFile, []byte("{")))
	_, err = c.Reload(ctx)
	require.ErrorContains(t, err, stateFile)
	_, err = c.Get("sample")
	require.NoError(t, err)
	_, err = OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.ErrorContains(t, err, stateFile)
}

func TestWatch(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	server, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	watching, stop := context.WithCancel(ctx)
	news, done := make(chan struct{}, 10), make(chan struct{})
	go func() {
		defer close(done)
		server.Watch(watching, time.Millisecond, func() { news <- struct{}{} })
	}()
	command, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	_, err = command.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	<-news
	_, err = server.Get("sample@1")
	require.NoError(t, err)
	stop()
	<-done
}

// lines receives the lines of a log, and drops those that are not read.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// A state that could not be read for a moment is read again, although its file has not changed.
func TestWatchReadsAgainAfterAnError(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	command, err := OpenCatalog(ctx, newHost(t, Config{}), dir, contract.Everything())
	require.NoError(t, err)
	_, err = command.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	log := make(lines, 100)
	host := newHost(t, Config{Log: slog.New(slog.NewTextHandler(log, nil))})
	server, err := OpenCatalog(ctx, host, dir, contract.Everything())
	require.NoError(t, err)
	require.NoError(t, command.Remove(ctx, "sample", false))

	file := filepath.Join(dir, stateFile)
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	at := time.Now().Add(-time.Minute)
	write := func(text []byte) {
		require.NoError(t, os.WriteFile(file, text, 0o600))
		require.NoError(t, os.Chtimes(file, at, at))
	}
	write(bytes.Repeat([]byte("x"), len(good)))
	watching, stop := context.WithCancel(ctx)
	news, done := make(chan struct{}, 10), make(chan struct{})
	go func() {
		defer close(done)
		server.Watch(watching, time.Millisecond, func() { news <- struct{}{} })
	}()
	for failed := false; !failed; {
		select {
		case line := <-log:
			failed = strings.Contains(line, "plugins were not read again")
		case <-time.After(patience):
			t.Fatal("the broken state is never read")
		}
	}
	write(good)
	select {
	case <-news:
	case <-time.After(patience):
		t.Error("the change is never read")
	}
	stop()
	<-done
}
