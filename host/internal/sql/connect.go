package sql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Network connects to servers and refuses forbidden addresses.
type Network interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	connectTimeout = 10 * time.Second
	// mostPacket bounds one packet of a server, such as a row, in bytes.
	mostPacket = 16 << 20
)

// limitSQLite bounds texts and results inside SQLite, which else may have 1 GB.
func limitSQLite(conn *sql.Conn) error {
	_, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, mostPacket)
	return err
}

// open returns a database of one connection, which the caller closes.
func (r *Runner) open(s *Settings) (*sql.DB, error) {
	k, err := kindOf(s.Kind)
	if err != nil {
		return nil, err
	}
	var db *sql.DB
	switch k {
	case postgreSQL:
		db, err = r.openPostgres(s)
	case mySQL:
		db, err = r.openMySQL(s)
	case sqliteFile:
		db, err = r.openSQLite(s)
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func (r *Runner) openPostgres(s *Settings) (*sql.DB, error) {
	// All settings that pgx would read from the environment or the home directory of the host are
	// overridden.
	config, err := pgx.ParseConfig("sslmode=prefer passfile=/dev/null servicefile=/dev/null sslcert='' sslkey='' " +
		"sslrootcert='' host=127.0.0.1 port=5432 user=x dbname=x")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	config.Host, config.Port = s.Host, uint16(s.Port)
	config.User, config.Password, config.Database = s.User, s.Password, s.Database
	config.ConnectTimeout = connectTimeout
	config.RuntimeParams = map[string]string{"application_name": "easel", "client_encoding": "UTF8"}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // poolers in between forget prepared statements
	for _, f := range config.Fallbacks {                          // the same server without TLS
		f.Host, f.Port = config.Host, config.Port
		if f.TLSConfig != nil {
			f.TLSConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // sslmode=prefer does not verify
		}
	}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(mostPacket)
		return f
	}
	config.DialFunc = r.Network.Dial
	// The dialer resolves and checks names itself.
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return stdlib.OpenDB(*config), nil
}

func (r *Runner) openMySQL(s *Settings) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", s.address()
	config.User, config.Passwd, config.DBName = s.User, s.Password, s.Database
	config.DialFunc = r.Network.Dial
	config.Timeout, config.MaxAllowedPacket = connectTimeout, mostPacket
	config.TLSConfig = "preferred"
	config.Logger = &mysql.NopLogger{} // errors are returned; the driver logs nothing else of use
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return sql.OpenDB(connector), nil
}

// openSQLite opens a file below the operator's folder of databases for reading.
func (r *Runner) openSQLite(s *Settings) (*sql.DB, error) {
	if r.Dir == "" {
		return nil, fmt.Errorf("%w: no folder of SQLite files is configured", ErrDriver)
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of SQLite files: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(s.Database)) // follows links only inside of the folder
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("database %q: %w", s.Database, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("database %q is not a file", s.Database)
	}
	path, err := filepath.Abs(filepath.Join(r.Dir, filepath.FromSlash(s.Database)))
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", OmitHost: true, Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	file.RawQuery = "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)"
	return sql.Open("sqlite", file.String())
}
