package replica_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var databases atomic.Int64

// database returns an empty schema for an index, and its address.
func database(t *testing.T) (*sql.DB, string) {
	t.Helper()
	server := servertest.NeedPostgres(t)
	schema := fmt.Sprintf("index%d", databases.Add(1))
	db, err := sql.Open("pgx", server.URL+"&search_path="+schema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, server.URL + "&index_schema=" + schema
}

// twoHosts are two hosts with one store, one object store and one index.
func twoHosts(t *testing.T) (a, b *datasettest.Fixture, records *sql.DB) {
	t.Helper()
	db, url := database(t)
	o := datasettest.Shared(t)
	o.IndexURL = url
	a = datasettest.New(t, o)
	o.Idle = true
	return a, datasettest.New(t, o), db
}

// What one host writes every host finds, changes and deletes, and no host indexes it again.
func TestHostsShareAnIndex(t *testing.T) {
	a, b, db := twoHosts(t)
	ds := a.Dataset(dataset.Dataset{Name: "shop", Method: "naive"})
	d := a.Parsed(ds.ID, "fruit.txt", "red apple")
	require.Equal(t, []string{"red apple"}, a.Find("apple", ds.ID))
	var stored int64
	require.NoError(t, db.QueryRow(`SELECT max(id) FROM chunks`).Scan(&stored))

	require.Equal(t, []string{"red apple"}, b.Find("apple", ds.ID))
	_, err := b.AddChunk(t.Context(), datasettest.Owner, ds.ID, d.ID, dataset.Chunk{Content: "green pear"})
	require.NoError(t, err)
	require.Equal(t, []string{"green pear"}, a.Find("pear", ds.ID))
	var now, chunks int64
	require.NoError(t, db.QueryRow(`SELECT max(id), count(*) FROM chunks`).Scan(&now, &chunks))
	require.EqualValues(t, 2, chunks)
	require.Equal(t, stored+1, now, "each chunk is stored by one host")

	_, err = a.DeleteDocuments(t.Context(), datasettest.Owner, ds.ID, d.ID)
	require.NoError(t, err)
	require.Empty(t, b.Find("apple", ds.ID))
}

// Two hosts that change one document at once leave the index with what the records say.
func TestHostsChangeADocumentAtOnce(t *testing.T) {
	a, b, _ := twoHosts(t)
	ds := a.Dataset(dataset.Dataset{Name: "shop", Method: "naive"})
	d := a.Parsed(ds.ID, "fruit.txt", "red apple")
	list, _, err := a.Chunks(t.Context(), datasettest.Owner, ds.ID, d.ID, app.ChunkList{Size: -1})
	require.NoError(t, err)
	var work sync.WaitGroup
	for i, f := range []*datasettest.Fixture{a, b} {
		work.Go(func() {
			for n := range 15 {
				patch := app.ChunkPatch{Content: new(fmt.Sprintf("red apple %d of host %d", n, i))}
				if err := f.UpdateChunk(t.Context(), datasettest.Owner, ds.ID, d.ID, list[0].ID, patch); err != nil {
					t.Errorf("host %d: %v", i, err)
				}
			}
		})
	}
	work.Wait()
	edits, err := a.Store.Documents.ChunkEdits(t.Context(), d.ID, 0)
	require.NoError(t, err)
	require.Len(t, edits, 1)
	want := []string{edits[0].Put.Content}
	require.Equal(t, want, a.Contents(ds.ID, d.ID))
	require.Equal(t, want, b.Contents(ds.ID, d.ID))
	require.Equal(t, want, b.Find("apple", ds.ID))
}

// A dataset in another language is indexed again by one host, while the other finds it as it was or
// as it is; what it was is removed later.
func TestSharedIndexOfOtherSettings(t *testing.T) {
	a, b, db := twoHosts(t)
	ds := a.Dataset(dataset.Dataset{Name: "shop", Method: "naive"})
	a.Parsed(ds.ID, "fruit.txt", "viele Häuser")
	require.Empty(t, b.Find("Haus", ds.ID))
	_, err := a.Update(t.Context(), datasettest.Owner, ds.ID, app.DatasetPatch{Language: new("german")})
	require.NoError(t, err)
	for _, host := range []*datasettest.Fixture{a, b} { // the old index answers until the new one is complete
		require.Eventually(t, func() bool {
			return slices.Equal([]string{"viele Häuser"}, host.Find("Haus", ds.ID))
		}, time.Minute, 10*time.Millisecond)
	}
	count := func() (n int) {
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM datasets`).Scan(&n))
		return n
	}
	require.Positive(t, count()) // two, but the host may have pruned in the meantime
	require.NoError(t, a.Replica.Prune(t.Context()))
	require.Equal(t, 1, count())
	require.Equal(t, []string{"viele Häuser"}, b.Find("Haus", ds.ID))
}

// A host changes a dataset in the index only while it has the lock.
func TestSharedIndexIsLocked(t *testing.T) {
	a, b, _ := twoHosts(t)
	ds := a.Dataset(dataset.Dataset{Name: "shop", Method: "naive"})
	a.Parsed(ds.ID, "fruit.txt", "red apple")
	shared, ok := a.Index.(index.Shared)
	require.True(t, ok)
	release, err := shared.Lock(t.Context(), "t/"+ds.ID+"/")
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = b.Replica.Sync(short, ds.ID)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	release()
	_, err = b.Replica.Sync(t.Context(), ds.ID)
	require.NoError(t, err)
}
