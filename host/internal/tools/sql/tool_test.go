package sql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestOutputsOfANode(t *testing.T) {
	s := postgres(t)
	params := engine.Object(
		"db_type",
		"postgres",
		"host",
		s.Host,
		"port",
		s.Port,
		"username",
		s.User,
		"database",
		s.Database,
	)
	call := func(text string) engine.Value {
		out, err := runner.Call(t.Context(), params, engine.Object("sql", text))
		require.NoError(t, err)
		return out
	}
	out := call("SELECT 1 AS id, 'a|b' AS name UNION SELECT 2, NULL ORDER BY 1; SELECT 3 AS x, 4 AS x")
	require.Equal(t, `[[{"id":1,"name":"a|b"},{"id":2,"name":null}],[{"x":3,"x_2":4}]]`, out.Get("json").JSON())
	require.Equal(t, "| id | name |\n| --- | --- |\n| 1 | a\\|b |\n| 2 |  |\n\n| x | x_2 |\n| --- | --- |\n| 3 | 4 |",
		out.Get("formalized_content").Text())

	out = call("DELETE FROM x; SELECT nothing; SELECT 1 AS one WHERE false; SELECT 5")
	require.Equal(t, 3, out.Get("json").Len(), "a result without rows is the last")
	require.Contains(
		t,
		out.Get("formalized_content").Text(),
		"SQL Execution Failed: statement is not allowed: this node only reads (DELETE)\n\n",
	)
	require.Contains(t, out.Get("formalized_content").Text(), "\n\nNo record in the database!")

	_, err := runner.Call(t.Context(), params, engine.Object("sql", " "))
	require.EqualError(t, err, "sql is empty; it needs at least one statement")
}

func TestSettingsAreChecked(t *testing.T) {
	for json, want := range map[string]string{
		`{"db_type":"oracle","database":"d"}`: `unknown kind of database: db_type "oracle" ` +
			`(one of postgres, mysql, mariadb, oceanbase, sqlite)`,
		`{"db_type":"mysql"}`:                           "connection settings: database is empty",
		`{"db_type":"mysql","database":"d"}`:            "connection settings: host is empty",
		`{"db_type":"mysql","database":"d","host":"h"}`: "connection settings: username is empty",
		`{"db_type":"mysql","port":"70000"}`: `connection settings: ` +
			`port "70000" is not an integer from 1 to 65535`,
		`{"db_type":"mysql","max_records":-1}`: `connection settings: ` +
			`max_records "-1" is not an integer from 1 to 100000`,
		`{"database":"d","host":"h","username":"u","port":"3307"}`: "",
	} {
		params, err := engine.ParseJSONText(json)
		require.NoError(t, err)
		if s, err := SettingsOf(params); want == "" {
			require.NoError(t, err)
			require.Equal(t, "h:3307", s.address())
		} else {
			require.EqualError(t, err, want)
		}
	}
}
