package store

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSession(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		v, err := s.Sessions.Create(
			ctx,
			Session{Tenant: "t", Canvas: "c", DSL: []byte("{}"), Messages: []byte("[]"), Reference: []byte("{}")},
		)
		require.NoError(t, err)
		got, err := s.Sessions.Get(ctx, "t", v.ID)
		require.NoError(t, err)
		require.Equal(t, v, got)
		_, err = s.Sessions.Get(ctx, "t2", v.ID)
		require.ErrorIs(t, err, ErrNotFound)

		t.Run("saving over an old revision fails", func(t *testing.T) {
			rev, err := s.Sessions.Save(ctx, v)
			require.NoError(t, err)
			require.EqualValues(t, 2, rev)
			_, err = s.Sessions.Save(ctx, v)
			require.ErrorIs(t, err, ErrConflict)
			require.ErrorContains(t, err, "revision 1, now 2")
		})
		t.Run("an unknown session cannot be saved", func(t *testing.T) {
			_, err := s.Sessions.Save(ctx, Session{ID: "none", Tenant: "t"})
			require.ErrorIs(t, err, ErrNotFound)
		})
		t.Run("delete", func(t *testing.T) {
			require.ErrorIs(t, s.Sessions.Delete(ctx, "t2", v.ID), ErrNotFound)
			require.NoError(t, s.Sessions.Delete(ctx, "t", v.ID))
			_, err := s.Sessions.Get(ctx, "t", v.ID)
			require.ErrorIs(t, err, ErrNotFound)
		})
	})
}

func TestSessionHasOneActiveRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		v, err := s.Sessions.Create(ctx, Session{Tenant: "t"})
		require.NoError(t, err)
		read := func() Session {
			v, err := s.Sessions.Get(ctx, "t", v.ID)
			require.NoError(t, err)
			return v
		}
		turn := func(run string) Run { return Run{ID: run, Tenant: "t", Session: v.ID} }
		end := func(run string) {
			_, err := s.Runs.End(ctx, RunEnd{ID: run, Tenant: "t", Session: v.ID, Status: RunFailed}, nil)
			require.NoError(t, err)
		}
		require.NoError(t, s.Runs.StartTurn(ctx, turn("r1"), v))
		require.Equal(t, "r1", read().Run)
		require.NoError(t, s.Sessions.Claim(ctx, read(), "r1"), "the owning run may repeat its claim")
		for _, seen := range []Session{v, read()} {
			require.ErrorIs(t, s.Runs.StartTurn(ctx, turn("r2"), seen), ErrConflict)
			require.ErrorIs(t, s.Sessions.Claim(ctx, seen, "r2"), ErrConflict)
		}
		end("r2")
		require.Equal(t, "r1", read().Run, "only the end of the owning run frees the session")

		held := read()
		held.LastRun, held.Rounds = "r1", 1
		_, err = s.Runs.End(ctx, RunEnd{ID: "r1", Tenant: "t", Session: v.ID, Status: RunDone}, &held)
		require.NoError(t, err)
		require.ErrorIs(
			t, s.Runs.StartTurn(ctx, turn("r2"), v), ErrConflict, "the session has changed since it was read",
		)
		require.NoError(t, s.Runs.StartTurn(ctx, turn("r2"), read()))
		end("r2")
		require.Empty(t, read().Run, "an end without a result frees the session")

		t.Run("a rejected run claims no session", func(t *testing.T) {
			require.ErrorIs(t, s.Runs.StartTurn(ctx, turn("r2"), read()), ErrExists)
			require.Empty(t, read().Run)
			require.ErrorIs(t, s.Runs.StartTurn(ctx, turn("r3\x00"), read()), ErrInvalid)
		})
		t.Run("a rejected claim writes no run", func(t *testing.T) {
			foreign := read()
			foreign.Tenant = "other"
			require.ErrorIs(t, s.Runs.StartTurn(ctx, turn("r4"), foreign), ErrConflict)
			_, err := s.Runs.Get(ctx, "t", "r4")
			require.ErrorIs(t, err, ErrNotFound)
		})
		t.Run("claims of inactive runs can be taken over", func(t *testing.T) {
			for _, gone := range []string{"none", "r1"} {
				w, err := s.Sessions.Create(ctx, Session{Tenant: "t", Run: gone})
				require.NoError(t, err)
				unread := w
				unread.Run = ""
				require.ErrorIs(
					t, s.Runs.StartTurn(ctx, turn(NewID()), unread), ErrConflict, "only after reading the claim",
				)
				run := NewID()
				require.NoError(t, s.Runs.StartTurn(ctx, turn(run), w))
				require.ErrorIs(t, s.Runs.StartTurn(ctx, turn(NewID()), w), ErrConflict, "once")
			}
		})
	})
}

func TestConcurrentTurnsAreSerial(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		v, err := s.Sessions.Create(ctx, Session{Tenant: "t", Run: "orphan"})
		require.NoError(t, err)
		var inside, turns atomic.Int64
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				run := NewID()
				for {
					held, err := s.Sessions.Get(ctx, "t", v.ID)
					require.NoError(t, err)
					err = s.Runs.StartTurn(ctx, Run{ID: run, Tenant: "t"}, held)
					if errors.Is(err, ErrConflict) {
						continue
					}
					require.NoError(t, err)
					require.EqualValues(t, 1, inside.Add(1))
					held.Rounds++
					held.LastRun = run
					inside.Add(-1)
					_, err = s.Runs.End(ctx, RunEnd{ID: run, Status: RunDone}, &held)
					require.NoError(t, err)
					turns.Add(1)
					return
				}
			})
		}
		wg.Wait()
		got, err := s.Sessions.Get(ctx, "t", v.ID)
		require.NoError(t, err)
		require.EqualValues(t, 6, got.Rounds)
	})
}

func TestEndRunIsRepeatable(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		v, err := s.Sessions.Create(ctx, Session{Tenant: "t", Run: "r1"})
		require.NoError(t, err)
		require.NoError(
			t, s.Runs.Start(ctx, Run{ID: "r1", Tenant: "t", Canvas: "c", Message: "m1", Input: []byte("in")}),
		)
		require.ErrorIs(t, s.Runs.Start(ctx, Run{ID: "r1", Tenant: "t"}), ErrExists)
		active, err := s.Runs.Active(ctx)
		require.NoError(t, err)
		require.Len(t, active, 1)
		require.Equal(t, []byte("in"), active[0].Input)

		v.Rounds, v.LastRun = 1, "r1"
		rev, err := s.Runs.End(ctx, RunEnd{ID: "r1", Status: RunDone, Tokens: 7}, &v)
		require.NoError(t, err)
		require.EqualValues(t, 2, rev)
		again, err := s.Runs.End(ctx, RunEnd{ID: "r1", Status: RunFailed, Error: "late"}, &v)
		require.NoError(t, err)
		require.Equal(t, rev, again)

		got, err := s.Sessions.Get(ctx, "t", v.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, got.Rounds)
		require.Empty(t, got.Run)
		run, err := s.Runs.OfMessage(ctx, "t", "m1")
		require.NoError(t, err)
		require.Equal(t, RunDone, run.Status)
		require.EqualValues(t, 7, run.Tokens)
		require.Empty(t, run.Input)
		require.NotZero(t, run.EndTime)
		active, err = s.Runs.Active(ctx)
		require.NoError(t, err)
		require.Empty(t, active)

		t.Run("a conflict writes neither part", func(t *testing.T) {
			require.NoError(t, s.Runs.Start(ctx, Run{ID: "r2", Tenant: "t"}))
			stale := v
			stale.LastRun = "r2"
			_, err := s.Runs.End(ctx, RunEnd{ID: "r2", Status: RunDone}, &stale)
			require.ErrorIs(t, err, ErrConflict)
			run, err := s.Runs.Get(ctx, "t", "r2")
			require.NoError(t, err)
			require.Equal(t, RunActive, run.Status)
		})
		t.Run("ended runs are listed and deleted", func(t *testing.T) {
			list, total, err := s.Runs.List(ctx, RunFilter{Tenant: "t", Status: RunDone}, Page{Limit: 10})
			require.NoError(t, err)
			require.Equal(t, 1, total)
			require.Equal(t, "r1", list[0].ID)
			n, err := s.Runs.Forget(ctx, s.ms()+1, 0)
			require.NoError(t, err)
			require.Zero(t, n)
			n, err = s.Runs.Forget(ctx, s.ms()+1, 10)
			require.NoError(t, err)
			require.EqualValues(t, 1, n)
			_, err = s.Runs.Get(ctx, "t", "r2")
			require.NoError(t, err, "an active run is not deleted")
		})
	})
}

func TestSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for _, v := range []Session{
			{ID: "a", Tenant: "t", Canvas: "c1", User: "u1", Added: &SessionTurn{Find: "Hello WORLD"}},
			{ID: "b", Tenant: "t", Canvas: "c1", User: "u2", Added: &SessionTurn{Find: "zero \x00 and \xff"}},
			{ID: "c", Tenant: "t", Canvas: "c2", User: "u1"},
			{ID: "d", Tenant: "t2", Canvas: "c1"},
		} {
			_, err := s.Sessions.Create(ctx, v)
			require.NoError(t, err)
		}
		find := func(f SessionFilter) []string {
			f.Tenant = "t"
			list, total, err := s.Sessions.List(ctx, f, Page{Order: "id", Asc: true})
			require.NoError(t, err)
			require.Len(t, list, total)
			ids := []string{}
			for _, v := range list {
				ids = append(ids, v.ID)
			}
			return ids
		}
		require.Equal(t, []string{"a", "b"}, find(SessionFilter{Canvas: "c1"}))
		require.Equal(t, []string{"a"}, find(SessionFilter{Canvas: "c1", User: "u1"}))
		require.Equal(t, []string{"a"}, find(SessionFilter{Keywords: "hello w"}))
		require.Equal(t, []string{"b"}, find(SessionFilter{Keywords: "ZERO"}))
		require.Empty(t, find(SessionFilter{From: s.ms() + 1000}))
		require.Empty(t, find(SessionFilter{To: 1}))
		require.Empty(t, find(SessionFilter{ID: "d"}))
	})
}
