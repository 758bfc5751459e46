package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// What a dataset counts is the sum over its documents, after all changes by several hosts, also
// after those that fail.
func TestCountsFollowDocuments(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			s := openTest(t, cfg)
			hosts := []*Store{s, s, openTest(t, cfg), openTest(t, cfg)}
			shops := []Dataset{newDataset(t, s, "t", "1", "shop"), newDataset(t, s, "t", "2", "other")}
			var wg sync.WaitGroup
			failures := make([]error, len(hosts))
			for i, s := range hosts {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(i), 1))
					for n := 0; n < 60 && failures[i] == nil; n++ {
						failures[i] = changeDocument(t.Context(), s, rng, shops[rng.IntN(2)].ID, fmt.Sprint(i, "-", n))
					}
				})
			}
			wg.Wait()
			require.NoError(t, errors.Join(failures...))
			requireCounts(t, s)
			use, err := s.Datasets.Use(t.Context(), "t")
			require.NoError(t, err)
			require.Positive(t, use.Documents)
			require.Positive(t, use.Chunks)
			for _, shop := range shops {
				all := DocumentFilter{Tenant: "t", Dataset: shop.ID}
				list, total, err := s.Documents.List(t.Context(), all, Page{})
				require.NoError(t, err)
				require.Len(t, list, total)
				require.NoError(t, s.Datasets.Delete(t.Context(), "t", shop.ID))
				_, total, err = s.Documents.List(t.Context(), all, Page{})
				require.NoError(t, err)
				require.Zero(t, total)
			}
			use, err = s.Datasets.Use(t.Context(), "t")
			require.NoError(t, err)
			require.Zero(t, use)
		})
	}
}

// changeDocument makes a random change of a document of a dataset.
func changeDocument(ctx context.Context, s *Store, rng *rand.Rand, in, id string) error {
	list, _, err := s.Documents.List(ctx, DocumentFilter{Tenant: "t", Dataset: in}, Page{})
	if err != nil {
		return err
	}
	kind := rng.IntN(6)
	if len(list) < 3 {
		kind = 0
	}
	var v Document
	if len(list) > 0 {
		v = list[rng.IntN(len(list))]
	}
	switch kind {
	case 0:
		v = Document{Tenant: "t", Document: dataset.Document{ID: id, Dataset: in, Name: id, Size: rng.Int64N(100)}}
		_, err = s.Documents.Create(ctx, v, 500+rng.Int64N(2000))
	case 1:
		_, err = s.Documents.Edit(ctx, "t", in, v.ID, func(v *Document) (Affects, error) {
			v.Size = rng.Int64N(100)
			return Nothing, nil
		})
	case 2:
		_, err = s.Documents.Edit(ctx, "t", in, v.ID, func(v *Document) (Affects, error) {
			v.Chunks, v.Tokens, v.ChunkFile = 0, 0, ""
			return Cleared, nil
		})
	case 3:
		v.Chunks, v.Tokens = v.Chunks+1, v.Tokens+5
		_, err = s.Documents.EditChunks(ctx, v, []ChunkEdit{
			{Chunk: id, Put: &dataset.Chunk{Content: id}, Tokens: 5},
		}, false)
	case 4:
		err = parseDocument(ctx, s, rng, v, id)
	default:
		_, err = s.Documents.Delete(ctx, "t", in, v.ID, "unknown")
	}
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrQuota) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// parseDocument queues a document, and finishes one that is queued.
func parseDocument(ctx context.Context, s *Store, rng *rand.Rand, v Document, lease string) error {
	if err := s.Ingestion.Queue(ctx, "t", v.Dataset, v.ID); err != nil {
		return err
	}
	v, err := s.Ingestion.Claim(ctx, Claim{
		Lease: lease, Until: s.ms() + 1e6, Due: s.ms() + 1e6, File: func(*Document) string { return "c/" + lease },
	})
	if err != nil {
		return err
	}
	v.State = dataset.Done
	_, err = finishOne(ctx, s, v, &Parsed{
		ChunkFile: "c/" + lease, Chunks: rng.IntN(20), Tokens: rng.IntN(200), Limit: 50 + rng.Int64N(400),
		Has: func(string) bool { return rng.IntN(2) == 0 },
	})
	return err
}

// requireCounts compares what datasets count with their documents.
func requireCounts(t *testing.T, s *Store) {
	t.Helper()
	lines := func(query string) []string {
		out, err := queryAll(t.Context(), s.read, func(r row) (string, error) {
			var id string
			var n [4]int64
			err := r.Scan(&id, &n[0], &n[1], &n[2], &n[3])
			return fmt.Sprint(id, n), err
		}, query)
		require.NoError(t, err)
		return out
	}
	want := lines(`SELECT s.id, COUNT(d.id), CAST(COALESCE(SUM(d.size), 0) AS BIGINT),
		CAST(COALESCE(SUM(d.chunk_count), 0) AS BIGINT), CAST(COALESCE(SUM(d.token_count), 0) AS BIGINT)
		FROM datasets s LEFT JOIN documents d ON d.dataset_id = s.id GROUP BY s.id ORDER BY s.id`)
	require.Equal(t, want, lines(`SELECT id, document_count, byte_count, chunk_count, token_count FROM datasets
		ORDER BY id`))
}

// The end of a parse takes as long in a large dataset as in a small one, also under a quota.
func TestFinishInLargeDataset(t *testing.T) {
	const few, many, parses = 200, 20_000, 50
	s, ctx := openTest(t, engineConfig(t, "sqlite")), t.Context()
	shop := newDataset(t, s, "t", "1", "shop")
	newDocument(t, s, shop, "a", "a.txt")
	finish := func() time.Duration {
		var list []Finished
		for i := range parses {
			v, err := s.Ingestion.Claim(ctx, Claim{
				Lease: fmt.Sprint("lease", i), Until: s.ms() + 1e6, Due: s.ms() + 1e6,
				File: func(d *Document) string { return "c/" + d.ID },
			})
			require.NoError(t, err)
			v.State = dataset.Done
			list = append(list, Finished{Document: v, Result: &Parsed{
				ChunkFile: "c/" + v.ID, Chunks: 1, Limit: 1e9, Has: func(string) bool { return false },
			}})
		}
		before := servertest.ProcessorTime()
		_, err := s.Ingestion.Finish(ctx, list...)
		require.NoError(t, err)
		return servertest.ProcessorTime() - before
	}
	copyDocument(t, s, "a", 1, few)
	short := finish()
	copyDocument(t, s, "a", few+1, many)
	long := finish()
	require.Less(t, long, 3*short+20*time.Millisecond, "%v among %d documents", short, few)
}
