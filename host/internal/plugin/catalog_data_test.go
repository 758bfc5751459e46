package plugin

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// signer makes versions of the plugin sample that one key signs.
func signer(t *testing.T) (sign func(version string, kv int) []byte) {
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return func(version string, kv int) []byte {
		wasm, err := Sign(unsigned(t, version, kv), "acme", key)
		require.NoError(t, err)
		return wasm
	}
}

func unsigned(t *testing.T, version string, kv int) []byte {
	return pack(t, wattest.Must(echo), map[string]any{
		"version": version, "permissions": map[string]any{"kv": map[string]any{"bytes": kv, "reason": "r"}},
	})
}

// A file that another key signed, or none, is another plugin of the same name: nothing that was
// approved for the one before holds for it, and it sees none of its data.
func TestAnotherSignerInheritsNothing(t *testing.T) {
	mine, theirs := signer(t), signer(t)
	for name, c := range map[string]struct{ first, second []byte }{
		"another key":  {mine("1.0.0", 10), theirs("1.1.0", 10)},
		"no signature": {mine("1.0.0", 10), unsigned(t, "1.1.0", 10)},
		"a signature":  {unsigned(t, "1.0.0", 10), mine("1.1.0", 10)},
	} {
		t.Run(name, func(t *testing.T) {
			c1, err := OpenCatalog(t.Context(), newHost(t, Config{}), t.TempDir(), contract.Everything())
			require.NoError(t, err)
			everything := contract.Everything()
			_, err = c1.InstallApproved(t.Context(), c.first, Local, everything)
			require.NoError(t, err)
			before, err := c1.Get("sample")
			require.NoError(t, err)

			e, err := c1.InstallApproved(t.Context(), c.second, Local, everything)
			require.NoError(t, err)
			require.Equal(t, "1.0.0", e.Active.Version, "it waits, whatever was allowed beforehand")
			require.Equal(t, []string{"kv of 10 bytes: r"}, e.Waiting.Asks)
			require.Equal(t, before.Signer(), *e.Waiting.Replaces)

			listed := e
			e, err = c1.Enable(t.Context(), "sample", "", nil)
			require.ErrorIs(t, err, contract.NeedsApproval, "a name alone never changes the signer")
			require.ErrorContains(t, err, "by another key")
			require.ErrorContains(t, err, "`easel plugin enable sample --file "+listed.Waiting.Digest[:12]+"`")
			require.Equal(t, listed, c1.List()[0])
			_, err = c1.Disable(t.Context(), "sample")
			require.NoError(t, err)
			_, err = c1.Enable(t.Context(), "sample", "", &everything)
			require.ErrorIs(t, err, contract.NeedsApproval, "nor when the plugin is off")

			e, err = c1.Enable(t.Context(), "sample", listed.Waiting.Digest[:12], nil)
			require.NoError(t, err)
			require.Equal(t, "1.1.0", e.Active.Version)
			require.Nil(t, e.Active.Replaces)
			after, err := c1.Get("sample")
			require.NoError(t, err)
			require.NotEqual(t, before.Owner(), after.Owner())

			e, err = c1.Rollback(t.Context(), "sample")
			require.NoError(t, err)
			require.Equal(t, "1.1.0", e.Active.Version, "the way back changes the signer too")
			require.Equal(t, after.Signer(), *e.Waiting.Replaces)
			_, err = c1.Enable(t.Context(), "sample", "", nil)
			require.ErrorIs(t, err, contract.NeedsApproval)
			_, err = c1.Enable(t.Context(), "sample", e.Waiting.Digest[:12], nil)
			require.NoError(t, err)
			back, err := c1.Get("sample")
			require.NoError(t, err)
			require.Equal(t, before.Owner(), back.Owner())
		})
	}
	t.Run("the same key", func(t *testing.T) {
		c, err := OpenCatalog(t.Context(), newHost(t, Config{}), t.TempDir(), contract.Everything())
		require.NoError(t, err)
		_, err = c.InstallApproved(t.Context(), mine("1.0.0", 10), Local, contract.Everything())
		require.NoError(t, err)
		e, err := c.Install(t.Context(), mine("1.1.0", 10), Local)
		require.NoError(t, err)
		require.Equal(t, "1.1.0", e.Active.Version)
	})
}

// A version that is not approved yet is not replaced by files of another signer under its name.
func TestEnableKeepsTheSignerThatWaited(t *testing.T) {
	mine, theirs := signer(t), signer(t)
	c, err := OpenCatalog(t.Context(), newHost(t, Config{}), t.TempDir(), contract.Everything())
	require.NoError(t, err)
	first, err := c.Install(t.Context(), mine("1.0.0", 10), Local)
	require.NoError(t, err)
	require.Nil(t, first.Waiting.Replaces)
	for _, wasm := range [][]byte{theirs("1.0.1", 10), theirs("1.0.2", 10), pack(t, wattest.Must(echo), nil)} {
		e, err := c.Install(t.Context(), wasm, Local)
		require.NoError(t, err)
		require.Nil(t, e.Active)
		require.Equal(t, first.Waiting.Signer, *e.Waiting.Replaces)
		_, err = c.Enable(t.Context(), "sample", "", nil)
		require.ErrorIs(t, err, contract.NeedsApproval)
		_, err = c.Get("sample")
		require.ErrorContains(t, err, "easel plugin enable sample --file "+e.Waiting.Digest[:12])
	}
	_, err = c.Install(t.Context(), mine("1.0.3", 10), Local)
	require.NoError(t, err)
	e, err := c.Enable(t.Context(), "sample", "", nil)
	require.NoError(t, err)
	require.Equal(t, first.Waiting.Signer, e.Active.Signer)
}

// What is approved is the file that was looked at.
func TestEnableApprovesOneFile(t *testing.T) {
	c, err := OpenCatalog(t.Context(), newHost(t, Config{}), t.TempDir(), contract.Everything())
	require.NoError(t, err)
	seen, err := c.Install(t.Context(), unsigned(t, "1.0.0", 10), Local)
	require.NoError(t, err)
	_, err = c.Install(t.Context(), unsigned(t, "1.0.1", 1<<40), Local)
	require.NoError(t, err)
	_, err = c.Enable(t.Context(), "sample", seen.Waiting.Digest[:12], nil)
	require.ErrorIs(t, err, contract.NeedsApproval)
	require.ErrorContains(t, err, "has been installed since")
	require.Nil(t, c.List()[0].Active)
}

// The data of a removed plugin are deleted once; a plugin that is installed again before the next
// deletion keeps its data.
func TestDataOfRemovedPlugins(t *testing.T) {
	ctx, dir, h := t.Context(), t.TempDir(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	install := func(wasm []byte) {
		_, err := c.InstallApproved(ctx, wasm, Local, contract.Everything())
		require.NoError(t, err)
	}
	var dropped []string
	failing := errors.New("the records cannot be reached")
	drop := func(_ context.Context, owner string) error {
		if failing != nil {
			return failing
		}
		dropped = append(dropped, owner)
		return nil
	}
	require.NoError(t, c.ForgetData(ctx, drop))

	install(unsigned(t, "1.0.0", 10))
	require.NoError(t, c.Remove(ctx, "sample", true))
	failing = nil
	require.NoError(t, c.ForgetData(ctx, drop))
	require.Empty(t, dropped, "the data were to be kept")

	install(unsigned(t, "1.0.0", 10))
	require.NoError(t, c.Remove(ctx, "sample", false))
	require.Empty(t, c.List())
	_, err = c.Get("sample")
	require.ErrorIs(t, err, contract.NotFound)
	require.ErrorIs(t, c.Remove(ctx, "sample", false), contract.NotFound)
	failing = errors.New("the records cannot be reached")
	require.ErrorIs(t, c.ForgetData(ctx, drop), failing)

	install(signer(t)("1.0.0", 10))
	again, err := OpenCatalog(ctx, h, dir, contract.Everything())
	require.NoError(t, err)
	failing = nil
	require.NoError(t, again.ForgetData(ctx, drop))
	require.Equal(t, []string{"sample"}, dropped, "not what the signed plugin of that name keeps")
	require.NoError(t, again.ForgetData(ctx, drop))
	require.Len(t, dropped, 1)
	require.Equal(t, "1.0.0", again.List()[0].Active.Version)
}
