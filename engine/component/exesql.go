package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// ExeSQL runs SQL on a database.
type ExeSQL struct {
	External
	SQL        engine.Expr `json:"sql" doc:"statements, separated by semicolons" default:"{sys.query}" label:"SQL" format:"code"`
	DBType     string      `json:"db_type" doc:"kind of database" default:"mysql" enum:"mysql,postgres,mariadb,mssql,IBM DB2,trino,oceanbase,sqlite" label:"Database type"`
	Database   string      `json:"database" doc:"name of the database"`
	Username   string      `json:"username" doc:"account"`
	Host       string      `json:"host" doc:"address of the server"`
	Port       int         `json:"port" doc:"port of the server" default:"3306" min:"1"`
	Password   string      `json:"password" doc:"password, preferably {{secret:NAME}}"`
	MaxRecords int         `json:"max_records" doc:"maximum number of rows per result" default:"1024" min:"1"`
	ReadOnly   bool        `json:"read_only" doc:"refuse statements that change data, and accounts that may do more than read" default:"true"`
}

// Run runs the statements.
func (e *ExeSQL) Run(ctx context.Context, call *engine.Call) error {
	return e.act(ctx, call, arg{"sql", &e.SQL})
}

// databaseRequirement begins the name of what a kind of database requires of a host.
const databaseRequirement = "database "

// Requires returns the kind of database.
func (e *ExeSQL) Requires() []string { return []string{databaseRequirement + e.DBType} }

// MayRequire returns the kinds of databases that only some hosts have a driver for.
func (*ExeSQL) MayRequire() []string {
	return []string{databaseRequirement + "mssql", databaseRequirement + "IBM DB2", databaseRequirement + "trino"}
}

var exeSQLSpec = sqlLook(outside("ExeSQL", "execute_sql", "Runs SQL on a database and returns the rows.", passages,
	func() engine.Component {
		return &ExeSQL{External: External{settings: []string{"database", "username", "host", "password"}}}
	}, nil,
	wanted("sql", "the statement to run")))

// sqlLook adapts the Spec of an external component to a database.
func sqlLook(s engine.Spec) engine.Spec {
	s.Icon = "data"
	s.StandIn = invents(func(args engine.Value) engine.Value {
		return engine.Object(passages, notice(s.Name, args), "json", engine.List())
	})
	return s
}
