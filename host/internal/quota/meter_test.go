package quota

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// onBoth runs test with an empty store of each engine.
func onBoth(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Run("sqlite", func(t *testing.T) { test(t, store.Config{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { test(t, store.Config{Dir: t.TempDir(), URL: servertest.NewSchema(t)}) })
}

// clock is a settable time source.
type clock struct{ at atomic.Int64 }

func newClock(text string) *clock {
	c := &clock{}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	c.at.Store(at.UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func newMeter(t *testing.T, cfg Config) *Meter {
	cfg.Log = runstest.Quiet
	m := New(cfg)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// refused requires that the account refuses and returns the refusal.
func refused(t *testing.T, a *Account) *UsedUp {
	t.Helper()
	var used *UsedUp
	err := a.Allow(t.Context())
	require.ErrorIs(t, err, ErrUsedUp)
	require.ErrorAs(t, err, &used)
	return used
}

func TestQuotasOfKeyAndTenant(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg store.Config) {
		ctx := t.Context()
		s := runstest.Records(t, cfg)
		tenant, err := s.Tenants.Put(ctx, store.Tenant{Name: "one", TokensPerDay: 100})
		require.NoError(t, err)
		key, _, err := s.Keys.Create(ctx, store.Key{Tenant: tenant.ID, TokensPerDay: 10}, "")
		require.NoError(t, err)
		c := newClock("2026-11-21T22:00:00Z")
		m := newMeter(t, Config{Store: s.Tokens, Now: c.now})
		a, other := m.Of(tenant.ID, key.Caller()), m.Of(tenant.ID, "user u")

		require.NoError(t, a.Allow(ctx))
		a.Spend(9)
		require.NoError(t, a.Allow(ctx), "one token is left")
		a.Spend(50)
		used := refused(t, a)
		require.Equal(t, &UsedUp{Quota: 10, Until: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), After: 2 * time.Hour},
			used)
		require.EqualError(t, used,
			"the caller's quota of 10 tokens for today is used up; it is renewed at 2026-11-22T00:00:00Z")

		require.NoError(t, other.Allow(ctx))
		other.Spend(41)
		used = refused(t, other)
		require.True(t, used.Tenant)
		require.EqualError(t, used,
			"the tenant's quota of 100 tokens for today is used up; it is renewed at 2026-11-22T00:00:00Z")
		refused(t, m.Of(tenant.ID, ""))
		require.NoError(t, m.Of("another", "user u").Allow(ctx))

		_, err = s.Tenants.SetTokens(ctx, tenant.ID, 101)
		require.NoError(t, err)
		c.advance(lookEvery)
		require.NoError(t, other.Allow(ctx), "a new quota applies within %s", lookEvery)
	})
}

func TestQuotaResetsDaily(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg store.Config) {
		ctx := t.Context()
		s := runstest.Records(t, cfg)
		c := newClock("2026-11-21T23:59:59Z")
		m := newMeter(t, Config{Store: s.Tokens, PerDay: 10, Now: c.now})
		a := m.Of("t", "key k")
		require.NoError(t, a.Allow(ctx))
		a.Spend(10)
		require.Equal(t, time.Second, refused(t, a).After)
		day := m.Today()
		c.advance(time.Second)
		require.Equal(t, day+1, m.Today())
		require.NoError(t, a.Allow(ctx))
		a.Spend(3)
		require.NoError(t, m.Flush())
		for at, want := range map[int64]int64{day: 10, day + 1: 3} {
			got, err := s.Tokens.ByCaller(ctx, "t", at)
			require.NoError(t, err)
			require.Equal(t, map[string]int64{"": want, "key k": want}, got)
		}
		c.advance(48 * time.Hour)
		m.tidy(0)
		got, err := s.Tokens.ByTenant(ctx, day)
		require.NoError(t, err)
		require.Empty(t, got, "days before yesterday are deleted")
		m.mu.Lock()
		defer m.mu.Unlock()
		require.Empty(t, m.list, "unused tallies are dropped")
	})
}

func TestDefaultQuota(t *testing.T) {
	ctx := t.Context()
	s := runstest.Records(t, store.Config{})
	more, _, err := s.Keys.Create(ctx, store.Key{Tenant: "t", TokensPerDay: 1000}, "")
	require.NoError(t, err)
	m := newMeter(t, Config{Store: s.Tokens, PerDay: 5})
	for _, caller := range []string{"key gone", "user u", more.Caller()} {
		m.Of("t", caller).Spend(5)
	}
	refused(t, m.Of("t", "key gone"))
	require.False(t, refused(t, m.Of("t", "user u")).Tenant)
	require.NoError(t, m.Of("t", more.Caller()).Allow(ctx), "its own quota applies")
	require.NoError(t, m.Of("t", "").Allow(ctx), "the default does not apply to tenants")
}

// Two hosts have their own meter and share a store.
func TestTwoHostsShareAQuota(t *testing.T) {
	onBoth(t, func(t *testing.T, cfg store.Config) {
		ctx := t.Context()
		s := runstest.Records(t, cfg)
		second := s
		if cfg.URL != "" {
			second = runstest.Records(t, cfg)
		}
		key, _, err := s.Keys.Create(ctx, store.Key{Tenant: "t", TokensPerDay: 1000}, "")
		require.NoError(t, err)
		c := newClock("2026-11-21T12:00:00Z")
		one, two := newMeter(t, Config{Store: s.Tokens, Now: c.now}), newMeter(
			t, Config{Store: second.Tokens, Now: c.now},
		)
		a, b := one.Of("t", key.Caller()), two.Of("t", key.Caller())
		require.NoError(t, a.Allow(ctx))
		require.NoError(t, b.Allow(ctx))
		a.Spend(600)
		require.NoError(t, one.Flush())
		b.Spend(400) // its meter may write from now on
		require.NoError(t, two.Flush())
		refused(t, b) // the write returned the tokens of the other host
		c.advance(lookEvery)
		refused(t, a)
		state, next, err := one.State(ctx, "t", key.Caller())
		require.NoError(t, err)
		require.Equal(t, store.TokenState{Quota: 1000, Used: 1000}, state)
		require.Equal(t, "2026-11-22T00:00:00Z", next.Format(time.RFC3339))
	})
}

// Counts are written periodically, promptly at the end of a run, and on Close.
func TestCountsAreWritten(t *testing.T) {
	ctx := t.Context()
	s := runstest.Records(t, store.Config{})
	m := New(Config{Store: s.Tokens, Log: runstest.Quiet})
	stored := func() int64 {
		v, err := s.Tokens.State(ctx, "t", "", m.Today())
		require.NoError(t, err)
		return v.Used
	}
	m.Of("t", "").Spend(1)
	require.Eventually(t, func() bool { return stored() == 1 }, 2*time.Minute, 10*time.Millisecond)
	m.Of("t", "").Spend(1)
	m.Settle()
	require.Eventually(t, func() bool { return stored() == 2 }, 2*time.Minute, 10*time.Millisecond)
	m.Of("t", "").Spend(1)
	require.NoError(t, m.Close())
	require.EqualValues(t, 3, stored())
}

func TestInvalidCountsAreClamped(t *testing.T) {
	ctx := t.Context()
	s := runstest.Records(t, store.Config{})
	m := newMeter(t, Config{Store: s.Tokens})
	a := m.Of("t", "key k")
	for _, n := range []int64{-1, -1 << 63, 0} {
		a.Spend(n)
	}
	state, _, err := m.State(ctx, "t", "")
	require.NoError(t, err)
	require.Zero(t, state.Used)
	for range 3 {
		a.Spend(1<<63 - 1)
		require.NoError(t, m.Flush())
		a.Spend(1<<63 - 1)
	}
	state, _, err = m.State(ctx, "t", "key k")
	require.NoError(t, err)
	require.EqualValues(t, store.MostTokens, state.Used)
}

// faulty is a store that can fail or hang.
type faulty struct {
	store.Tokens
	fails    atomic.Bool
	hangs    atomic.Bool // requests block until their context is done
	requests atomic.Int64
}

func (a *faulty) check(ctx context.Context) error {
	a.requests.Add(1)
	if a.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if a.fails.Load() {
		return errUnavailable
	}
	return nil
}

var errUnavailable = errors.New("unavailable")

func (a *faulty) State(ctx context.Context, tenant, caller string, day int64) (store.TokenState, error) {
	if err := a.check(ctx); err != nil {
		return store.TokenState{}, err
	}
	return a.Tokens.State(ctx, tenant, caller, day)
}

func (a *faulty) Add(ctx context.Context, uses []store.TokenUse) ([]int64, error) {
	if err := a.check(ctx); err != nil {
		return nil, err
	}
	return a.Tokens.Add(ctx, uses)
}

// While the store is unavailable, callers with cached state continue, and their tokens are written
// later.
func TestStoreUnavailable(t *testing.T) {
	ctx := t.Context()
	s := &faulty{Tokens: runstest.Records(t, store.Config{}).Tokens}
	c := newClock("2026-11-21T12:00:00Z")
	m := newMeter(t, Config{Store: s, PerDay: 10, Now: c.now})
	a := m.Of("t", "key k")
	require.NoError(t, a.Allow(ctx))
	s.fails.Store(true)
	c.advance(keepFor / 2)
	require.NoError(t, a.Allow(ctx))
	a.Spend(4)
	require.ErrorIs(t, m.Flush(), errUnavailable)
	a.Spend(6)
	refused(t, a)
	require.ErrorIs(t, m.Of("u", "key k").Allow(ctx), errUnavailable, "no cached state")
	s.fails.Store(false)
	require.NoError(t, m.Flush())
	got, err := s.State(ctx, "t", "key k", m.Today())
	require.NoError(t, err)
	require.EqualValues(t, 10, got.Used)
	require.NoError(t, m.Of("u", "key k").Allow(ctx))
}

// Runs without model calls cause no queries; calls in quick succession cause one query for the
// caller and one for the tenant.
func TestStoreIsQueriedRarely(t *testing.T) {
	s := &faulty{Tokens: runstest.Records(t, store.Config{}).Tokens}
	c := newClock("2026-11-21T12:00:00Z")
	m := newMeter(t, Config{Store: s, Now: c.now})
	for range 100 {
		m.Of("t", "key k")
		m.Settle()
	}
	require.NoError(t, m.Flush())
	require.Zero(t, s.requests.Load())
	for range 100 {
		require.NoError(t, m.Of("t", "key k").Allow(t.Context()))
	}
	require.EqualValues(t, 2, s.requests.Load())
}

// A store that hangs blocks neither callers with cached state nor Close.
func TestStoreHangs(t *testing.T) {
	s := &faulty{Tokens: runstest.Records(t, store.Config{}).Tokens}
	c := newClock("2026-11-21T12:00:00Z")
	m := New(Config{Store: s, PerDay: 10, Now: c.now, Log: runstest.Quiet})
	a := m.Of("t", "key k")
	require.NoError(t, a.Allow(t.Context()))
	s.hangs.Store(true)
	c.advance(keepFor / 2)
	require.NoError(t, a.Allow(t.Context()))
	a.Spend(10)
	refused(t, a)
	require.ErrorIs(t, m.Close(), context.Canceled)
}

func TestConcurrentAccounts(t *testing.T) {
	s := runstest.Records(t, store.Config{})
	var used atomic.Int64
	m := newMeter(t, Config{Store: s.Tokens, PerDay: 1 << 40, Used: func(_ string, n int64) { used.Add(n) }})
	const callers, calls = 8, 200
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			a := m.Of("t", fmt.Sprintf("key %d", i%3))
			for n := range calls {
				if err := a.Allow(t.Context()); err != nil {
					t.Error(err)
				}
				a.Spend(2)
				if n%20 == i {
					m.Settle()
				}
				if n%50 == i {
					if err := m.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, m.Flush())
	got, err := s.Tokens.ByCaller(t.Context(), "t", m.Today())
	require.NoError(t, err)
	require.EqualValues(t, 2*callers*calls, got[""])
	require.EqualValues(t, 2*callers*calls, got["key 0"]+got["key 1"]+got["key 2"])
	require.EqualValues(t, 2*callers*calls, used.Load())
}

func BenchmarkAllowAndSpend(b *testing.B) {
	s := runstest.Records(b, store.Config{})
	m := New(Config{Store: s.Tokens, Log: runstest.Quiet})
	a := m.Of("t", "key k")
	for b.Loop() {
		if err := a.Allow(b.Context()); err != nil {
			b.Fatal(err)
		}
		a.Spend(100)
	}
	require.NoError(b, errors.Join(m.Close(), s.Close()))
}
