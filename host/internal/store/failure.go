package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// Result codes of SQLite for a taken key: those of other constraints mean a mistake of the program.
const (
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
)

// Primary result codes of SQLite that have their own sentinel.
const (
	sqliteBusy     = 5
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteNotADB   = 26
)

// fail adds a description and the matching sentinel to err, so that callers can use errors.Is and
// logs show both. It returns nil if err is nil.
func fail(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := "store: " + fmt.Sprintf(format, args...)
	if kind := classify(err); kind != nil && !errors.Is(err, kind) {
		// The driver's error is included as text only: its type is not part of the API.
		return fmt.Errorf("%s: %w (%v)", what, kind, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// classify returns the sentinel for a driver's error, or nil.
func classify(err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case errors.Is(err, ErrCorrupt): // a dump that ends early, say
		return ErrCorrupt
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return classifySQLite(lite)
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return classifyPostgres(pg.Code)
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, disk.ErrFull):
		return ErrFull
	case errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case errors.As(err, &connect), errors.As(err, &network), interrupted(err):
		return ErrUnavailable
	}
	return nil
}

// interrupted reports whether a connection to PostgreSQL ended before or during a query, such as
// when the server is killed: pgx reports the end of the stream, and then a closed connection.
func interrupted(err error) bool {
	for _, ended := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone,
	} {
		if errors.Is(err, ended) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}

func classifySQLite(err *sqlite.Error) error {
	switch err.Code() {
	case sqlitePrimaryKey, sqliteUnique:
		return ErrExists
	}
	switch err.Code() & 0xff {
	case sqliteFull:
		return ErrFull
	case sqliteReadOnly:
		return ErrReadOnly
	case sqliteCorrupt, sqliteNotADB:
		return ErrCorrupt
	case sqliteBusy, sqliteIOErr, sqliteCantOpen:
		return ErrUnavailable
	}
	return nil
}

// classifyPostgres classifies an SQLSTATE. Class 53 is "insufficient resources", 08 and 57P
// "connection" and "operator intervention".
func classifyPostgres(code string) error {
	switch {
	case code == "23505":
		return ErrExists
	case code == "53100":
		return ErrFull
	case code == "25006":
		return ErrReadOnly
	case code == "XX001", code == "XX002":
		return ErrCorrupt
	case strings.HasPrefix(code, "53"), strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"):
		return ErrUnavailable
	}
	return nil
}
