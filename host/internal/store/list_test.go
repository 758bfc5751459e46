package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fillSessions adds n sessions of three users, some with equal times, and returns the clock used
// for them.
func fillSessions(t *testing.T, s *Store, n int) {
	t.Helper()
	at := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return at }
	for i := range n {
		v := Session{
			ID: fmt.Sprintf("s%03d", (i*37)%n), Tenant: "t", Canvas: "c", User: fmt.Sprint("u", i%3), DSL: make([]byte, 5000), Messages: []byte("[]"),
			Reference: []byte("{}"), Tokens: int64(i), Duration: int64(i % 2 * 500), Rounds: int64(i % 5), ThumbUp: int64(i % 2),
		}
		_, err := s.Sessions.Create(t.Context(), v)
		require.NoError(t, err)
		if i%2 == 0 {
			at = at.Add(3 * time.Hour)
		}
	}
	// Sessions of another tenant or canvas, which must not be listed.
	for _, v := range []Session{{Tenant: "t2", Canvas: "c"}, {Tenant: "t", Canvas: "c2"}} {
		_, err := s.Sessions.Create(t.Context(), v)
		require.NoError(t, err)
	}
}

func idsOf(list []Session) (out []string) {
	for _, v := range list {
		out = append(out, v.ID)
	}
	return out
}

// Pages, by number or by position, concatenate to the whole list in every order.
func TestPagesAreTheWholeList(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		const n, size = 50, 7
		fillSessions(t, s, n)
		f := SessionFilter{Tenant: "t", Canvas: "c"}
		for order := range sessionList.order {
			for _, asc := range []bool{true, false} {
				whole, total, err := s.Sessions.List(t.Context(), f, Page{Order: order, Asc: asc})
				require.NoError(t, err)
				require.Equal(t, n, total)
				require.Len(t, whole, n)
				var numbered []string
				for offset := 0; offset < n+size; offset += size {
					list, total, err := s.Sessions.List(
						t.Context(), f, Page{Order: order, Asc: asc, Limit: size, Offset: offset},
					)
					require.NoError(t, err)
					require.Equal(t, n, total)
					numbered = append(numbered, idsOf(list)...)
				}
				require.Equal(t, idsOf(whole), numbered, order)
				var walked []string
				for after := (*Position)(nil); len(walked) < n; {
					list, _, err := s.Sessions.List(
						t.Context(), f, Page{Order: order, Asc: asc, Limit: size, After: after},
					)
					require.NoError(t, err)
					require.NotEmpty(t, list)
					walked = append(walked, idsOf(list)...)
					last := list[len(list)-1]
					after = &Position{map[string]int64{
						"round": last.Rounds, "tokens": last.Tokens, "update_time": last.UpdateTime, "update_date": last.UpdateTime,
						"create_time": last.CreateTime, "create_date": last.CreateTime,
					}[order], last.ID}
				}
				require.Equal(t, idsOf(whole), walked, order)
			}
		}
	})
}

func TestRunsByPosition(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		for i := range 10 {
			require.NoError(
				t,
				s.Runs.Start(t.Context(), Run{ID: fmt.Sprint("r", i), Tenant: "t", Input: []byte("in"), Tokens: int64(i % 3)}),
			)
		}
		for order := range runList.order {
			whole, _, err := s.Runs.List(t.Context(), RunFilter{Tenant: "t"}, Page{Order: order})
			require.NoError(t, err)
			var walked []Run
			p := Page{Order: order, Limit: 3}
			for len(walked) < 10 {
				list, total, err := s.Runs.List(t.Context(), RunFilter{Tenant: "t"}, p)
				require.NoError(t, err)
				require.Equal(t, 10, total)
				require.NotEmpty(t, list)
				walked = append(walked, list...)
				at := list[len(list)-1].Position(order)
				p.After = &at
			}
			require.Equal(t, whole, walked, order)
		}
	})
}

func TestListReservesAndLeavesOutDocuments(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		fillSessions(t, s, 20)
		f, asked := SessionFilter{Tenant: "t", Canvas: "c"}, int64(0)
		reserve := func(n int64) error { asked = n; return nil }
		list, _, err := s.Sessions.List(t.Context(), f, Page{Limit: 5, Offset: 3, Reserve: reserve})
		require.NoError(t, err)
		require.EqualValues(t, 5*(5000+2+2), asked, "those of the page")
		require.Len(t, list[0].DSL, 5000)
		full := errors.New("no room")
		_, _, err = s.Sessions.List(t.Context(), f, Page{Limit: 5, Reserve: func(int64) error { return full }})
		require.ErrorIs(t, err, full)
		brief, total, err := s.Sessions.List(
			t.Context(), f, Page{Limit: 5, Offset: 3, Documents: NoDocuments, Reserve: reserve},
		)
		require.NoError(t, err)
		require.Equal(t, 20, total)
		require.Equal(t, idsOf(list), idsOf(brief))
		require.Empty(t, brief[0].DSL)
		require.Zero(t, asked)
		brief, _, err = s.Sessions.List(
			t.Context(), f, Page{Limit: 5, Offset: 3, Documents: WithoutDSL, Reserve: reserve},
		)
		require.NoError(t, err)
		require.EqualValues(t, 5*(2+2), asked)
		require.Empty(t, brief[0].DSL)
		require.Equal(t, "[]", string(brief[0].Messages))
		require.Equal(t, list[0].Tokens, brief[0].Tokens)
	})
}

func TestUnknownOrder(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	_, _, err := s.Sessions.List(t.Context(), SessionFilter{Tenant: "t"}, Page{Order: "colour"})
	var order *OrderError
	require.ErrorAs(t, err, &order)
	require.ErrorIs(t, err, ErrInvalid)
	require.Equal(t, "colour", order.Order)
	require.Equal(t, []string{"create_date", "create_time", "id", "round", "tokens", "update_date", "update_time"}, order.Accepted)
}

// plans is a querier that records SQLite's plan of each query.
type plans struct {
	querier
	lines []string
}

func (p *plans) explain(ctx context.Context, query string, args []any) {
	rows, err := queryAll(ctx, p.querier, func(r row) (string, error) {
		var id, parent, unused int
		var text string
		return text, r.Scan(&id, &parent, &unused, &text)
	}, `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		rows = []string{"SCAN " + err.Error()}
	}
	p.lines = append(p.lines, rows...)
}

func (p *plans) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	p.explain(ctx, query, args)
	return p.querier.QueryContext(ctx, query, args...)
}

func (p *plans) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	p.explain(ctx, query, args)
	return p.querier.QueryRowContext(ctx, query, args...)
}

// Skipped rows must be read from indexes only, and rows of the page by their ids.
func TestListsReadOnlyTheirPage(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	fillSessions(t, s, 30)
	require.NoError(t, s.Runs.Start(t.Context(), Run{ID: "r", Tenant: "t", Canvas: "c", Session: "s"}))
	p := &plans{querier: s.read}
	s.read = p
	sessions := func(f SessionFilter, order string) func() error {
		f.Tenant, f.Canvas = "t", "c"
		return func() error {
			_, _, err := s.Sessions.List(t.Context(), f, Page{Order: order, Limit: 5, Offset: 2})
			return err
		}
	}
	runs := func(f RunFilter) func() error {
		f.Tenant = "t"
		return func() error {
			_, _, err := s.Runs.List(t.Context(), f, Page{Limit: 5, Offset: 0})
			return err
		}
	}
	days := func(f SessionFilter) func() error {
		return func() error {
			_, err := s.Sessions.Days(t.Context(), f)
			return err
		}
	}
	for name, list := range map[string]func() error{
		"by creation":        sessions(SessionFilter{}, "create_time"),
		"by change":          sessions(SessionFilter{}, "update_time"),
		"by tokens":          sessions(SessionFilter{}, "tokens"),
		"of a user":          sessions(SessionFilter{User: "u1"}, "update_time"),
		"of a user and days": sessions(SessionFilter{User: "u1", From: 1, To: 1 << 50}, "create_time"),
		"of days by change":  sessions(SessionFilter{From: 1, To: 1 << 50, Source: "agent"}, "update_time"),
		"runs":               runs(RunFilter{}),
		"runs of a canvas":   runs(RunFilter{Canvas: "c"}),
		"runs of a session":  runs(RunFilter{Session: "s"}),
		"failed runs":        runs(RunFilter{Status: RunFailed}),
		"active runs":        runs(RunFilter{Status: RunActive}),
		"statistics":         days(SessionFilter{Tenant: "t", From: 1}),
		"statistics of one":  days(SessionFilter{Tenant: "t", Canvas: "c"}),
		"ids": func() error {
			_, err := s.Sessions.IDs(t.Context(), SessionFilter{Tenant: "t", Canvas: "c"})
			return err
		},
		"the newest of a set": sessions(SessionFilter{User: "u2"}, "create_time"),
	} {
		t.Run(name, func(t *testing.T) {
			p.lines = nil
			require.NoError(t, list())
			require.NotEmpty(t, p.lines)
			for _, line := range p.lines {
				if strings.HasPrefix(line, "SCAN") || strings.HasPrefix(line, "SEARCH") {
					accepted := `COVERING INDEX|\((session_)?id=\?\)|list_blocks USING INDEX`
					require.Regexp(t, accepted, line, strings.Join(p.lines, "\n"))
				}
			}
		})
	}
}

// Sums per day equal those of the sessions, on both engines and in UTC.
func TestSessionDays(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		fillSessions(t, s, 50)
		for _, f := range []SessionFilter{
			{Tenant: "t"},
			{Tenant: "t", Canvas: "c"},
			{Tenant: "t", User: "u1"},
			{Tenant: "none"},
			{Tenant: "t", From: time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC).UnixMilli(), To: time.Date(2026, 3, 3, 23, 59, 59, 0, time.UTC).UnixMilli()},
		} {
			list, _, err := s.Sessions.List(t.Context(), f, Page{Asc: true})
			require.NoError(t, err)
			var want []SessionDay
			users := map[string]bool{}
			for _, v := range list {
				at := time.UnixMilli(v.CreateTime).UTC().Truncate(24 * time.Hour)
				if len(want) == 0 || want[len(want)-1].Day != at {
					want, users = append(want, SessionDay{Day: at}), map[string]bool{}
				}
				d := &want[len(want)-1]
				users[v.User] = true
				d.Sessions++
				d.Users = int64(len(users))
				d.Tokens += v.Tokens
				d.Rounds += v.Rounds
				d.ThumbUp += v.ThumbUp
				if v.Duration > 0 {
					d.TimedTokens += v.Tokens
					d.TimedMilliseconds += v.Duration
				}
			}
			got, err := s.Sessions.Days(t.Context(), f)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		_, err := s.Sessions.Days(t.Context(), SessionFilter{})
		require.ErrorIs(t, err, ErrInvalid)
	})
}
