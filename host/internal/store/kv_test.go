package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) *string { return &s }

func TestKV(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		kv := s.KV("t", "plugin a")
		_, err := kv.Get(ctx, "k")
		require.ErrorIs(t, err, ErrNotFound)
		for _, key := range []string{"b", "a/1", "a/2", "ab", "ä", "a\xff", ""} {
			require.NoError(t, kv.Set(ctx, key, text("v "+key), 1000))
		}
		v, err := kv.Get(ctx, "a\xff")
		require.NoError(t, err)
		require.Equal(t, "v a\xff", v, "any bytes")
		for prefix, want := range map[string][]string{
			"": {"", "a/1", "a/2", "ab", "a\xff", "b", "ä"}, "a/": {"a/1", "a/2"}, "a": {"a/1", "a/2", "ab", "a\xff"}, "x": nil, "a\xff": {"a\xff"},
		} {
			keys, err := kv.Keys(ctx, prefix)
			require.NoError(t, err)
			require.Equal(t, want, keys, "%q", prefix)
		}
		require.NoError(t, kv.Set(ctx, "b", nil, 0), "removing needs no quota")
		require.NoError(t, kv.Set(ctx, "b", nil, 0))
		_, err = kv.Get(ctx, "b")
		require.ErrorIs(t, err, ErrNotFound)
		for _, other := range []*KV{s.KV("t", "plugin b"), s.KV("u", "plugin a")} {
			keys, err := other.Keys(ctx, "")
			require.NoError(t, err)
			require.Empty(t, keys, "nothing is shared between owners or tenants")
		}
		for _, kept := range []*KV{s.KV("u", "plugin a"), s.KV("t", "plugin b")} {
			require.NoError(t, kept.Set(ctx, "k", text("v"), 1000))
		}
		require.NoError(t, s.DeleteKV(ctx, "plugin a"))
		for kept, want := range map[*KV][]string{kv: nil, s.KV("u", "plugin a"): nil, s.KV("t", "plugin b"): {"k"}} {
			keys, err := kept.Keys(ctx, "")
			require.NoError(t, err)
			require.Equal(t, want, keys)
		}
	})
}

func TestKVQuota(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		kv := s.KV("t", "p")
		require.NoError(t, kv.Set(ctx, "k", text("12345"), 6))
		require.NoError(t, kv.Set(ctx, "k", text("54321"), 6), "a replaced value frees its space")
		require.ErrorIs(t, kv.Set(ctx, "k", text("123456"), 6), ErrQuota)
		require.ErrorIs(t, kv.Set(ctx, "l", text(""), 6), ErrQuota)
		v, err := kv.Get(ctx, "k")
		require.NoError(t, err)
		require.Equal(t, "54321", v)

		// Exactly ten of a hundred concurrent writers fit into the quota.
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { _ = s.KV("t", "many").Set(ctx, fmt.Sprintf("%02d", i), text("12345678"), 100) })
		}
		all.Wait()
		keys, err := s.KV("t", "many").Keys(ctx, "")
		require.NoError(t, err)
		require.Len(t, keys, 10)
	})
}

// Values are dumped, and deleted with their tenant.
func TestKVIsDumpedAndDeleted(t *testing.T) {
	ctx := t.Context()
	cfg := engineConfig(t, "sqlite")
	from := openTest(t, cfg)
	_, err := from.Tenants.Put(ctx, Tenant{ID: "t", Name: "t"})
	require.NoError(t, err)
	require.NoError(t, from.KV("t", "p").Set(ctx, "k", text("v"), 10))
	var dump bytes.Buffer
	require.NoError(t, from.Dump(ctx, &dump))
	to := engineConfig(t, "sqlite")
	to.KeyFile = filepath.Join(cfg.Dir, "secret.key")
	s := openTest(t, to)
	require.NoError(t, s.Load(ctx, &dump))
	v, err := s.KV("t", "p").Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "v", v)
	require.NoError(t, s.Tenants.Delete(ctx, "t"))
	_, err = s.KV("t", "p").Get(ctx, "k")
	require.ErrorIs(t, err, ErrNotFound)
}
