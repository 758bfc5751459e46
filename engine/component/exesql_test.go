package component

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// askedTools remembers the arguments of the last call.
type askedTools struct{ args engine.Value }

func (a *askedTools) CallTool(_ context.Context, c *engine.ExternalCall) (engine.Value, error) {
	a.args = c.Arguments
	return engine.Object(), nil
}

// References in strings of the node's own statements are passed as values, all others as text.
func TestExeSQLPassesValues(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                   "null",
		"{sys.query}":                "null",
		"SELECT {sys.query}":         "null",
		"SELECT '{sys.query}', 1":    `["SELECT ",{"value":"O'Neil"},", 1"]`,
		"LIKE '%{sys.query}_''' + 1": `["LIKE ",{"value":"%O'Neil_'"}," + 1"]`,
		`n = {sys.query} OR a = "{sys.query} {{sys.query}}"`: `["n = O'Neil OR a = ",{"value":"O'Neil O'Neil"},""]`,
	} {
		tools := &askedTools{}
		params := engine.Object("sql", sql, "db_type", "mariadb").JSON()
		s := run(t, node(t, "ExeSQL", params, ""), nil, "O'Neil", engine.Null, engine.Ports{Tools: tools})
		require.NoError(t, s.err)
		require.Equal(t, want, tools.args.Get("template").JSON(), sql)
	}
}

func TestExeSQLWarnsOfReferencesOutsideQuotes(t *testing.T) {
	for sql, want := range map[string]int{
		"SELECT '{sys.query}'": 0, "{sys.query}": 0, "SELECT {sys.query}": 1, `"{sys.query}"`: 1,
		"-- {sys.query}\nSELECT E'{sys.user_id}', '{sys.query}'": 2,
	} {
		c := node(t, "ExeSQL", engine.Object("sql", sql, "db_type", "postgres").JSON(), "")
		count := 0
		for _, d := range c.Validate() {
			if d.Code == engine.CodeUnboundValue {
				require.Equal(t, engine.SeverityWarning, d.Severity)
				require.Equal(t, "sql", d.Param)
				count++
			}
		}
		require.Equal(t, want, count, sql)
	}
}
