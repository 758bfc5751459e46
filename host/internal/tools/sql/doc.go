// Package sql runs SQL on databases that canvases name: PostgreSQL, MySQL, MariaDB, OceanBase and
// SQLite files. It is the ExeSQL component behind the engine's Tools port.
//
// Each execution opens one connection and closes it. Statements run one by one, each in a separate
// read-only transaction unless the node allows writes; results are bounded in rows and bytes;
// cancelling the context ends the statement on the server. Addresses are checked by the dialer of
// the [Network], on the dialled IP address.
//
// The database decides what a statement is and what it may do, never the text of the statement: a
// server gets one statement per message and refuses more, SQLite gets one and reports the rest. The
// package splits texts at semicolons only for texts of several statements; where it splits wrongly,
// the database refuses the piece. Accounts that can act outside of a read-only transaction are
// refused to nodes that only read.
package sql

import "errors"

var (
	// ErrDriver means that the kind of database has no driver here; the message lists those that
	// have one.
	ErrDriver = errors.New("unknown kind of database")
	// ErrSettings means that a connection setting is missing or malformed; the message names it.
	ErrSettings = errors.New("connection settings")
	// ErrReadOnly means that a statement may change data and the node only reads; set read_only to
	// false.
	ErrReadOnly = errors.New("statement is not allowed: this node only reads")
	// ErrSQLite means that a statement does something else than read a SQLite file, which no node
	// may.
	ErrSQLite = errors.New("statement is not allowed: SQLite files are only read")
	// ErrStatements means that a database finds several statements in a text that was to be one;
	// write them in separate nodes.
	ErrStatements = errors.New("more than one statement")
	// ErrAccount means that the account of a node that only reads can act outside of a read-only
	// transaction; the message names the privilege to revoke.
	ErrAccount = errors.New("account may do more than read")
	// ErrFolder means that the folder of SQLite files would show files of the host.
	ErrFolder = errors.New("folder of SQLite files")
	// ErrTooLarge means that a result has too many bytes; select fewer rows or columns.
	ErrTooLarge = errors.New("result is too large")
)
