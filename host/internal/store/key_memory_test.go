package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRemovedKeyIsRejected removes used keys in every possible way.
func TestRemovedKeyIsRejected(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		tenant, err := s.Tenants.Put(ctx, Tenant{Name: "t"})
		require.NoError(t, err)
		user, err := s.Users.Create(ctx, User{Email: "a@b.c"}, "x")
		require.NoError(t, err)
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: tenant.ID, User: user.ID, Role: "normal"}))
		for name, remove := range map[string]func(text string) error{
			"by its text":     func(text string) error { return s.Keys.Delete(ctx, tenant.ID, text) },
			"with its member": func(string) error { return s.Members.Delete(ctx, tenant.ID, user.ID) },
			"in a larger write": func(string) error {
				return s.write(ctx, "test", func(ctx context.Context, q querier) error {
					_, err := q.ExecContext(ctx, `DELETE FROM keys`)
					return err
				})
			},
		} {
			_, text, err := s.Keys.Create(ctx, Key{Tenant: tenant.ID, User: user.ID, Scopes: []string{"run"}}, "")
			require.NoError(t, err)
			for range 2 {
				k, err := s.Keys.ByText(ctx, text)
				require.NoError(t, err, name)
				require.Equal(t, []string{"run"}, k.Scopes)
				k.Scopes[0] = "changed by the caller"
			}
			require.NoError(t, remove(text), name)
			_, err = s.Keys.ByText(ctx, text)
			require.ErrorIs(t, err, ErrNotFound, name)
		}
		_, text, err := s.Keys.Create(ctx, Key{Tenant: tenant.ID}, "")
		require.NoError(t, err)
		_, err = s.Keys.ByText(ctx, text)
		require.NoError(t, err)
		require.NoError(t, s.Tenants.Delete(ctx, tenant.ID))
		_, err = s.Keys.ByText(ctx, text)
		require.ErrorIs(t, err, ErrNotFound)
	})
}

// TestKeysAreCached removes a key behind the store's back, to observe that it is cached and
// when the cache is cleared.
func TestKeysAreCached(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Config{Dir: dir})
	ctx := t.Context()
	_, text, err := s.Keys.Create(ctx, Key{Tenant: "t"}, "")
	require.NoError(t, err)
	_, err = s.Keys.ByText(ctx, text)
	require.NoError(t, err)
	db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(dir, "easel.db"), "busy_timeout(10000)"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(ctx, `DELETE FROM keys`)
	require.NoError(t, err)
	require.NoError(t, s.Runs.Start(ctx, Run{ID: "r", Tenant: "t"}))
	_, err = s.Keys.ByText(ctx, text)
	require.NoError(t, err, "a run changes no key")
	_, _, err = s.Keys.Create(ctx, Key{Tenant: "t"}, "")
	require.NoError(t, err)
	_, err = s.Keys.ByText(ctx, text)
	require.ErrorIs(t, err, ErrNotFound)
}

// TestConcurrentKeyRemoval uses keys concurrently with their removal.
func TestConcurrentKeyRemoval(t *testing.T) {
	s := openTest(t, Config{Dir: t.TempDir(), Sync: SyncInterval})
	ctx := t.Context()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				_, text, err := s.Keys.Create(ctx, Key{Tenant: "t"}, "")
				require.NoError(t, err)
				var users sync.WaitGroup
				for range 3 {
					users.Go(func() {
						for range 20 {
							_, _ = s.Keys.ByText(ctx, text) // found or not
						}
					})
				}
				_, err = s.Keys.ByText(ctx, text)
				require.NoError(t, err)
				require.NoError(t, s.Keys.Delete(ctx, "t", text))
				_, err = s.Keys.ByText(ctx, text)
				require.ErrorIs(t, err, ErrNotFound)
				users.Wait()
				_, err = s.Keys.ByText(ctx, text)
				require.ErrorIs(t, err, ErrNotFound)
			}
		})
	}
	all.Wait()
}

func TestKeyMemoryDropsStaleKeys(t *testing.T) {
	m := &keyMemory{}
	_, _, age := m.get([]byte("a"))
	m.forget()
	m.put([]byte("a"), Key{ID: "read before"}, age)
	_, known, age := m.get([]byte("a"))
	require.False(t, known)
	for i := range 3 * mostKeys {
		m.put([]byte{byte(i), byte(i >> 8)}, Key{}, age)
	}
	require.LessOrEqual(t, len(m.byHash), mostKeys)
}
