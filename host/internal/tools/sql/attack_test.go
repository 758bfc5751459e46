package sql

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostMark is a text in records of the host that no canvas may read.
const hostMark = "record-of-the-host"

// makeDatabase writes an SQLite file.
func makeDatabase(t testing.TB, file, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec(statements)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// contents returns the paths of a folder with the digests of their files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	return all
}

// resultTexts returns all that the results of an execution show.
func resultTexts(results []Result, err error) string {
	var b strings.Builder
	fmt.Fprintln(&b, err)
	for _, r := range results {
		fmt.Fprintln(&b, r.Columns, r.Err)
		for _, row := range r.Rows {
			for _, cell := range row {
				fmt.Fprintln(&b, cell.JSON())
			}
		}
	}
	return b.String()
}

// sqliteAttacks leave the file, the folder or the reading mode; {host} is the path of the host's
// records, {new} a path at which nothing is yet, both outside of the folder, and {read} reads the
// records.
var sqliteAttacks = []string{
	// names in brackets, which only SQLite has
	"SELECT 1 AS [x']; {read} -- '",
	"SELECT 1 AS [x']; COMMIT; PRAGMA query_only=0; ATTACH '{host}' AS o; INSERT INTO o.users VALUES ('me') -- '",
	"SELECT 1 AS [x\"]; {read} -- \"", "SELECT 1 AS [x`]; {read} -- `", "SELECT 1 AS [x--]; {read}",
	"SELECT 1 AS [x/*]; {read}; SELECT 1 AS [*/]", "SELECT 1 AS [x']; DELETE FROM orders -- '",
	"SELECT 1 AS [x']; VACUUM INTO '{new}' -- '",
	// other quotes, comments and characters
	"SELECT 1 AS \"x'\"; {read} -- '", "SELECT 1 AS `x'`; {read} -- '", "SELECT 'a''b'; {read}",
	"SELECT 1 -- '\r; {read} --'", "SELECT 1 /* ' */; {read} -- '", "SELECT 1 /*; {read} --",
	"SELECT 1 /* /* */; {read} -- */", "SELECT E'\\''; {read} -- '", "SELECT $$'$$; {read} -- '",
	"SELECT $a$'; {read} -- '", "SELECT 1\x00; {read}", "SELECT 1;\x00{read}", "\ufeff{read}",
	"SELECT 1\u200b; {read}", "SELECT 1\uff1b {read}", "SELECT \u2018'\u2019; {read} -- '",
	"SELECT '\xff'; {read} -- '\xff'", "```sql\nSELECT 1 AS [```'\n```]; {read} -- '\n```",
	// without smuggling
	"{read}", "ATTACH DATABASE 'file:{host}?mode=ro' AS o; SELECT * FROM o.users",
	"/**/ATTACH/**/'{host}'/**/AS/**/o; SELECT * FROM o.users", "EXPLAIN {read}",
	"ATTACH '{new}' AS n; CREATE TABLE n.x (a)", "ATTACH ':memory:' AS m; CREATE TABLE m.x AS SELECT 1",
	"ATTACH '' AS m", "DETACH main", "VACUUM", "VACUUM INTO '{new}'", "VACUUM main INTO '{new}'", "REINDEX",
	"ANALYZE", "PRAGMA query_only=0; DELETE FROM orders", "PRAGMA query_only(0); UPDATE orders SET id = 7",
	"PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql = ''", "PRAGMA journal_mode=DELETE",
	"PRAGMA journal_mode", "PRAGMA user_version=7", "PRAGMA application_id=7", "PRAGMA schema_version=7",
	"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA temp_store_directory='/tmp'", "PRAGMA hard_heap_limit=1",
	"PRAGMA soft_heap_limit=1", "PRAGMA database_list", "SELECT * FROM pragma_database_list",
	"PRAGMA mmap_size=1000000000", "PRAGMA locking_mode=EXCLUSIVE; SELECT * FROM orders",
	"PRAGMA trusted_schema=1", "PRAGMA incremental_vacuum", "PRAGMA optimize", "PRAGMA busy_timeout=1000000",
	"SELECT load_extension('{host}')", "SELECT load_extension('/lib/x86_64-linux-gnu/libc.so.6')",
	"SELECT readfile('{host}')", "SELECT writefile('{new}', 'x')", "SELECT edit('x', 'cp {host} {new}')",
	"SELECT * FROM fsdir('/')", "SELECT fts3_tokenizer('simple', x'4141414141414141')",
	"SELECT data FROM sqlite_dbpage", "UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 1",
	"CREATE VIRTUAL TABLE temp.f USING fts5(a)", "CREATE VIRTUAL TABLE temp.s USING dbstat",
	"CREATE VIRTUAL TABLE temp.c USING csv(filename='{host}')", "CREATE VIRTUAL TABLE temp.r USING rtree(a,b,c)",
	"CREATE TEMP TABLE t AS SELECT 1", "CREATE TEMP VIEW v AS SELECT 1", "CREATE TABLE t (a)",
	"CREATE TEMP TRIGGER g AFTER INSERT ON orders BEGIN SELECT 1; END", "INSERT INTO orders VALUES (7, 7)",
	"REPLACE INTO orders VALUES (7, 7)", "UPDATE orders SET id = 7", "DELETE FROM orders", "DROP TABLE orders",
	"ALTER TABLE orders RENAME TO gone", "WITH x AS (SELECT 1) DELETE FROM orders",
	"EXPLAIN QUERY PLAN DELETE FROM orders", "INSERT INTO orders VALUES (7, 7) RETURNING id",
	"INSERT INTO words(words) VALUES ('rebuild')", "BEGIN; DELETE FROM orders; COMMIT", "BEGIN IMMEDIATE",
	"BEGIN EXCLUSIVE", "SAVEPOINT a; DELETE FROM orders; RELEASE a", "COMMIT", "END", "ROLLBACK",
	"SELECT * FROM main.orders, o.users", "SELECT * FROM temp.sqlite_schema; SELECT * FROM \"{host}\".users",
}

// sqliteAttack returns an attack on the records at host.
func sqliteAttack(text, host, fresh string) string {
	text = strings.ReplaceAll(text, "{read}", "ATTACH '{host}' AS o; SELECT * FROM o.users")
	return strings.NewReplacer("{host}", host, "{new}", fresh).Replace(text)
}

// TestAttacksOnSQLiteFiles runs attacks by nodes that only read and by those that may write: both
// see the file that the node names and change nothing.
func TestAttacksOnSQLiteFiles(t *testing.T) {
	for _, mayWrite := range []bool{false, true} {
		for _, journal := range []string{"DELETE", "WAL"} {
			t.Run(fmt.Sprintf("write %v, journal %s", mayWrite, journal), func(t *testing.T) {
				dir, host := t.TempDir(), t.TempDir()
				records, fresh := filepath.Join(host, "easel.db"), filepath.Join(host, "new.db")
				makeDatabase(t, records, "CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('"+hostMark+"')")
				makeDatabase(t, filepath.Join(dir, "shop.db"), "PRAGMA journal_mode="+journal+
					"; CREATE TABLE orders (id INTEGER, price NUMERIC); INSERT INTO orders VALUES (1, 9.5);"+
					"CREATE VIRTUAL TABLE words USING fts5(a); INSERT INTO words VALUES ('tea')")
				r := &Runner{Dir: dir}
				s := Settings{Kind: "sqlite", Database: "shop.db", Write: mayWrite}
				require.Equal(t, "9.5", sqliteCell(t, r, s, "SELECT price FROM orders"))
				folder, outside := contents(t, dir), contents(t, host)
				for _, text := range sqliteAttacks {
					text = sqliteAttack(text, records, fresh)
					require.NotContains(t, resultTexts(r.Run(t.Context(), &s, text)), hostMark, text)
					require.Equal(t, outside, contents(t, host), text)
					require.Equal(t, folder, contents(t, dir), text)
				}
				require.Equal(t, "[[1]]", sqliteRows(t, r, s, "SELECT id FROM orders"))
				require.Equal(t, `[["tea"]]`, sqliteRows(t, r, s, "SELECT * FROM words WHERE words MATCH 'tea'"))
			})
		}
	}
}

// sqliteRows returns the rows of a statement as JSON.
func sqliteRows(t *testing.T, r *Runner, s Settings, statement string) string {
	t.Helper()
	results, err := r.Run(t.Context(), &s, statement)
	require.NoError(t, err)
	require.Len(t, results, 1)
	require.NoError(t, results[0].Err, statement)
	rows := make([]string, len(results[0].Rows))
	for i, row := range results[0].Rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = cell.JSON()
		}
		rows[i] = "[" + strings.Join(cells, ",") + "]"
	}
	return "[" + strings.Join(rows, ",") + "]"
}

func sqliteCell(t *testing.T, r *Runner, s Settings, statement string) string {
	t.Helper()
	return strings.Trim(sqliteRows(t, r, s, statement), "[]")
}
