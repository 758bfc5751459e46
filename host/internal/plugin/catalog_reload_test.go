package plugin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Two catalogs on one folder stand for a server and the command line beside it.
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
