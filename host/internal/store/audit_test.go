package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// act makes a change in a tenant with an entry.
func act(ctx context.Context, s *Store, tenant, action string) error {
	ctx = WithAudit(ctx, AuditEntry{Tenant: tenant, User: "ann", Action: action, Address: "127.0.0.1"})
	return s.Secrets.Put(ctx, tenant, action, []byte("x"), nil)
}

func TestAuditChain(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			checkAuditChain(t, openTest(t, cfg), filepath.Join(cfg.Dir, "secret.key"))
		})
	}
}

func checkAuditChain(t *testing.T, s *Store, keyFile string) {
	ctx := t.Context()
	var wait sync.WaitGroup
	errs := make([]error, 40)
	for i := range errs {
		wait.Go(func() { errs[i] = act(ctx, s, "t", fmt.Sprintf("act%d", i)) })
	}
	wait.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, act(ctx, s, "u", "other"))
	list, err := s.Audit.List(ctx, AuditFilter{Tenant: "t", Limit: 100})
	require.NoError(t, err)
	require.Len(t, list, 40)
	require.EqualValues(t, 40, list[0].Seq)
	page, err := s.Audit.List(ctx, AuditFilter{Tenant: "t", Before: 11, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, list[30:33], page)
	one, err := s.Audit.List(ctx, AuditFilter{Tenant: "t", Action: "act7", Limit: 100})
	require.NoError(t, err)
	require.Len(t, one, 1)
	check, err := s.Audit.Check(ctx, "t")
	require.NoError(t, err)
	require.Equal(t, AuditCheck{Entries: 40, Hash: list[0].Hash}, check)
	empty, err := s.Audit.Check(ctx, "none")
	require.NoError(t, err)
	require.Zero(t, empty.Broken)

	for text, broken := range map[string]int64{
		`UPDATE audit SET user_id = 'bob' WHERE tenant_id = 't' AND seq = 7`: 7,
		`DELETE FROM audit WHERE tenant_id = 't' AND seq = 9`:                9,
		`DELETE FROM audit WHERE tenant_id = 't' AND seq > 38`:               39,
		`DELETE FROM audit WHERE tenant_id = 't'`:                            1,
		`DELETE FROM audit_heads WHERE tenant_id = 't'`:                      1,
	} {
		var dump bytes.Buffer
		require.NoError(t, s.Dump(ctx, &dump))
		copied := openTest(t, Config{Dir: t.TempDir(), KeyFile: keyFile})
		require.NoError(t, copied.Load(ctx, &dump))
		_, err := copied.commit.exec(ctx, text)
		require.NoError(t, err)
		check, err := copied.Audit.Check(ctx, "t")
		require.NoError(t, err)
		require.Equal(t, broken, check.Broken, text)
	}
}

// An entry is written in the commit of its act, and with the first one only.
func TestAuditIsWrittenWithTheAct(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		count := func() int {
			list, err := s.Audit.List(t.Context(), AuditFilter{Tenant: "t", Limit: 100})
			require.NoError(t, err)
			return len(list)
		}
		ctx := WithAudit(t.Context(), AuditEntry{Tenant: "t", Action: "x"})
		require.ErrorIs(t, s.Secrets.Delete(ctx, "t", "nothing"), ErrNotFound)
		require.Zero(t, count(), "what failed has changed nothing")
		require.NoError(t, s.Secrets.Put(ctx, "t", "a", []byte("x"), nil))
		require.NoError(t, s.Secrets.Put(ctx, "t", "b", []byte("x"), nil))
		require.NoError(t, s.Audit.FinishAudit(ctx))
		require.Equal(t, 1, count())
		require.NoError(t, s.Audit.FinishAudit(WithAudit(t.Context(), AuditEntry{Tenant: "t", Action: "y"})))
		require.Equal(t, 2, count())
		require.NoError(t, s.Secrets.Put(t.Context(), "t", "c", []byte("x"), nil))
		require.Equal(t, 2, count(), "the host itself")
	})
}

func TestAuditExpires(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openTest(t, Config{Dir: t.TempDir(), Now: func() time.Time { return now }})
	for range 10 {
		require.NoError(t, act(t.Context(), s, "t", "old"))
	}
	now = now.Add(AuditKept + time.Hour)
	for range auditPrune {
		require.NoError(t, act(t.Context(), s, "t", "new"))
	}
	list, err := s.Audit.List(t.Context(), AuditFilter{Tenant: "t", Limit: 1000})
	require.NoError(t, err)
	require.Len(t, list, auditPrune)
	check, err := s.Audit.Check(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, AuditCheck{Entries: auditPrune, Hash: list[0].Hash}, check)
}

// A clock that was wrong once takes no entries with it that are not old.
func TestAuditOutlivesAWrongClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openTest(t, Config{Dir: t.TempDir(), Now: func() time.Time { return now }})
	for range auditPrune - 2 {
		require.NoError(t, act(t.Context(), s, "t", "right"))
	}
	now = now.Add(-2 * AuditKept)
	require.NoError(t, act(t.Context(), s, "t", "wrong"))
	now = now.Add(2 * AuditKept)
	require.NoError(t, act(t.Context(), s, "t", "last"))
	check, err := s.Audit.Check(t.Context(), "t")
	require.NoError(t, err)
	require.EqualValues(t, auditPrune, check.Entries)
}
