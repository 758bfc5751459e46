package sql

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// template returns a statement whose every second part is a value.
func template(parts ...string) engine.Value {
	list := make([]engine.Value, len(parts))
	for i, text := range parts {
		list[i] = engine.String(text)
		if i%2 == 1 {
			list[i] = engine.Object("value", text)
		}
	}
	return engine.List(list...)
}

// Values of a template are values for every database, whatever they contain.
func TestValuesAreBound(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "people.db"), "CREATE TABLE people (id INTEGER, name TEXT, born DATE);"+
		"INSERT INTO people VALUES (1, 'O''Neil', '1970-01-02'), (2, 'Ann', '1980-01-02')")
	all := servers(t)
	for _, s := range all {
		write(t, s, "DROP TABLE IF EXISTS people; CREATE TABLE people (id INTEGER, name VARCHAR(40), born DATE);"+
			"INSERT INTO people VALUES (1, 'O''Neil', '1970-01-02'), (2, 'Ann', '1980-01-02')")
	}
	all["sqlite"] = Settings{Kind: "sqlite", Database: "people.db", Port: 1}
	r := &Runner{Network: anywhere{}, Dir: dir}
	for kind, s := range all {
		t.Run(kind, func(t *testing.T) {
			params := engine.Object("db_type", s.Kind, "host", s.Host, "port", s.Port, "username", s.User,
				"password", s.Password, "database", s.Database)
			call := func(parts ...string) string {
				out, err := r.Call(t.Context(), params, engine.Object("sql", "-", "template", template(parts...)))
				require.NoError(t, err)
				return out.Get("json").JSON()
			}
			const none = `[[{"content":"No record in the database!"}]]`
			require.Equal(t, `[[{"id":1}]]`, call("SELECT id FROM people WHERE name = ", "O'Neil", ""))
			require.Equal(t, none, call("SELECT id FROM people WHERE name = ", "' OR 1=1 --", ""))
			require.Equal(t, none, call("SELECT id FROM people WHERE name = ", `\' OR 1=1 #`, ""))
			require.Equal(t, none, call("SELECT id FROM people WHERE name = ", "x'; DROP TABLE people; --", ""))
			require.Equal(t, `[[{"id":1}],[{"id":2}]]`, call("SELECT id FROM people WHERE name LIKE ", "%'%",
				" AND id = ", "1", "; /* c */ SELECT id FROM people WHERE name = ", "Ann", " AND born > ",
				"1975-01-01", " -- d"))
			require.Equal(t, `[[{"a":"?","b":"x; $1"}]]`, call("SELECT '?' AS a, ", "x; $1", " AS b"))
			_, err := r.Call(t.Context(), params,
				engine.Object("sql", "-", "template", template("SELECT ", "a\x00b", "")))
			require.ErrorContains(t, err, "NUL character")
		})
	}
	require.Equal(t, "2", cell(t, all["postgres"], "SELECT count(*) FROM people"))
}

// Cells of a statement with values have the same form as those of one without.
func TestCellsOfBoundStatements(t *testing.T) {
	for kind, s := range servers(t) {
		t.Run(kind, func(t *testing.T) {
			for _, expr := range []string{
				"9007199254740993", "CAST(12345678901234567890.12 AS DECIMAL(30,2))", "DATE '2026-02-03'",
				"TIMESTAMP '2026-02-03 04:05:06'", "TIME '04:05:06'", "NULL", "1.5", "1.5e0",
				"CAST('x' AS CHAR(1))",
			} {
				plain := cell(t, s, "SELECT "+expr)
				text, bound, err := assemble("", template("SELECT "+expr+", ", "x", ""))
				require.NoError(t, err)
				results, err := runner.run(t.Context(), &s, text, bound)
				require.NoError(t, err)
				require.NoError(t, results[0].Err)
				require.Equal(t, plain, results[0].Rows[0][0].JSON(), expr)
			}
		})
	}
}
