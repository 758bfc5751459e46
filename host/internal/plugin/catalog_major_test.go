package plugin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Majors of a plugin serve canvases side by side, with the same approval and data.
func TestMajorsAreInstalledSideBySide(t *testing.T) {
	ctx, dir, h := context.Background(), t.TempDir(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	install := func(version string, hosts ...string) Entry {
		t.Helper()
		e, err := c.Install(ctx, asking(t, version, hosts...), Local)
		require.NoError(t, err)
		return e
	}
	install("1.0.0", "a.example")
	_, err = c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	require.NotNil(t, install("2.0.0", "a.example").Active, "what was approved holds for the next major")
	e := install("10.0.0", "b.example")
	require.Nil(t, e.Active, "asking for more waits")

	for ref, want := range map[string]string{
		"sample@1": "1.0.0", "sample@2": "2.0.0", "sample@2.0.0": "2.0.0", "sample": "2.0.0",
	} {
		m, err := c.Get(ref)
		require.NoError(t, err, ref)
		require.Equal(t, want, m.Manifest().Version, ref)
	}
	_, err = c.Get("sample@10")
	require.ErrorIs(t, err, contract.NeedsApproval)
	_, err = c.Disable(ctx, "sample")
	require.ErrorContains(t, err, "several majors are installed; name one of sample@1, sample@2, sample@10")
	_, err = c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err, "the one that waits is meant")
	m, err := c.Get("sample")
	require.NoError(t, err)
	require.Equal(t, "10.0.0", m.Manifest().Version)
	_, err = c.Disable(ctx, "sample@10")
	require.NoError(t, err)

	again, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	require.Equal(t, c.List(), again.List(), "a restart changes nothing")
	require.Len(t, c.List(), 3)

	require.NoError(t, c.Remove(ctx, "sample@1", false))
	require.NoError(t, c.Remove(ctx, "sample@10", false))
	require.NoError(t, c.ForgetData(ctx, func(_ context.Context, owner string) error {
		t.Errorf("data of %s was deleted, which another major has", owner)
		return nil
	}))
	var forgotten []string
	require.NoError(t, c.Remove(ctx, "sample", false))
	require.NoError(t, c.ForgetData(ctx, func(_ context.Context, owner string) error {
		forgotten = append(forgotten, owner)
		return nil
	}))
	require.Equal(t, []string{"sample"}, forgotten)
}

// Another publisher's major under a known name waits and inherits nothing.
func TestMajorOfAnotherPublisherWaits(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(), contract.Everything())
	require.NoError(t, err)
	mine, theirs := signer(t), signer(t)
	_, err = c.Install(ctx, mine("1.0.0", 10), Local)
	require.NoError(t, err)
	e, err := c.Enable(ctx, "sample", "", nil)
	require.NoError(t, err)
	require.NotNil(t, e.Active)
	e, err = c.Install(ctx, theirs("2.0.0", 10), Local)
	require.NoError(t, err)
	require.Nil(t, e.Active)
	require.Equal(t, c.List()[0].Active.Signer, *e.Waiting.Replaces)
}

// A module that was replaced serves those who pinned it; one that was switched off does not.
func TestPinsKeepAReplacedModule(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(), contract.Everything())
	require.NoError(t, err)
	_, err = c.Install(ctx, asking(t, "1.0.0"), Local)
	require.NoError(t, err)
	first, err := c.Get("sample")
	require.NoError(t, err)
	require.True(t, first.Pin())
	_, err = c.Install(ctx, asking(t, "1.1.0"), Local)
	require.NoError(t, err)
	require.False(t, first.Pin(), "no new run begins with it")
	_, err = first.Call(ctx, CallRequest{})
	require.NoError(t, err)
	first.Unpin()
	_, err = first.Call(ctx, CallRequest{})
	require.ErrorIs(t, err, contract.Closed)

	second, err := c.Get("sample")
	require.NoError(t, err)
	require.True(t, second.Pin())
	_, err = c.Disable(ctx, "sample")
	require.NoError(t, err)
	require.False(t, second.Serves())
	_, err = second.Call(ctx, CallRequest{})
	require.ErrorIs(t, err, contract.Closed)
	second.Unpin()
}
