package sqltext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// show writes segments with {} for holes and <> around values.
func show(list []Segment) string {
	var b strings.Builder
	for _, s := range list {
		if s.Bound {
			s.Text = "<" + s.Text + ">"
		}
		b.WriteString(s.Text)
	}
	return strings.ReplaceAll(b.String(), Hole, "{}")
}

func TestHolesInStringsAreValues(t *testing.T) {
	for _, c := range []struct {
		d          Dialect
		text, want string
	}{
		{PostgreSQL, "SELECT 1", "SELECT 1"},
		{PostgreSQL, "SELECT '{}'", "SELECT <{}>"},
		{PostgreSQL, "a = '{}' AND b LIKE '%{}_{}%' OR c = {}", "a = <{}> AND b LIKE <%{}_{}%> OR c = {}"},
		{PostgreSQL, "a = 'it''s {}'", "a = <it's {}>"},
		{PostgreSQL, "a = '{}''' AND b", "a = <{}'> AND b"},
		{PostgreSQL, "-- '{}'\n/* '{}' */ $$'{}'$$ E'{}' U&'{}'", "-- '{}'\n/* '{}' */ $$'{}'$$ E'{}' U&'{}'"},
		{PostgreSQL, `"{}" x'{}'`, `"{}" x'{}'`},
		{PostgreSQL, `a = '\{}'`, `a = <\{}>`},
		{PostgreSQL, "d > DATE '{}'", "d > CAST(<{}> AS DATE)"},
		{PostgreSQL, "e < interval '{} days' + 1", "e < CAST(<{} days> AS INTERVAL) + 1"},
		{PostgreSQL, "a = '{}", "a = '{}"},
		{MySQL, `a = "{}" AND b = 'x\'{}\n\%'`, "a = <{}> AND b = <x'{}\n\\%>"},
		{MySQL, "a = `{}` # '{}'", "a = `{}` # '{}'"},
		{MySQL, "TIMESTAMP '{}' + INTERVAL '{}' DAY", "CAST(<{}> AS DATETIME) + INTERVAL <{}> DAY"},
		{SQLite, `a = [{}'] AND b = '{}' AND c = "{}"`, `a = [{}'] AND b = <{}> AND c = "{}"`},
		{SQLite, "date '{}'", "date <{}>"},
	} {
		require.Equal(t, c.want, show(Template(strings.ReplaceAll(c.text, "{}", Hole), c.d)), c.text)
	}
}

// All but the strings that are bound stays as it is, also of statements that are not SQL.
func FuzzTemplate(f *testing.F) {
	f.Add("SELECT 'it''s \x00' FROM t WHERE d = DATE '\x00'")
	f.Add(`a "\x00\" 'E'`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range []Dialect{PostgreSQL, MySQL, SQLite} {
			holes := 0
			list := Template(s, d)
			for _, part := range list {
				holes += strings.Count(part.Text, Hole)
			}
			require.Equal(t, strings.Count(s, Hole), holes)
			if len(list) == 1 {
				require.Equal(t, s, list[0].Text)
			}
		}
	})
}
