package component

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/sqltext"
)

// ExeSQL runs SQL on a database.
type ExeSQL struct {
	External
	DBType     string      `json:"db_type" label:"Database" doc:"kind of the database" widget:"database" options:"mysql=MySQL|postgres=PostgreSQL|mariadb=MariaDB|mssql=SQL Server|IBM DB2=IBM DB2|trino=Trino|oceanbase=OceanBase|sqlite=SQLite" default:"mysql"`
	Host       string      `json:"host" label:"Host" doc:"address of the server" show:"db_type!=sqlite"`
	Port       int         `json:"port" label:"Port" doc:"port of the server" show:"db_type!=sqlite" default:"3306" min:"1"`
	Username   string      `json:"username" label:"User" doc:"account at the database" show:"db_type!=sqlite"`
	Password   string      `json:"password" label:"Password" doc:"better the name of a secret of the host" widget:"secret" show:"db_type!=sqlite"`
	Database   string      `json:"database" label:"Database name" doc:"name of the database" widget:"connection"`
	SQL        engine.Expr `json:"sql" label:"Statement" doc:"statements, separated by semicolons" want:"Enter a statement." default:"{sys.query}" format:"code"`
	MaxRecords int         `json:"max_records" label:"Rows at most" doc:"maximum number of rows per result" section:"advanced" default:"1024" min:"1"`
	ReadOnly   bool        `json:"read_only" label:"Read only" doc:"refuse statements that change data, and accounts that may do more than read" section:"advanced" default:"true"`
}

// Run runs the statements.
func (e *ExeSQL) Run(ctx context.Context, call *engine.Call) error {
	template, err := e.bound(ctx, call)
	if err != nil {
		return err
	}
	return e.act(ctx, call, arg{name: "sql", param: &e.SQL}, arg{name: "template", value: template})
}

// segments cuts the statements of the node at the strings with references; refs are the references
// in the order of the holes. A statement that is nothing but a reference has none.
func (e *ExeSQL) segments() (list []sqltext.Segment, refs []int) {
	var b strings.Builder
	for lit, ref := range e.SQL.Template().Parts {
		if strings.Contains(lit, sqltext.Hole) {
			return nil, nil // databases refuse such statements
		}
		b.WriteString(lit)
		if ref >= 0 {
			b.WriteString(sqltext.Hole)
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 || strings.TrimSpace(b.String()) == sqltext.Hole {
		return nil, nil
	}
	dialect, _ := sqltext.Of(e.DBType)
	return sqltext.Template(b.String(), dialect), refs
}

// bound returns the statements of the node as a list of SQL texts and of {"value": text}, which are
// bound as parameters. It is null if no reference stands in a string, or if a model wrote the
// statements.
func (e *ExeSQL) bound(ctx context.Context, call *engine.Call) (engine.Value, error) {
	list, refs := e.segments()
	if _, written := call.Args().Lookup("sql"); written || len(list) < 2 {
		return engine.Null, nil
	}
	texts, err := engine.Texts(ctx, call, e.SQL.Template())
	if err != nil {
		return engine.Null, err
	}
	parts := make([]engine.Value, len(list))
	for i, segment := range list {
		var b strings.Builder
		for at, lit := range strings.Split(segment.Text, sqltext.Hole) {
			if at > 0 {
				b.WriteString(texts[refs[0]])
				refs = refs[1:]
			}
			b.WriteString(lit)
		}
		parts[i] = engine.String(b.String())
		if segment.Bound {
			parts[i] = engine.Object("value", parts[i])
		}
	}
	return engine.List(parts...), nil
}

// Warnings reports references whose values become part of a statement, after those of every
// external component.
func (e *ExeSQL) Warnings() []engine.Diagnostic {
	found := e.External.Warnings()
	list, refs := e.segments()
	for _, segment := range list {
		for range strings.Count(segment.Text, sqltext.Hole) {
			r := &e.SQL.Refs()[refs[0]]
			refs = refs[1:]
			if !segment.Bound {
				found = append(found, engine.Diagnostic{
					Code: engine.CodeUnboundValue, Param: "sql", Message: r.String() + " stands outside quotes, " +
						"so that its value is read as SQL; in quotes it is a value: '" + r.String() + "'",
				})
			}
		}
	}
	return found
}

// databaseRequirement begins the names of requirements of databases.
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
