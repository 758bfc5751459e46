package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

func asking(t *testing.T, version string, hosts ...string) []byte {
	fields := map[string]any{"version": version}
	if len(hosts) > 0 {
		fields["permissions"] = map[string]any{"http": map[string]any{"hosts": hosts, "reason": "r"}}
	}
	return pack(t, wattest.Must(echo), fields)
}

func TestCatalogLifeOfAPlugin(t *testing.T) {
	ctx, dir, h := context.Background(), t.TempDir(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	_, err = c.Get("sample")
	require.ErrorIs(t, err, contract.NotFound)

	e, err := c.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	require.True(t, e.Enabled, "a plugin that asks for nothing is on at once")
	first, err := c.Get("sample@1")
	require.NoError(t, err)

	e, err = c.Install(ctx, asking(t, "1.1.0", "a.example"), Local)
	require.NoError(t, err)
	require.Equal(t, []string{"http to a.example, http method GET, http method HEAD: r"}, e.Waiting.Asks)
	same, err := c.Get("sample")
	require.NoError(t, err)
	require.Same(t, first, same, "the old version stays until somebody approves")

	e, err = c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	require.Nil(t, e.Waiting)
	require.Equal(t, "1.1.0", e.Active.Version)
	require.Equal(t, "1.0.0", e.Previous.Version)
	second, err := c.Get("sample@1.1")
	require.NoError(t, err)
	require.Equal(t, []string{"a.example"}, second.Granted().HTTP.Hosts)
	_, err = first.Call(ctx, CallRequest{})
	require.ErrorIs(t, err, contract.Closed)

	e, err = c.Install(ctx, asking(t, "1.2.0", "a.example"), Local)
	require.NoError(t, err)
	require.Nil(t, e.Waiting, "asking for the same needs no new approval")
	_, err = c.Get("sample@1.1")
	require.ErrorIs(t, err, contract.NotFound)
	require.ErrorContains(t, err, "installed is version 1.2.0")
	_, err = c.Get("sample@2")
	require.ErrorContains(t, err, "installed is version 1.2.0")

	again, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	require.Equal(t, c.List(), again.List(), "a restart changes nothing")

	e, err = c.Rollback(ctx, "sample")
	require.NoError(t, err)
	require.Equal(t, "1.1.0", e.Active.Version)
	_, err = c.Disable(ctx, "sample")
	require.NoError(t, err)
	_, err = c.Get("sample")
	require.ErrorContains(t, err, "easel plugin enable sample")
	e, err = c.Enable(ctx, "sample", "", &contract.Permissions{})
	require.NoError(t, err)
	require.Equal(t, []string{"http to a.example, http method GET, http method HEAD: r"}, e.Active.Asks,
		"the missing permissions are listed")
	m, err := c.Get("sample")
	require.NoError(t, err)
	require.Nil(t, m.Granted().HTTP, "a limit on enabling cuts what was approved")
	require.NoError(t, c.Remove(ctx, "sample", false))
	require.Empty(t, c.List())
	_, err = c.Disable(ctx, "sample")
	require.ErrorIs(t, err, contract.NotFound)
}

// TestCatalogGrantsAPartOfTheRequest approves a part: the next version does not
// request the refused part again, one that requests more does.
func TestCatalogGrantsAPartOfTheRequest(t *testing.T) {
	ctx, dir, h := context.Background(), t.TempDir(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	version := func(v string, kv int, hosts ...string) []byte {
		return pack(t, wattest.Must(echo), map[string]any{"version": v, "permissions": map[string]any{
			"http": map[string]any{"hosts": hosts, "methods": []string{"GET"}, "reason": "r"}, "kv": map[string]any{"bytes": kv, "reason": "r"},
		}})
	}
	e, err := c.Install(ctx, version("1.0.0", 10, "a.example"), Local)
	require.NoError(t, err)
	require.Equal(t, []string{"http to a.example, http method GET: r", "kv of 10 bytes: r"}, e.Waiting.Asks)
	part, err := contract.Allow([]string{"http"})
	require.NoError(t, err)
	e, err = c.Enable(ctx, "sample", "", &part)
	require.NoError(t, err)
	require.Equal(t, []string{"kv of 10 bytes: r"}, e.Active.Asks)
	m, err := c.Get("sample")
	require.NoError(t, err)
	require.NotNil(t, m.Granted().HTTP)
	require.Nil(t, m.Granted().KV)

	e, err = c.Install(ctx, version("1.1.0", 10, "a.example"), Local)
	require.NoError(t, err)
	require.Nil(t, e.Waiting, "what was refused is not asked for again")
	require.Equal(t, []string{"kv of 10 bytes: r"}, e.Active.Asks)

	e, err = c.Install(ctx, version("1.2.0", 10, "a.example", "b.example"), Local)
	require.NoError(t, err)
	require.Equal(t, []string{"http to b.example: r", "kv of 10 bytes: r"}, e.Waiting.Asks,
		"one that wants more waits, and asks for all it lacks")
	require.Equal(t, "1.1.0", e.Active.Version)

	again, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	require.Equal(t, c.List(), again.List())
	e, err = again.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	require.Empty(t, e.Active.Asks)
	m, err = again.Get("sample@1.2")
	require.NoError(t, err)
	require.Equal(t, int64(10), m.Granted().KV.Bytes)
}

// TestCatalogReplacesWhileACallRuns has a call in the old version while the new one is installed:
// new calls get the new one at once, the running one finishes, and then the old one is gone.
func TestCatalogReplacesWhileACallRuns(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(), contract.Everything())
	require.NoError(t, err)
	fields := func(version string) map[string]any {
		return map[string]any{"version": version, "permissions": map[string]any{"variables": map[string]any{"read": []string{"x"}, "reason": "r"}}}
	}
	_, err = c.Install(ctx, pack(t, wattest.Must(relay), fields("1.0.0")), Local)
	require.NoError(t, err)
	_, err = c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	old, err := c.Get("sample")
	require.NoError(t, err)
	b, done := blocking{make(chan struct{})}, make(chan error, 1)
	go func() {
		res, err := old.Call(ctx, CallRequest{Input: []byte(`{"op":"var.get","args":{"name":"x"}}`), Services: Services{Variables: b}})
		if err == nil && string(res.Output) != `{"ok":{"found":true,"value":1}}` {
			err = fmt.Errorf("got %s", res.Output)
		}
		done <- err
	}()
	<-b.c
	_, err = c.Install(ctx, pack(t, wattest.Must(says("new")), fields("1.1.0")), Local)
	require.NoError(t, err)
	now, err := c.Get("sample")
	require.NoError(t, err)
	res, err := now.Call(ctx, CallRequest{})
	require.NoError(t, err)
	require.Equal(t, "new", string(res.Output), "new calls get the new version while the old call runs")
	_, err = old.Call(ctx, CallRequest{})
	require.ErrorIs(t, err, contract.Closed)
	b.c <- struct{}{}
	require.NoError(t, <-done, "the running call finished in the old version")
	require.Eventually(t, func() bool { return h.Instances() == now.pool.idleCount() }, 2*time.Minute, 5*time.Millisecond, "the old version is freed")
}

func TestCatalogFailedInstallChangesNothing(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(), contract.Everything())
	require.NoError(t, err)
	_, err = c.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	before := c.List()
	_, err = c.Install(ctx, []byte("hello"), Local)
	require.ErrorIs(t, err, contract.Malformed)
	_, err = c.Install(ctx, asking(t, "1.1.0"), Remote)
	require.ErrorIs(t, err, contract.BadSignature)
	require.Equal(t, before, c.List())
}

func TestCatalogCeilingAppliesToAllTenants(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(),
		contract.Permissions{HTTP: &contract.HTTPPermission{Hosts: []string{"*.ok.example"}}})
	require.NoError(t, err)
	_, err = c.Install(ctx, asking(t, "1.0.0", "a.ok.example", "evil.example"), Local)
	require.NoError(t, err)
	_, err = c.Get("sample")
	require.ErrorIs(t, err, contract.NeedsApproval)
	_, err = c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	m, err := c.Get("sample")
	require.NoError(t, err)
	require.Equal(t, []string{"a.ok.example"}, m.Granted().HTTP.Hosts)
}

func TestCatalogDetectsAChangedFile(t *testing.T) {
	ctx, dir, h := context.Background(), t.TempDir(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	e, err := c.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Active.Digest+".wasm"), asking(t, "1.0.1"), 0o644))
	again, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	_, err = again.Get("sample")
	require.ErrorContains(t, err, "changed on disk")
}

func TestCatalogInstallsWhatIsApproved(t *testing.T) {
	ctx := context.Background()
	c, err := OpenCatalog(ctx, newHost(t, Config{}), t.TempDir(), contract.Everything())
	require.NoError(t, err)
	e, err := c.Install(ctx, asking(t, "1.0.0", "a.example"), Local)
	require.NoError(t, err)
	require.NotNil(t, e.Waiting)
	e, err = c.InstallApproved(ctx, asking(t, "1.1.0", "a.example", "b.example"), Local, contract.Everything())
	require.NoError(t, err)
	require.Nil(t, e.Waiting, "the version before was not decided about, and is none any more")
	require.Equal(t, "1.1.0", e.Active.Version)
	m, err := c.Get("sample")
	require.NoError(t, err)
	require.Equal(t, []string{"a.example", "b.example"}, m.Granted().HTTP.Hosts)
	e, err = c.InstallApproved(ctx, asking(t, "1.2.0", "c.example"), Local, contract.Permissions{})
	require.NoError(t, err)
	require.NotEmpty(t, e.Active.Asks, "it does without")
}
