package sql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
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

// open returns a database of one connection, which the caller closes.
func (r *Runner) open(s *Settings) (*sql.DB, error) {
	k, err := kindOf(s.Kind)
	if err != nil {
		return nil, err
	}
	if k != sqliteFile && s.socket() && !r.Sockets {
		return nil, fmt.Errorf("%w: host %q is a Unix socket; name the server by its address, "+
			"or allow sockets with --sql-sockets", ErrSettings, s.Host)
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

// dial connects to a server. Unix sockets are not an address that a canvas may choose: a server may
// authenticate any client of its socket as the user of this process.
func (r *Runner) dial(ctx context.Context, network, address string) (net.Conn, error) {
	switch {
	case network == "tcp" && r.Network != nil:
		return r.Network.Dial(ctx, network, address)
	case network == "unix" && r.Sockets:
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return nil, fmt.Errorf("%w: %s %s is not allowed", ErrSettings, network, address)
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
	// One statement per message, which the server enforces, and without a name, which poolers in
	// between would forget.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	for _, f := range config.Fallbacks { // the same server without TLS
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
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if s.socket() {
			network, address = "unix", filepath.Join(s.Host, fmt.Sprintf(".s.PGSQL.%d", s.Port))
		}
		return r.dial(ctx, network, address)
	}
	// The dialer resolves and checks names itself.
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return stdlib.OpenDB(*config), nil
}

func (r *Runner) openMySQL(s *Settings) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", s.address()
	if s.socket() {
		config.Net, config.Addr = "unix", s.Host
	}
	config.User, config.Passwd, config.DBName = s.User, s.Password, s.Database
	config.DialFunc = r.dial
	config.Timeout, config.MaxAllowedPacket = connectTimeout, mostPacket
	config.TLSConfig = "preferred"
	config.Logger = &mysql.NopLogger{} // errors are returned; the driver logs nothing else of use
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return sql.OpenDB(connector), nil
}
