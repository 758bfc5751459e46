package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

func TestDiskFullIsReportedAndRolledBack(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	ctx := t.Context()
	small, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: []byte("{}")}, "")
	require.NoError(t, err)
	limit(t, s, `PRAGMA max_page_count = 60`)

	// Only the large write of concurrent writes must fail.
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			size := 10
			if i == 7 {
				size = 1 << 20
			}
			_, errs[i] = s.Canvases.Edit(ctx, "t", small.ID, "", func(c *Canvas) error {
				c.DSL = make([]byte, size)
				return nil
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		if i == 7 {
			require.ErrorIs(t, err, ErrFull)
			require.ErrorContains(t, err, "disk is full")
			continue
		}
		require.NoError(t, err)
	}
	got, err := s.Canvases.Get(ctx, "t", small.ID)
	require.NoError(t, err)
	require.Len(t, got.DSL, 10)

	limit(t, s, `PRAGMA max_page_count = 100000`)
	_, err = s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: make([]byte, 1<<20)}, "")
	require.NoError(t, err, "freed space is used")
}

// limit runs a pragma on the writing connection.
func limit(t *testing.T, s *Store, pragma string) {
	g := s.commit.(*group)
	require.NoError(t, s.write(t.Context(), "limit", func(ctx context.Context, _ querier) error {
		_, err := g.conn.conn.ExecContext(ctx, pragma)
		return err
	}))
}

// TestRealDiskFull fills a small tmpfs.
func TestRealDiskFull(t *testing.T) {
	dir := disktest.Small(t, "1m")
	s, err := Open(t.Context(), Config{Dir: dir})
	require.NoError(t, err)
	defer s.Close()
	kept := 0
	for kept < 100 {
		if _, err = s.Canvases.Create(
			t.Context(), Canvas{ID: fmt.Sprint(kept), Tenant: "t", DSL: make([]byte, 100<<10)}, "",
		); err != nil {
			break
		}
		kept++
	}
	require.ErrorIs(t, err, ErrFull)
	_, total, err := s.Canvases.List(t.Context(), CanvasFilter{Viewer: access.All("t")}, Page{})
	require.NoError(t, err, "stored records are readable")
	require.Equal(t, kept, total, "every acknowledged canvas is stored")
}

func TestReadOnlyIsReported(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		_, err := s.Canvases.Create(t.Context(), Canvas{ID: "c", Tenant: "t"}, "")
		require.NoError(t, err)
		if s.engine == "sqlite" {
			limit(t, s, `PRAGMA query_only = 1`)
		} else {
			s.dbs[0].SetMaxOpenConns(1)
			_, err := s.dbs[0].Exec(`SET default_transaction_read_only = on`)
			require.NoError(t, err)
		}
		_, err = s.Canvases.Create(t.Context(), Canvas{Tenant: "t"}, "")
		require.ErrorIs(t, err, ErrReadOnly)
		_, err = s.Canvases.Get(t.Context(), "t", "c")
		require.NoError(t, err, "reads still work")
	})
}

func TestOpenErrors(t *testing.T) {
	t.Run("not a database file", func(t *testing.T) {
		cfg := Config{Dir: t.TempDir()}
		require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, "easel.db"), make([]byte, 5000), 0o600))
		_, err := Open(t.Context(), cfg)
		require.ErrorIs(t, err, ErrCorrupt)
	})
	t.Run("unreachable server", func(t *testing.T) {
		_, err := Open(t.Context(), Config{Dir: t.TempDir(), URL: "postgres://easel:hidden@127.0.0.1:1/x?sslmode=disable"})
		require.ErrorIs(t, err, ErrUnavailable)
		require.NotContains(t, err.Error(), "hidden")
	})
	t.Run("neither directory nor address", func(t *testing.T) {
		_, err := Open(t.Context(), Config{})
		require.ErrorContains(t, err, "neither")
	})
	t.Run("tables of a newer version", func(t *testing.T) {
		cfg := Config{Dir: t.TempDir()}
		s, err := Open(t.Context(), cfg)
		require.NoError(t, err)
		require.NoError(t, s.write(t.Context(), "future", func(ctx context.Context, q querier) error {
			_, err := q.ExecContext(ctx, `UPDATE meta SET value = '99' WHERE name = 'schema'`)
			return err
		}))
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), cfg)
		require.ErrorIs(t, err, ErrNewer)
	})
	t.Run("tables of an older version", func(t *testing.T) {
		cfg := Config{Dir: t.TempDir(), AsIs: true}
		s, err := Open(t.Context(), cfg)
		require.NoError(t, err, "no tables are created")
		require.NoError(t, s.write(t.Context(), "past", func(ctx context.Context, q querier) error {
			_, err := q.ExecContext(ctx, `UPDATE meta SET value = '1' WHERE name = 'schema'`)
			return err
		}))
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), cfg)
		require.ErrorIs(t, err, ErrOlder)
	})
}

func TestConcurrentOpen(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			cfg := engineConfig(t, engine)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					s, err := Open(t.Context(), cfg)
					require.NoError(t, err)
					_, err = s.Tenants.Put(t.Context(), Tenant{})
					require.NoError(t, err)
					require.NoError(t, s.Close())
				})
			}
			wg.Wait()
		})
	}
}

func TestClosedStore(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		require.NoError(t, s.Close())
		_, err := s.Tenants.Put(t.Context(), Tenant{})
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, s.Close(), "again")
	})
}

func TestClassify(t *testing.T) {
	pg := func(code string) error { return fmt.Errorf("x: %w", &pgconn.PgError{Code: code}) }
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"unique violation", pg("23505"), ErrExists},
		{"disk full", pg("53100"), ErrFull},
		{"too many connections", pg("53300"), ErrUnavailable},
		{"read-only transaction", pg("25006"), ErrReadOnly},
		{"server shutting down", pg("57P01"), ErrUnavailable},
		{"damaged page", pg("XX001"), ErrCorrupt},
		{"an error that is not a storage failure is unchanged", pg("42601"), nil},
		{"no space for the key file", &os.PathError{Err: syscall.ENOSPC}, ErrFull},
		{"read-only directory", &os.PathError{Err: syscall.EROFS}, ErrReadOnly},
		{"canceled by the caller", context.Canceled, nil},
		{"unknown", errors.New("x"), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, classify(test.err)) })
	}
}

// A missing value is no conflict with another record.
func TestOnlyTakenKeysExist(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		insert := func(row string) error {
			_, err := s.commit.exec(t.Context(), `INSERT INTO dataset_changes `+row)
			return err
		}
		require.NoError(t, insert(`VALUES ('d', 't', 1)`))
		require.ErrorIs(t, fail(insert(`VALUES ('d', 't', 1)`), "insert"), ErrExists)
		err := fail(insert(`(dataset_id, tenant_id) VALUES ('e', 't')`), "insert")
		require.ErrorContains(t, err, "change_seq")
		require.NotErrorIs(t, err, ErrExists)
	})
}
