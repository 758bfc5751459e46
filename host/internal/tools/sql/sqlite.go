package sql

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteOptions open a file for reading only. Views and virtual tables in it are not trusted.
const sqliteOptions = "mode=ro&_defensive=1&_pragma=trusted_schema(0)&_pragma=busy_timeout(5000)"

// openSQLite opens a file below the operator's folder of databases for reading.
func (r *Runner) openSQLite(s *Settings) (*sql.DB, error) {
	if r.Dir == "" {
		return nil, fmt.Errorf("%w: no folder of SQLite files is configured", ErrDriver)
	}
	if err := checkFile(r.Dir, r.HostDir, filepath.FromSlash(s.Database)); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(r.Dir, filepath.FromSlash(s.Database)))
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", OmitHost: true, Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	file.RawQuery = sqliteOptions
	return sql.Open("sqlite", file.String())
}

// guardSQLite makes SQLite refuse all but reading the open file: [authorize] decides about
// each action of a statement, and no other file is attached.
func guardSQLite(conn *sql.Conn) error {
	for limit, most := range map[int]int{
		sqlite3.SQLITE_LIMIT_LENGTH:   mostPacket, // of texts and results, which else may have 1 GB
		sqlite3.SQLITE_LIMIT_ATTACHED: 0,
	} {
		if _, err := sqlite.Limit(conn, limit, most); err != nil {
			return err
		}
	}
	return withHandle(conn, func(tls *libc.TLS, db uintptr) error {
		// The driver passes its callbacks in this way: a pointer to a function, which never moves.
		callback := authorize
		pointer := *(*uintptr)(unsafe.Pointer(&callback))
		if code := sqlite3.Xsqlite3_set_authorizer(tls, db, pointer, 0); code != sqlite3.SQLITE_OK {
			return sqliteError(tls, db, code)
		}
		return nil
	})
}

// withHandle calls f with SQLite's own connection behind conn, which the driver does not export.
func withHandle(conn *sql.Conn, f func(tls *libc.TLS, db uintptr) error) error {
	return conn.Raw(func(driverConn any) error {
		handle := reflect.Indirect(reflect.ValueOf(driverConn))
		if handle.Kind() == reflect.Struct {
			handle = handle.FieldByName("db")
		}
		if handle.Kind() != reflect.Uintptr || handle.Uint() == 0 {
			return errors.New("the connection of the SQLite driver cannot be restricted to reading")
		}
		tls := libc.NewTLS()
		defer tls.Close()
		return f(tls, uintptr(handle.Uint()))
	})
}

// describing are the pragmas that only describe tables. The module of FTS5 tables uses data_version
// itself.
var describing = map[string]bool{
	"table_info": true, "table_xinfo": true, "table_list": true, "index_list": true, "index_info": true,
	"index_xinfo": true, "foreign_key_list": true, "data_version": true,
}

// authorize is called by SQLite for each action of a statement when it is prepared, also for
// statements that virtual tables prepare. It denies all actions that are not listed: ATTACH,
// DETACH, other pragmas, transactions, tables and views, also temporary ones.
//
// Changes of rows are not denied here, because the module of R-Tree tables prepares some when such
// a table is opened: checkSQLite refuses statements that change something, and the file is open for
// reading.
func authorize(_ *libc.TLS, _ uintptr, action int32, first, second, _, _ uintptr) int32 {
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE,
		sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_READ:
		if !strings.EqualFold(libc.GoString(first), "sqlite_dbpage") { // has rows that were deleted
			return sqlite3.SQLITE_OK
		}
	case sqlite3.SQLITE_FUNCTION:
		if !strings.EqualFold(libc.GoString(second), "load_extension") {
			return sqlite3.SQLITE_OK
		}
	case sqlite3.SQLITE_PRAGMA:
		if describing[strings.ToLower(libc.GoString(first))] {
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_DENY
}

// checkSQLite prepares a text and refuses it unless SQLite finds exactly one statement in it, which
// changes nothing.
func checkSQLite(conn *sql.Conn, statement string) error {
	return withHandle(conn, func(tls *libc.TLS, db uintptr) error {
		text, err := libc.CString(statement)
		if err != nil {
			return err
		}
		defer libc.Xfree(tls, text)
		const size = int(unsafe.Sizeof(text))
		out := tls.Alloc(2 * size)
		defer tls.Free(2 * size)
		if code := sqlite3.Xsqlite3_prepare_v2(tls, db, text, -1, out, out+uintptr(size)); code != sqlite3.SQLITE_OK {
			return sqliteError(tls, db, code)
		}
		result := **(**[2]uintptr)(unsafe.Pointer(&out))
		prepared, tail := result[0], libc.GoString(result[1])
		defer sqlite3.Xsqlite3_finalize(tls, prepared)
		switch {
		case prepared == 0:
			return errors.New("no statement")
		case tail != "":
			return fmt.Errorf("%w: the next begins with %.20q", ErrStatements, tail)
		case sqlite3.Xsqlite3_stmt_readonly(tls, prepared) == 0:
			return ErrSQLite
		}
		return nil
	})
}

// sqliteError returns the message of SQLite as its driver writes it.
func sqliteError(tls *libc.TLS, db uintptr, code int32) error {
	message := libc.GoString(sqlite3.Xsqlite3_errmsg(tls, db))
	if code&0xff == sqlite3.SQLITE_AUTH {
		return fmt.Errorf("%w: %s", ErrSQLite, message)
	}
	return fmt.Errorf("%s: %s (%d)", libc.GoString(sqlite3.Xsqlite3_errstr(tls, code)), message, code)
}
