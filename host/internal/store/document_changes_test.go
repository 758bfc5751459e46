package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Whatever several hosts change at the same time, a follower that reads changes by their numbers
// ends with the documents as they are, and reads nothing when nothing has changed.
func TestFollowerOfChangesMissesNone(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			s := openTest(t, cfg)
			hosts := []*Store{s, openTest(t, cfg), openTest(t, cfg)}
			shop, other := newDataset(t, s, "t", "1", "shop"), newDataset(t, s, "t", "2", "other")
			f := &changeReader{s: openTest(t, cfg), dataset: shop.ID, seen: map[string]dataset.Change{}}
			done := make(chan struct{})
			var wg sync.WaitGroup
			failures := make([]error, len(hosts))
			for i, s := range hosts {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(i), 2))
					for n := 0; n < 150 && failures[i] == nil; n++ {
						in := []string{shop.ID, shop.ID, other.ID}[rng.IntN(3)]
						failures[i] = changeAny(t.Context(), s, rng, in, fmt.Sprint(i, "-", n))
					}
				})
			}
			go func() { wg.Wait(); close(done) }()
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				require.NoError(t, f.read(t.Context()))
			}
			require.NoError(t, errors.Join(failures...))
			require.Positive(t, f.reads)
			require.Equal(t, documentsOf(t, s, shop.ID), f.present(t))
			before := f.reads
			require.NoError(t, f.read(t.Context()))
			require.Equal(t, before, f.reads, "nothing has changed since")
		})
	}
}

// Each change of a document that a follower sees has a number, and so has each deletion.
func TestEveryChangeIsNumbered(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		shop := newDataset(t, s, "t", "1", "shop")
		f := &changeReader{s: s, dataset: shop.ID, seen: map[string]dataset.Change{}}
		rng := rand.New(rand.NewPCG(3, 4))
		for n := range 400 {
			before, seq := documentsOf(t, s, shop.ID), f.seq
			require.NoError(t, changeAny(t.Context(), s, rng, shop.ID, fmt.Sprint("d", n)))
			require.NoError(t, f.read(t.Context()))
			after := documentsOf(t, s, shop.ID)
			require.Equal(t, after, f.present(t), "change %d", n)
			if !reflect.DeepEqual(before, after) {
				require.Greater(t, f.seq, seq, "change %d", n)
			}
		}
	})
}

// changeReader follows the changes of a dataset.
type changeReader struct {
	s       *Store
	dataset string
	seq     int64 // of the last change read
	last    string
	reads   int
	seen    map[string]dataset.Change
}

// read reads the changes since the last call in pages of 3.
func (f *changeReader) read(ctx context.Context) error {
	heads, err := f.s.Changes.Heads(ctx, []string{f.dataset, "unknown"})
	if err != nil {
		return err
	}
	head, ok := heads[f.dataset]
	if !ok || len(heads) != 1 {
		return fmt.Errorf("heads of %v", heads)
	}
	for head.Changes > f.seq {
		list, err := f.s.Changes.After(ctx, f.dataset, f.seq, f.last, 3)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Seq < f.seq || c.Seq == f.seq && c.ID <= f.last {
				return fmt.Errorf("change %d of %s after %d of %s", c.Seq, c.ID, f.seq, f.last)
			}
			f.seq, f.last, f.seen[c.ID] = c.Seq, c.ID, c
			f.reads++
		}
		if len(list) < 3 && head.Changes > f.seq {
			f.seq, f.last = head.Changes, ""
		}
	}
	return nil
}

// present are the documents that were read and still exist.
func (f *changeReader) present(t *testing.T) map[string]dataset.Document {
	var ids []string
	for id := range f.seen {
		ids = append(ids, id)
	}
	there, err := f.s.Changes.These(t.Context(), f.dataset, ids)
	require.NoError(t, err)
	out := map[string]dataset.Document{}
	for _, c := range there {
		v := f.seen[c.ID].Document
		v.Messages = "" // lines without progress are no change
		out[c.ID] = v
	}
	return out
}

func documentsOf(t *testing.T, s *Store, in string) map[string]dataset.Document {
	list, _, err := s.Documents.List(t.Context(), DocumentFilter{Tenant: "t", Dataset: in}, Page{})
	require.NoError(t, err)
	out := map[string]dataset.Document{}
	for _, v := range list {
		v.Messages = ""
		out[v.ID] = v.Document
	}
	return out
}

// changeAny is [changeDocument] with the changes that the queue makes.
func changeAny(ctx context.Context, s *Store, rng *rand.Rand, in, id string) error {
	list, _, err := s.Documents.List(ctx, DocumentFilter{Tenant: "t", Dataset: in}, Page{})
	if err != nil {
		return err
	}
	if len(list) < 3 || rng.IntN(2) == 0 {
		return changeDocument(ctx, s, rng, in, id)
	}
	v := list[rng.IntN(len(list))]
	switch rng.IntN(5) {
	case 0:
		err = s.Ingestion.Queue(ctx, "t", in, v.ID)
	case 1:
		err = s.Ingestion.Rerun(ctx, "t", in, v.ID, dataset.Rerun{Node: "Parser:0"})
	case 2:
		err = s.Ingestion.Cancel(ctx, "t", in, v.ID, "stopped\n")
	case 3:
		err = s.Ingestion.Requeue(ctx, &v)
	default:
		err = workOn(ctx, s, rng, v, id)
	}
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// workOn reports progress of a document that is running, fails or releases it; otherwise it claims
// one.
func workOn(ctx context.Context, s *Store, rng *rand.Rand, v Document, lease string) (err error) {
	if v.State != dataset.Running {
		_, err = s.Ingestion.Claim(ctx, Claim{
			Lease: lease, Until: s.ms() + rng.Int64N(2)*1e6, Due: s.ms() + 1e6,
			File: func(*Document) string { return "c/" + lease },
		})
		return err
	}
	switch rng.IntN(4) {
	case 0:
		err = s.Ingestion.Release(ctx, &v)
	case 1:
		v.State, v.Progress = dataset.Failed, -1
		_, err = finishOne(ctx, s, v, nil)
	default:
		v.Progress, v.Messages = float64(rng.IntN(3))/4, v.Messages+"line\n"
		err = s.Ingestion.Renew(ctx, &v, s.ms()+1e6)
	}
	return err
}

// Documents of several datasets that are finished together are changes of each.
func TestFinishedTogetherAreChangesOfEach(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		var list []Finished
		for _, id := range []string{"2", "1"} {
			shop := newDataset(t, s, "t", id, "shop "+id)
			newDocument(t, s, shop, "d"+id, "a.txt")
			require.NoError(t, s.Ingestion.Queue(ctx, "t", id, "d"+id))
			v, err := s.Ingestion.Claim(ctx, Claim{
				Lease: "l", Until: s.ms() + 1e6, Due: s.ms() + 1e6, File: func(*Document) string { return "c" },
			})
			require.NoError(t, err)
			v.State = dataset.Failed
			list = append(list, Finished{Document: v})
		}
		before, err := s.Changes.Heads(ctx, []string{"1", "2"})
		require.NoError(t, err)
		_, err = s.Ingestion.Finish(ctx, list...)
		require.NoError(t, err)
		after, err := s.Changes.Heads(ctx, []string{"1", "2"})
		require.NoError(t, err)
		for id := range before {
			require.Equal(t, before[id].Changes+1, after[id].Changes)
			changed, err := s.Changes.After(ctx, id, before[id].Changes, "", 10)
			require.NoError(t, err)
			require.Len(t, changed, 1)
			require.Equal(t, dataset.Failed, changed[0].State)
		}
	})
}

// The numbers of changes continue in a store that was loaded from a dump, and are deleted with the
// tenant.
func TestChangesContinueAfterALoad(t *testing.T) {
	ctx, fromCfg := t.Context(), engineConfig(t, "sqlite")
	from := openTest(t, fromCfg)
	shop := newDataset(t, from, "t", "1", "shop")
	newDocument(t, from, shop, "a", "a.txt")
	require.NoError(t, from.Ingestion.Queue(ctx, "t", "1", "a"))
	_, err := from.Tenants.Put(ctx, Tenant{ID: "t"})
	require.NoError(t, err)
	var dump bytes.Buffer
	require.NoError(t, from.Dump(ctx, &dump))
	cfg := engineConfig(t, "postgres")
	cfg.KeyFile = filepath.Join(fromCfg.Dir, "secret.key")
	to := openTest(t, cfg)
	require.NoError(t, to.Load(ctx, &dump))
	before, err := to.Changes.Heads(ctx, []string{"1"})
	require.NoError(t, err)
	require.NoError(t, to.Ingestion.Cancel(ctx, "t", "1", "a", ""))
	changed, err := to.Changes.After(ctx, "1", before["1"].Changes, "", 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.NoError(t, to.Tenants.Delete(ctx, "t"))
	left, err := queryAll(ctx, to.read, scanNumber, `SELECT COUNT(*) FROM dataset_changes`)
	require.NoError(t, err)
	require.Zero(t, left[0])
}

// Positions count documents of all datasets.
func TestCountAhead(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		cfg, now := engineConfig(t, engine), time.UnixMilli(1)
		cfg.Now = func() time.Time { now = now.Add(time.Millisecond); return now }
		s, ctx := openTest(t, cfg), t.Context()
		shop, other := newDataset(t, s, "t", "1", "shop"), newDataset(t, s, "t", "2", "other")
		var list []Document
		for i, in := range []Dataset{shop, other, shop} {
			id := fmt.Sprint("d", i)
			newDocument(t, s, in, id, id)
			require.NoError(t, s.Ingestion.Queue(ctx, "t", in.ID, id))
			v, err := s.Documents.Get(ctx, "t", in.ID, id)
			require.NoError(t, err)
			list = append(list, v)
		}
		list = append(list, Document{Document: dataset.Document{ID: "late", State: dataset.Queued}}, Document{})
		require.NoError(t, s.Ingestion.CountAhead(ctx, list))
		var got []int
		for _, v := range list {
			got = append(got, v.Queue)
		}
		require.Equal(t, []int{0, 1, 2, 3, 0}, got, engine)
	}
}
