package store

import (
	"bytes"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokenQuotas(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		one, err := s.Tenants.Put(ctx, Tenant{Name: "one", TokensPerDay: 500})
		require.NoError(t, err)
		k, text, err := s.Keys.Create(ctx, Key{Tenant: one.ID, Rate: 60, TokensPerDay: 100}, "")
		require.NoError(t, err)
		found, err := s.Keys.ByText(ctx, text)
		require.NoError(t, err)
		require.Equal(t, k, found)
		state := func(tenant, caller string) TokenState {
			v, err := s.Tokens.State(ctx, tenant, caller, 7)
			require.NoError(t, err)
			return v
		}
		require.Equal(t, TokenState{Quota: 100}, state(one.ID, k.Caller()))
		require.Equal(t, TokenState{Quota: 500}, state(one.ID, ""))
		require.Zero(t, state("two", k.Caller()), "keys of other tenants are not found")
		require.Zero(t, state(one.ID, "user u"))

		same, err := s.Tenants.Put(ctx, Tenant{ID: one.ID, Name: "renamed"})
		require.NoError(t, err)
		require.EqualValues(t, 500, same.TokensPerDay, "renaming does not change the quota")
		more := int64(MostTokens)
		k, err = s.Keys.SetLimits(ctx, one.ID, k.ID, nil, &more)
		require.NoError(t, err)
		require.Equal(t, []int64{60, MostTokens}, []int64{k.Rate, k.TokensPerDay})
		rate := int64(5)
		k, err = s.Keys.SetLimits(ctx, one.ID, k.ID, &rate, nil)
		require.NoError(t, err)
		require.Equal(t, []int64{5, MostTokens}, []int64{k.Rate, k.TokensPerDay})
		_, err = s.Keys.SetLimits(ctx, "two", k.ID, &rate, nil)
		require.ErrorIs(t, err, ErrNotFound)
		one, err = s.Tenants.SetTokens(ctx, one.ID, 0)
		require.NoError(t, err)
		require.Equal(t, "renamed", one.Name)
		_, err = s.Tenants.SetTokens(ctx, "missing", 1)
		require.ErrorIs(t, err, ErrNotFound)
		for _, bad := range []int64{-1, MostTokens + 1} {
			_, err = s.Tenants.SetTokens(ctx, one.ID, bad)
			require.ErrorIs(t, err, ErrInvalid)
			_, err = s.Keys.SetLimits(ctx, one.ID, k.ID, nil, &bad)
			require.ErrorIs(t, err, ErrInvalid)
			_, err = s.Tenants.Put(ctx, Tenant{TokensPerDay: bad})
			require.ErrorIs(t, err, ErrInvalid)
			_, _, err = s.Keys.Create(ctx, Key{Tenant: one.ID, TokensPerDay: bad}, "")
			require.ErrorIs(t, err, ErrInvalid)
			_, err = s.Tokens.Add(ctx, []TokenUse{{Tenant: "t", Day: 7, Tokens: bad}})
			require.ErrorIs(t, err, ErrInvalid)
		}
	})
}

func TestUsedTokens(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		totals, err := s.Tokens.Add(ctx, []TokenUse{{"b", "", 7, 10}, {"a", "key k", 7, 3}, {"a", "", 7, 4}})
		require.NoError(t, err)
		require.Equal(t, []int64{10, 3, 4}, totals)
		totals, err = s.Tokens.Add(ctx, []TokenUse{{"a", "", 7, 6}, {"a", "", 8, 1}, {"b", "", 7, MostTokens}})
		require.NoError(t, err)
		require.Equal(t, []int64{10, 1, MostTokens}, totals, "days are apart, and a count stays within its bounds")

		callers, err := s.Tokens.ByCaller(ctx, "a", 7)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"": 10, "key k": 3}, callers)
		tenants, err := s.Tokens.ByTenant(ctx, 7)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"a": 10, "b": MostTokens}, tenants)
		require.NoError(t, s.Tokens.Forget(ctx, 8))
		tenants, err = s.Tokens.ByTenant(ctx, 7)
		require.NoError(t, err)
		require.Empty(t, tenants)
		callers, err = s.Tokens.ByCaller(ctx, "a", 8)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"": 1}, callers)
	})
}

// Concurrent writers of the same rows, in any order, neither lose tokens nor deadlock.
func TestConcurrentUsedTokens(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		const writers, times = 8, 20
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				uses := []TokenUse{{"a", "", 1, 1}, {"b", "", 1, 1}, {"c", "", 1, 1}}
				uses[0], uses[i%3] = uses[i%3], uses[0]
				for range times {
					if _, err := s.Tokens.Add(t.Context(), uses); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		got, err := s.Tokens.ByTenant(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"a": writers * times, "b": writers * times, "c": writers * times}, got)
	})
}

func TestDumpHasQuotas(t *testing.T) {
	ctx := t.Context()
	cfg := engineConfig(t, "sqlite")
	from := openTest(t, cfg)
	tenant, err := from.Tenants.Put(ctx, Tenant{Name: "one", TokensPerDay: 9})
	require.NoError(t, err)
	_, err = from.Tokens.Add(ctx, []TokenUse{{tenant.ID, "", 7, 5}})
	require.NoError(t, err)
	var dump bytes.Buffer
	require.NoError(t, from.Dump(ctx, &dump))
	to := openTest(t, Config{Dir: t.TempDir(), KeyFile: filepath.Join(cfg.Dir, "secret.key")})
	require.NoError(t, to.Load(ctx, &dump))
	state, err := to.Tokens.State(ctx, tenant.ID, "", 7)
	require.NoError(t, err)
	require.Equal(t, TokenState{Quota: 9, Used: 5}, state)
}
