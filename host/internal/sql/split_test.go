package sql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatementsEndOutsideOfQuotes(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1; SELECT 2":                    {"SELECT 1", "SELECT 2"},
		";; SELECT 1 ;":                         {"SELECT 1"},
		"SELECT ';', \"a;b\"; SELECT 2":         {`SELECT ';', "a;b"`, "SELECT 2"},
		"SELECT 'it''s; fine'; SELECT 2":        {"SELECT 'it''s; fine'", "SELECT 2"},
		"SELECT 1 -- no; end\n, 2; SELECT 3":    {"SELECT 1 -- no; end\n, 2", "SELECT 3"},
		"SELECT 1 /* ; /* ; */ ; */ ; SELECT 3": {"SELECT 1 /* ; /* ; */ ; */", "SELECT 3"},
		"SELECT $$;$$, $a$;$$;$a$; SELECT $1":   {"SELECT $$;$$, $a$;$$;$a$", "SELECT $1"},
		"```sql\nSELECT 1;\n```":                {"SELECT 1"},
		"SELECT 1 [ID:3]; -- only a comment":    {"SELECT 1"},
		"SELECT 'open":                          {"SELECT 'open"},
		"":                                      nil,
		"-- nothing":                            nil,
	} {
		require.Equal(t, want, statements(text, postgreSQL), text)
	}
	require.Equal(t, []string{`SELECT 'a\';b'`, "SELECT 2 # x;y"}, statements(`SELECT 'a\';b'; SELECT 2 # x;y`, mySQL))
	require.Equal(t, []string{"SELECT `a;b`"}, statements("SELECT `a;b`", mySQL))
	require.Equal(t, []string{"/*!SELECT 1*/"}, statements("/*!SELECT 1*/", mySQL))
}

func TestReadOnlyStatementsAreRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1": true, "(SELECT 1)": true, "( ( select 1))": true, "/* a */ -- b\n SELECT 1": true,
		"SHOW TABLES":              true,
		"insert into x values (1)": false, "selectx": false, "/*!50000 DELETE FROM x */": false, "": false,
		"SELECT 1 INTO  OUTFILE 'x'": false, "PRAGMA user_version": false,
	} {
		_, ok := reads(text, mySQL)
		require.Equal(t, want, ok, text)
	}
}

func FuzzStatements(f *testing.F) {
	f.Add("SELECT ';' ; $$;$$ /* ; */ -- x\n;`y;`", uint8(0))
	f.Add("'\\';#;\n/*!;*/", uint8(1))
	f.Fuzz(func(t *testing.T, text string, k uint8) {
		size := 0
		for _, s := range statements(text, kind(k%3)) {
			require.NotEmpty(t, strings.TrimSpace(s))
			reads(s, kind(k%3))
			size += len(s)
		}
		require.LessOrEqual(t, size, len(text)+1)
	})
}
