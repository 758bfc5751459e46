package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Claims read the queue in the order of its index: they take no longer when more documents wait.
func TestClaimsOfManyQueued(t *testing.T) {
	const few, many, claims = 200, 20_000, 100
	s, ctx := openTest(t, engineConfig(t, "sqlite")), t.Context()
	shop := newDataset(t, s, "t", "1", "shop")
	newDocument(t, s, shop, "a", "a.txt")
	require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "a"))
	claim := func() time.Duration {
		before := servertest.ProcessorTime()
		for i := range claims {
			_, err := s.Ingestion.Claim(ctx, Claim{
				Lease: fmt.Sprint("lease", i), Until: s.ms() + 1e6, Due: s.ms() + 1e6,
				File: func(d *Document) string { return "c/" + d.ID },
			})
			require.NoError(t, err)
		}
		return servertest.ProcessorTime() - before
	}
	copyDocument(t, s, "a", 1, few)
	short := claim()
	copyDocument(t, s, "a", few+1, many)
	long := claim()
	require.Less(t, long, 5*short+100*time.Millisecond, "%v for a short queue", short)
}

// A document whose workers have died twice waits behind the others: it does not take the same
// neighbours down with it again and again.
func TestClaimOrderAfterDeaths(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		shop := newDataset(t, s, "t", "1", "shop")
		for _, id := range []string{"a", "b", "c"} {
			newDocument(t, s, shop, id, id+".txt")
			require.NoError(t, s.Ingestion.Queue(t.Context(), "t", "1", id))
		}
		var order []string
		for len(order) < 8 {
			for now := s.ms(); s.ms() == now; time.Sleep(time.Millisecond) {
				continue // claims in one millisecond are ordered by id
			}
			v, err := s.Ingestion.Claim(t.Context(), Claim{
				Lease: "dead", Until: 1, Due: s.ms() + 1e6, File: func(*Document) string { return "c" },
			})
			require.NoError(t, err)
			order = append(order, v.ID)
		}
		require.Equal(t, strings.Split("aabbccab", ""), order)
	})
}

// copyDocument adds queued documents that are like one but for their ids and names.
func copyDocument(t *testing.T, s *Store, id string, from, to int) {
	t.Helper()
	columns, err := queryAll(t.Context(), s.Ingestion.read, scanName, `SELECT name FROM pragma_table_info('documents')`)
	require.NoError(t, err)
	values := make([]string, len(columns))
	for i, c := range columns {
		switch values[i] = c; c {
		case "id", "name", "name_key":
			values[i] = c + ` || n`
		case "state":
			values[i] = `'queued'`
		}
	}
	require.NoError(t, s.Ingestion.write(t.Context(), "copy", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (
				SELECT $1 UNION ALL SELECT n+1 FROM numbers WHERE n < $2
			) INSERT INTO documents (%s) SELECT %s FROM documents, numbers WHERE id = $3`,
			strings.Join(columns, ", "), strings.Join(values, ", ")), from, to, id)
		return err
	}))
}

// A worker that claims the first of several documents finds all others queued: the dataset is not
// idle before the last one has ended.
func TestDocumentsAreQueuedTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		shop := newDataset(t, s, "t", "1", "shop")
		ids := make([]string, 600) // more than one statement numbers
		for i := range ids {
			ids[i] = fmt.Sprintf("d%03d", i)
			newDocument(t, s, shop, ids[i], ids[i]+".txt")
		}
		states := make(chan map[dataset.State]int, 1)
		go func() {
			defer close(states)
			for t.Context().Err() == nil {
				_, err := s.Ingestion.Claim(t.Context(), Claim{
					Lease: "l", Until: s.ms() + 1e6, Due: s.ms() + 1e6, File: func(*Document) string { return "c" },
				})
				if errors.Is(err, ErrNotFound) {
					continue
				}
				found := map[dataset.State]int{}
				list, err := s.Changes.After(t.Context(), "1", 0, "", 2*len(ids))
				for i := range list {
					found[list[i].State]++
				}
				if err == nil {
					states <- found
				}
				return
			}
		}()
		refused, err := s.Ingestion.QueueAll(t.Context(), "t", "1", append(ids, "unknown", ids[0]))
		require.NoError(t, err)
		require.Len(t, refused, 1)
		require.ErrorIs(t, refused["unknown"], ErrNotFound)
		require.Equal(t, map[dataset.State]int{dataset.Running: 1, dataset.Queued: len(ids) - 1}, <-states)
		refused, err = s.Ingestion.QueueAll(t.Context(), "t", "1", ids)
		require.NoError(t, err)
		require.Len(t, refused, len(ids))
		require.ErrorIs(t, refused[ids[0]], ErrConflict)
	})
}

// Documents are queued and deleted by different people in different orders: neither deadlocks.
func TestQueueMeetsDelete(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		for round := range 3 {
			id := fmt.Sprint(round)
			shop := newDataset(t, s, "t", id, "shop"+id)
			ids := make([]string, 200)
			for i := range ids {
				ids[i] = fmt.Sprintf("%s-%03d", id, i)
				newDocument(t, s, shop, ids[i], ids[i]+".txt")
			}
			back := slices.Clone(ids)
			slices.Reverse(back)
			var queued, deleted error
			var wg sync.WaitGroup
			wg.Go(func() { _, queued = s.Ingestion.QueueAll(t.Context(), "t", id, ids) })
			wg.Go(func() { _, deleted = s.Documents.Delete(t.Context(), "t", id, back...) })
			wg.Wait()
			require.NoError(t, queued)
			require.NoError(t, deleted)
		}
	})
}
