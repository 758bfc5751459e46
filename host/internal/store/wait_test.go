package store

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Runs that a former version let wait stay answerable for seven days from their end; those whose
// session has continued have succeeded.
func TestWaitsOfFormerVersions(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := openTest(t, engineConfig(t, engine))
			_, err := s.Sessions.Create(t.Context(), Session{ID: "s", Tenant: "t", Canvas: "c", LastRun: "last"})
			require.NoError(t, err)
			for _, v := range []Run{
				{ID: "alone"}, {ID: "drawn", Source: "editor"}, {ID: "first", Session: "s"}, {ID: "last", Session: "s"},
			} {
				v.Tenant, v.Canvas, v.Message = "t", "c", v.ID
				require.NoError(t, s.Runs.Start(t.Context(), v))
				_, err := s.Runs.End(t.Context(), RunEnd{ID: v.ID, Tenant: "t", Status: RunPaused}, nil)
				require.NoError(t, err)
			}
			files, err := fs.Glob(migrations, "migrations/*_waits.sql")
			require.NoError(t, err)
			version := 0
			require.NoError(t, s.write(t.Context(), "migrate again", func(ctx context.Context, q querier) error {
				if version, err = schemaVersion(ctx, q); err != nil {
					return err
				}
				if _, err := q.ExecContext(ctx, `DROP TABLE waits`); err != nil {
					return err
				}
				return applyMigration(ctx, q, s.engine, files[0], version)
			}))
			for id, kept := range map[string]string{"alone": "", "drawn": "canvas", "last": "session"} {
				v, err := s.Waits.Get(t.Context(), "t", id)
				require.NoError(t, err, id)
				require.Equal(t, []string{WaitOpen, kept}, []string{v.State, v.Kept}, id)
				require.Equal(t, 7*24*time.Hour, time.Duration(v.ExpireTime-v.CreateTime)*time.Millisecond)
			}
			_, err = s.Waits.Get(t.Context(), "t", "first")
			require.ErrorIs(t, err, ErrNotFound)
			row, err := s.Runs.Get(t.Context(), "t", "first")
			require.NoError(t, err)
			require.Equal(t, RunDone, row.Status)
		})
	}
}
