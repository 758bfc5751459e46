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
		"SELECT 1 -- an end\r; SELECT 3":        {"SELECT 1 -- an end", "SELECT 3"},
		"SELECT 1 /* ; /* ; */ ; */ ; SELECT 3": {"SELECT 1 /* ; /* ; */ ; */", "SELECT 3"},
		"SELECT $$;$$, $a$;$$;$a$; SELECT $1":   {"SELECT $$;$$, $a$;$$;$a$", "SELECT $1"},
		"SELECT $é$;$é$, $_1$;$_1$; SELECT 2":   {"SELECT $é$;$é$, $_1$;$_1$", "SELECT 2"},
		"SELECT 1 AS a$$; SELECT 2 AS é$x$":     {"SELECT 1 AS a$$", "SELECT 2 AS é$x$"},
		`SELECT E'\';', e'\\'; SELECT 2`:        {`SELECT E'\';', e'\\'`, "SELECT 2"},
		"SELECT E'a' \n '\\';'; SELECT 2":       {"SELECT E'a' \n '\\';'", "SELECT 2"},
		`SELECT '\', ';'; SELECT 2`:             {`SELECT '\', ';'`, "SELECT 2"},
		`SELECT U&'\0027;'; SELECT 2`:           {`SELECT U&'\0027;'`, "SELECT 2"},
		"```sql\nSELECT 1;\n```":                {"SELECT 1"},
		"SELECT 1 [ID:3]; -- only a comment":    {"SELECT 1"},
		"SELECT 'open":                          {"SELECT 'open"},
		"":                                      nil,
		"-- nothing":                            nil,
	} {
		require.Equal(t, want, statements(text, postgreSQL), text)
	}
	for text, want := range map[string][]string{
		`SELECT 'a\';b'; SELECT 2 # x;y`:        {`SELECT 'a\';b'`, "SELECT 2 # x;y"},
		"SELECT `a;b`":                          {"SELECT `a;b`"},
		"/*!SELECT 1*/":                         {"/*!SELECT 1*/"},
		"/*M!SELECT 1*/; /* x */":               {"/*M!SELECT 1*/"},
		"SELECT 1--1; SELECT 2--\t;":            {"SELECT 1--1", "SELECT 2--\t;"},
		"SELECT 1 AS a$$; SELECT 2 AS [x'; y']": {"SELECT 1 AS a$$", "SELECT 2 AS [x'; y']"},
	} {
		require.Equal(t, want, statements(text, mySQL), text)
	}
	for text, want := range map[string][]string{
		"SELECT [a;b], [c'd]; SELECT ']'":    {"SELECT [a;b], [c'd]", "SELECT ']'"},
		"SELECT `a;b`, \"c;d\", 'e\\'; --;":  {"SELECT `a;b`, \"c;d\", 'e\\'"},
		"SELECT 1 /* /* ; */; SELECT $$;$$":  {"SELECT 1 /* /* ; */", "SELECT $$", "$$"},
		"SELECT 1 -- a\r; b\n; SELECT E'\\'": {"SELECT 1 -- a\r; b", "SELECT E'\\'"},
	} {
		require.Equal(t, want, statements(text, sqliteFile), text)
	}
}

// A server reads the word that was checked first, whatever it takes for a comment.
func TestReadingStatementsBeginWithTheirWord(t *testing.T) {
	for text, want := range map[string]string{
		"select 1": "select 1", "(SELECT 1)": "(SELECT 1)", "( ( select 1))": "((select 1))",
		"/* a */ -- b\n SELECT 1": "SELECT /* a */-- b\n 1", "( /*+ hint */ SELECT 1)": "(SELECT /*+ hint */ 1)",
		"SHOW TABLES": "SHOW TABLES", "explain select 1": "explain select 1",
	} {
		for _, k := range []kind{postgreSQL, mySQL} {
			got, _, ok := reading(text, k)
			require.True(t, ok, text)
			require.Equal(t, want, got)
		}
	}
	got, _, ok := reading("-- \rDO $$ $$ /*\nSELECT */", mySQL)
	require.True(t, ok)
	require.Equal(t, "SELECT -- \rDO $$ $$ /*\n */", got)
	for _, text := range []string{
		"insert into x values (1)", "selectx", "/*!50000 DELETE FROM x */", "/*M! DELETE FROM x */ SELECT 1", "", "()",
		"-- x", "/* x", "PRAGMA user_version", "\ufeffSELECT 1", "ＳＥＬＥＣＴ 1", "1 SELECT", "'SELECT'", "{SELECT 1}",
		"CALL x()", "SET x = 1",
	} {
		_, _, ok := reading(text, mySQL)
		require.False(t, ok, text)
	}
}

// The pieces are the text without what separates them.
func FuzzStatements(f *testing.F) {
	f.Add("SELECT ';' ; $$;$$ /* ; */ -- x\n;`y;`", uint8(0))
	f.Add("'\\';#;\n/*!;*/", uint8(1))
	f.Add("E'\\'' ; a$$ ; $é$;$é$ --\r;", uint8(0))
	f.Add("[x'];'[;]'", uint8(2))
	f.Fuzz(func(t *testing.T, text string, number uint8) {
		k := kind(number % 3)
		rest := citation.ReplaceAllString(fence.ReplaceAllString(text, " "), " ")
		separates := func(gap string) bool {
			for {
				gap = strings.TrimLeft(withoutComments(gap, k), ";")
				if gap == withoutComments(gap, k) && !strings.HasPrefix(gap, ";") {
					return gap == ""
				}
			}
		}
		for _, piece := range statements(text, k) {
			require.NotEmpty(t, withoutComments(piece, k))
			require.Equal(t, strings.TrimSpace(piece), piece)
			at := strings.Index(rest, piece)
			for at >= 0 && !separates(rest[:at]) { // the piece is also part of a comment before it
				next := strings.Index(rest[at+1:], piece)
				require.NotEqual(t, -1, next, "%q is not the next of %q", piece, rest)
				at += 1 + next
			}
			require.NotEqual(t, -1, at, "%q is not in %q", piece, rest)
			rest = rest[at+len(piece):]
			sent, first, ok := reading(piece, k)
			if ok {
				require.True(t, strings.HasPrefix(strings.ToUpper(strings.TrimLeft(sent, "(")), first), sent)
			}
			require.LessOrEqual(t, len(sent), len(piece)+1)
		}
		require.True(t, separates(rest), rest)
	})
}
