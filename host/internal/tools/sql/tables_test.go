package sql

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestTablesOfSQLite(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "shop.db"), `CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT);
		CREATE TABLE "two words" (a); CREATE VIEW dear AS SELECT * FROM orders; CREATE TABLE sqlitelike (a)`)
	r := &Runner{Dir: dir}
	tables, err := r.Tables(t.Context(), engine.Object("db_type", "sqlite", "database", "shop.db", "max_records", 1))
	require.NoError(t, err)
	require.Equal(t, []string{"dear", "orders", "sqlitelike", "two words"}, tables)
	for _, params := range []engine.Value{
		engine.Object("db_type", "sqlite", "database", "../../shop.db"), engine.Object("db_type", "sqlite"),
		engine.Object("db_type", "oracle", "database", "x"), engine.Object("database", "x"), engine.Null,
	} {
		_, err := r.Tables(t.Context(), params)
		require.Error(t, err, params.JSON())
	}
}

func TestTablesOfServers(t *testing.T) {
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			r := &Runner{Network: anywhere{}}
			write := s
			write.Write = true
			results, err := r.Run(t.Context(), &write, "CREATE TABLE tables_of_servers (id INTEGER)")
			require.NoError(t, err)
			require.NoError(t, results[0].Err)
			params := engine.Object("db_type", s.Kind, "host", s.Host, "port", s.Port, "database", s.Database,
				"username", s.User, "password", s.Password, "read_only", false)
			tables, err := r.Tables(t.Context(), params)
			require.NoError(t, err)
			require.Contains(t, tables, "tables_of_servers")
			_, err = r.Tables(t.Context(), params.With("database", engine.String("none")))
			require.Error(t, err)
		})
	}
}
