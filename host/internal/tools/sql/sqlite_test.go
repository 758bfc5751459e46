package sql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
)

func TestSQLiteFiles(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "shop.db"),
		"CREATE TABLE orders (id INTEGER, price NUMERIC); INSERT INTO orders VALUES (1, 9.5), (2, NULL)")
	r := &Runner{Dir: dir}
	s := Settings{Kind: "sqlite", Database: "shop.db"}
	results, err := r.Run(t.Context(), &s, "SELECT * FROM orders; DELETE FROM orders; ATTACH 'x.db' AS x")
	require.NoError(t, err)
	require.Len(t, results, 3)
	require.Equal(t, "9.5", results[0].Rows[0][1].JSON())
	require.EqualError(t, results[1].Err, "statement is not allowed: SQLite files are only read (DELETE)")
	require.EqualError(t, results[2].Err,
		"statement is not allowed: SQLite files are only read: not authorized (ATTACH)")

	s.Write = true // the file stays as it is
	results, err = r.Run(t.Context(), &s, "DELETE FROM orders")
	require.NoError(t, err)
	require.ErrorIs(t, results[0].Err, ErrSQLite)

	for _, name := range []string{"../../shop.db", "/etc/passwd", "gone.db", ".", "shop.db?mode=rw", ":memory:", ""} {
		_, err := r.Run(t.Context(), &Settings{Kind: "sqlite", Database: name}, "SELECT 1")
		require.Error(t, err, name)
	}
	_, err = (&Runner{}).Run(t.Context(), &Settings{Kind: "sqlite", Database: "shop.db"}, "SELECT 1")
	require.ErrorIs(t, err, ErrDriver)

	s.Write = false
	results, err = r.Run(t.Context(), &s, "SELECT zeroblob(900000000)")
	require.NoError(t, err)
	require.ErrorContains(t, results[0].Err, "too big")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = r.Run(ctx, &s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// What reads a file works as before, also where a module of SQLite prepares statements itself.
func TestSQLiteFilesAreReadInAllWays(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "shop.db"), `
		CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE, price NUMERIC, tags TEXT);
		INSERT INTO orders VALUES (1, '2026-02-03', 9.5, '["a","b"]'), (2, '2026-02-04', 3, '[]');
		CREATE INDEX by_day ON orders (day); ANALYZE;
		CREATE VIEW dear AS SELECT id FROM orders WHERE price > 5;
		CREATE TABLE parts (id INTEGER REFERENCES orders (id)) STRICT;
		CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('green tea'), ('black tea');
		CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1); INSERT INTO boxes VALUES (1, 0, 10), (2, 20, 30);
		CREATE VIRTUAL TABLE shapes USING geopoly(name);
		INSERT INTO shapes(_shape, name) VALUES ('[[0,0],[1,0],[0,1],[0,0]]', 'triangle');
		CREATE TABLE "semi;colon" ("a'b" INTEGER); INSERT INTO "semi;colon" VALUES (7)`)
	r, s := &Runner{Dir: dir}, Settings{Kind: "sqlite", Database: "shop.db"}
	for _, c := range [][2]string{
		{"SELECT day, price FROM orders ORDER BY id", `[["2026-02-03",9.5],["2026-02-04",3]]`},
		{"SELECT * FROM dear", "[[1]]"},
		{"SELECT text FROM words WHERE words MATCH 'green'", `[["green tea"]]`},
		{"SELECT count(*) FROM words_data WHERE id > 100", "[[1]]"},
		{"SELECT id FROM boxes WHERE x0 < 5 AND x1 > 5", "[[1]]"},
		{
			"SELECT name FROM shapes WHERE geopoly_within(_shape, '[[-1,-1],[2,-1],[2,2],[-1,2],[-1,-1]]')",
			`[["triangle"]]`,
		},
		{"SELECT e.value FROM orders, json_each(tags) e WHERE orders.id = 1", `[["a"],["b"]]`},
		{"SELECT sum(price) OVER (ORDER BY id) FROM orders", "[[9.5],[12.5]]"},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3) SELECT * FROM n", "[[1],[2],[3]]"},
		{"VALUES (1), (2)", "[[1],[2]]"},
		{"SELECT name FROM pragma_table_info('orders') WHERE pk", `[["id"]]`},
		{"SELECT name FROM pragma_index_list('orders')", `[["by_day"]]`},
		{`SELECT "table" FROM pragma_foreign_key_list('parts')`, `[["orders"]]`},
		{"PRAGMA index_info(by_day)", `[[0,1,"day"]]`},
		{"SELECT tbl FROM sqlite_stat1", `[["orders"]]`},
		{"SELECT count(*) FROM sqlite_schema WHERE name = 'dear'", "[[1]]"},
		{"SELECT sum(pgsize) > 0 FROM dbstat", "[[1]]"},
		{"SELECT [a'b] FROM [semi;colon]", "[[7]]"},
		{"SELECT `a'b` FROM \"semi;colon\" -- ; x", "[[7]]"},
		{"/* ; */ SELECT 'a;b', ';';", `[["a;b",";"]]`},
		// a sort that does not fit into the page cache
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200000) SELECT i FROM n " +
			"ORDER BY hex(i) || '0123456789012345678901234567890123456789', i DESC LIMIT 1", "[[1]]"},
	} {
		require.Equal(t, c[1], sqliteRows(t, r, s, c[0]), c[0])
	}
	results, err := r.Run(t.Context(), &s,
		"EXPLAIN QUERY PLAN SELECT * FROM orders WHERE day = 'x'; SELECT 1 AS [a;b]; SELECT 2")
	require.NoError(t, err)
	require.Len(t, results, 3)
	require.Contains(t, resultTexts(results[:1], nil), "orders")
	require.Equal(t, []string{"a;b"}, results[1].Columns)
	require.Equal(t, "2", results[2].Rows[0][0].JSON())
}

// The check of a text depends on nothing that the package itself reads in it.
func TestSQLiteRefusesSecondStatements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	makeDatabase(t, file, "CREATE TABLE orders (id INTEGER)")
	r := &Runner{Dir: filepath.Dir(file)}
	c, err := r.connect(t.Context(), &Settings{Kind: "sqlite", Database: "shop.db"}, sqliteFile)
	require.NoError(t, err)
	defer c.close()
	for text, want := range map[string]error{
		"SELECT 1": nil, "SELECT 1 -- x": nil, "SELECT 1 /* ; */": nil, "SELECT * FROM orders WHERE id = ';'": nil,
		"SELECT 1; SELECT 2": ErrStatements, "SELECT 1; -- x": ErrStatements, "SELECT 1; broken": ErrStatements,
		"SELECT 1 AS [x']; SELECT 2 --'": ErrStatements, "DELETE FROM orders; SELECT 1": ErrStatements,
		"DELETE FROM orders":     ErrSQLite,
		"ATTACH ':memory:' AS m": ErrSQLite, "PRAGMA user_version": ErrSQLite, "BEGIN": ErrSQLite,
	} {
		require.ErrorIs(t, checkSQLite(c.conn, text), want, text)
	}
	require.EqualError(t, checkSQLite(c.conn, "-- x"), "no statement")
	require.EqualError(t, checkSQLite(c.conn, "SELECT * FROM gone"), "SQL logic error: no such table: gone (1)")
}

// A version of the driver without the handle must refuse SQLite files, not open them unguarded.
func TestHandleOfTheDriver(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.Raw(func(c any) error {
		require.Equal(t, reflect.Uintptr, reflect.ValueOf(c).Elem().FieldByName("db").Kind())
		return nil
	}))
	wanted := errors.New("called")
	require.ErrorIs(t, withHandle(conn, func(*libc.TLS, uintptr) error { return wanted }), wanted)
}

// The data directory of a host and its files are refused as a folder of databases under every name.
func TestFolderShowsNothingOfTheHost(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"host/data", "sql", "linked", "hard", "wal", "other"} {
		require.NoError(t, os.MkdirAll(at(dir), 0o700))
	}
	makeDatabase(t, at("host/data/easel.db"),
		"CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('"+hostMark+"')")
	makeDatabase(t, at("sql/shop.db"), "CREATE TABLE orders (id INTEGER)")
	makeDatabase(t, at("wal/shop.db"), "CREATE TABLE orders (id INTEGER)")
	require.NoError(t, os.WriteFile(at("host/data/easel.db-wal"), []byte("x"), 0o600))
	require.NoError(t, os.Symlink(at("host"), at("to-host")))
	require.NoError(t, os.Symlink(at("host/data"), at("to-data")))
	require.NoError(t, os.Symlink(at("hard"), at("to-hard")))
	require.NoError(t, os.Symlink(at("host/data/easel.db"), at("linked/shop.db")))
	require.NoError(t, os.Symlink(at("host/data"), at("linked/data")))
	require.NoError(t, os.Link(at("host/data/easel.db"), at("hard/shop.db")))
	require.NoError(t, os.Link(at("host/data/easel.db-wal"), at("wal/shop.db-wal")))

	data := at("host/data")
	for dir, name := range map[string]string{
		at("host/data"): "easel.db", at("host"): "data/easel.db", root: "host/data/easel.db",
		at("to-host"): "data/easel.db", at("to-data"): "easel.db", at("sql/../host"): "data/easel.db",
		at("hard"): "shop.db", at("to-hard"): "shop.db", at("wal"): "shop.db",
	} {
		for _, hostDir := range []string{data, at("to-data"), at("to-host/data")} {
			require.ErrorIs(t, CheckFolder(dir, hostDir), ErrFolder, dir)
			r := &Runner{Dir: dir, HostDir: hostDir}
			_, err := r.Run(t.Context(), &Settings{Kind: "sqlite", Database: name}, "SELECT * FROM users")
			require.ErrorIs(t, err, ErrFolder, dir)
			require.NotContains(t, err.Error(), hostMark)
		}
	}
	require.ErrorContains(t, CheckFolder(root, data), "contains the data directory "+data)
	require.ErrorContains(t, CheckFolder(at("hard"), data),
		at("hard/shop.db")+" is "+at("host/data/easel.db")+" of the host")

	// Links out of the folder lead nowhere.
	require.NoError(t, CheckFolder(at("linked"), data))
	r := &Runner{Dir: at("linked"), HostDir: data}
	for _, name := range []string{"shop.db", "data/easel.db", "../host/data/easel.db", data + "/easel.db"} {
		_, err := r.Run(t.Context(), &Settings{Kind: "sqlite", Database: name}, "SELECT * FROM users")
		require.ErrorContains(t, err, "escapes", name)
	}

	for _, dir := range []string{"", at("sql"), at("gone")} {
		require.NoError(t, CheckFolder(dir, data))
		require.NoError(t, CheckFolder(dir, at("missing/data")))
		require.NoError(t, CheckFolder(dir, ""))
	}
	require.NoError(t, os.MkdirAll(at("host/data/sql"), 0o700))
	require.NoError(t, CheckFolder(at("host/data/sql"), data), "nothing of the host is there")
	for range 2 { // before and after the first start
		require.ErrorIs(t, CheckFolder(at("new"), at("new/data/below")), ErrFolder)
		require.ErrorIs(t, CheckFolder(at("new/data"), at("new/data")), ErrFolder)
		require.NoError(t, os.MkdirAll(at("new/data"), 0o700))
	}
}

// FuzzSQLite runs texts on a file next to records of a host: it shows none of them and changes
// nothing, and a text that SQLite would split is refused as one statement.
func FuzzSQLite(f *testing.F) {
	for _, text := range sqliteAttacks {
		f.Add(sqliteAttack(text, "easel.db", "new.db"))
	}
	host, dir := f.TempDir(), f.TempDir()
	f.Chdir(host) // where SQLite finds names without a path
	file, records := filepath.Join(dir, "shop.db"), filepath.Join(host, "easel.db")
	makeDatabase(f, file, "CREATE TABLE orders (id INTEGER, price NUMERIC); INSERT INTO orders VALUES (1, 9.5)")
	makeDatabase(f, records, "CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('"+hostMark+"')")
	before, err := os.ReadFile(file)
	require.NoError(f, err)
	r, s := &Runner{Dir: dir, HostDir: host, Timeout: time.Second}, &Settings{Kind: "sqlite", Database: "shop.db"}
	c, err := r.connect(f.Context(), s, sqliteFile)
	require.NoError(f, err)
	f.Cleanup(c.close)
	f.Fuzz(func(t *testing.T, text string) {
		require.NotContains(t, resultTexts(r.Run(t.Context(), s, text)), hostMark)
		// Nothing is behind a NUL or in an open comment.
		if !strings.ContainsRune(text, 0) && !strings.Contains(text, "/*") && checkSQLite(c.conn, text) == nil {
			require.ErrorIs(t, checkSQLite(c.conn, text+"\n;SELECT 1"), ErrStatements)
		}
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after), text)
		entries, err := os.ReadDir(host)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	})
}
