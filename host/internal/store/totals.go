package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// settledAfter is the age from which no new row can appear in a list: clocks of hosts differ,
	// and a commit takes time.
	settledAfter = time.Minute
	// settledLeast is the number of settled rows from which a count is cached: fewer are counted in
	// a millisecond.
	settledLeast = 5000
	// totalsKept is the age at which a count is read again, since another host may delete rows.
	totalsKept = 30 * time.Second
	// mostTotals bounds the number of cached counts.
	mostTotals = 1000
)

// totals caches how many settled rows long lists have, so that a page counts only newer ones:
// counting 200,000 index entries takes longer than the rest of a page. A deletion by this process
// clears the cache.
type totals struct {
	mu      sync.Mutex
	known   map[string]settled // by table, condition and arguments
	deleted int                // deletions so far
}

// settled is the number of rows that were created before a time.
type settled struct {
	rows   int
	before int64 // Unix milliseconds
	at     time.Time
}

// forget clears the cache after rows were deleted.
func (t *totals) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = nil
	t.deleted++
}

// count returns the number of rows of a table that match w. Rows must match w until they are
// deleted.
func (t *totals) count(ctx context.Context, q querier, table string, w *where, now time.Time) (int, error) {
	key := fmt.Sprintf("%s%s %q", table, w, w.args)
	t.mu.Lock()
	s, ok := t.known[key]
	deleted := t.deleted
	t.mu.Unlock()
	if age := now.Sub(s.at); ok && age >= 0 && age < totalsKept {
		recent := where{conds: slices.Clip(w.conds), args: slices.Clip(w.args)}
		recent.add("create_time >= ?", s.before)
		var rows int
		err := q.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table+recent.String(), recent.args...).Scan(&rows)
		return s.rows + rows, err
	}
	s = settled{before: now.Add(-settledAfter).UnixMilli(), at: now}
	all, old, err := countBefore(ctx, q, table, w, s.before)
	if err != nil {
		return 0, err
	}
	s.rows = old
	if s.rows >= settledLeast {
		t.remember(key, s, deleted)
	}
	return all, nil
}

// countBefore returns the number of rows of a table that match w, and how many of them were created
// before a time.
func countBefore(ctx context.Context, q querier, table string, w *where, before int64) (all, old int, err error) {
	args := append(slices.Clip(w.args), before)
	query := fmt.Sprintf(`SELECT COUNT(*), COUNT(CASE WHEN create_time < $%d THEN 1 END) FROM %s%s`, len(args), table, w)
	err = q.QueryRowContext(ctx, query, args...).Scan(&all, &old)
	return all, old, err
}

func (t *totals) remember(key string, s settled, deleted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deleted != deleted {
		return
	}
	if t.known == nil || len(t.known) >= mostTotals {
		t.known = map[string]settled{}
	}
	t.known[key] = s
}
