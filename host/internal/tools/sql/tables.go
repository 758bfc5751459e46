package sql

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
)

// MaxTables bounds a list of tables.
const MaxTables = 500

// tableQueries list the tables and views that an account may read.
var tableQueries = map[kind]string{
	postgreSQL: `SELECT CASE WHEN table_schema = current_schema() THEN '' ELSE table_schema || '.' END || table_name
		FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
		ORDER BY table_schema <> current_schema(), 1 LIMIT 500`,
	mySQL: `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1 LIMIT 500`,
	sqliteFile: `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY 1 LIMIT 500`,
}

// Tables connects with the params of an ExeSQL node as a run does, and lists the tables and views
// of the database, at most [MaxTables]. Errors: as [Runner.Run].
func (r *Runner) Tables(ctx context.Context, params engine.Value) ([]string, error) {
	s, err := SettingsOf(params)
	if err != nil {
		return nil, err
	}
	k, err := kindOf(s.Kind)
	if err != nil {
		return nil, err
	}
	s.Rows = MaxTables
	results, err := r.Run(ctx, &s, tableQueries[k])
	if err != nil {
		return nil, err
	}
	tables := []string{}
	for _, result := range results {
		if result.Err != nil {
			return nil, result.Err
		}
		if len(result.Columns) != 1 {
			return nil, errors.New("the server listed no names of tables")
		}
		for _, row := range result.Rows {
			tables = append(tables, row[0].Text())
		}
	}
	return tables, nil
}
