package servertest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each server has a separate empty database, also one whose files are a copy.
func TestPostgresServersAreSeparate(t *testing.T) {
	for range 3 {
		server, err := StartPostgres()
		if errors.Is(err, ErrNoPostgres) {
			t.Skip(err)
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Remove()) })
		db, err := sql.Open("pgx", server.URL)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "CREATE TABLE alone (n int)")
		require.NoError(t, err)
		server.Kill()
		require.NoError(t, server.Restart())
		var tables int
		const count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
		require.NoError(t, db.QueryRowContext(t.Context(), count).Scan(&tables))
		require.Equal(t, 1, tables)
		require.NoError(t, db.Close())
	}
}
