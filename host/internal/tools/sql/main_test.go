package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	servertest.RemoveShared()
	if mariaDB != nil {
		if err := mariaDB.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// anywhere dials every address, as with --allow-private.
type anywhere struct{}

func (anywhere) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

var mariaDB *servertest.MariaDB

var startMariaDB = sync.OnceValues(func() (*servertest.MariaDB, error) {
	server, err := servertest.StartMariaDB()
	if err != nil {
		return nil, err
	}
	mariaDB = server
	address := fmt.Sprintf("easel:easel@tcp(127.0.0.1:%d)/test?multiStatements=true", server.Port)
	return server, script("mysql", address,
		"CREATE USER canvas@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT ALL ON test.* TO canvas@'127.0.0.1';"+
			"CREATE USER canvas_file@'127.0.0.1' IDENTIFIED BY 'canvas';"+
			"GRANT ALL ON test.* TO canvas_file@'127.0.0.1'; GRANT FILE ON *.* TO canvas_file@'127.0.0.1'")
})

// servers returns the settings of real databases, by kind, with accounts that own what is in them.
func servers(t *testing.T) map[string]Settings {
	t.Helper()
	return map[string]Settings{"postgres": postgres(t), "mariadb": maria(t)}
}

var canvasRole = sync.OnceValue(func() error {
	server, err := servertest.SharedPostgres()
	if err != nil {
		return err
	}
	return script("pgx", server.URL, "CREATE ROLE canvas LOGIN; GRANT CREATE ON SCHEMA public TO canvas")
})

// script runs statements without the runner.
func script(driver, address, statements string) error {
	db, err := sql.Open(driver, address)
	if err != nil {
		return err
	}
	_, err = db.Exec(statements)
	return errors.Join(err, db.Close())
}

// postgres has a role that may create and change tables.
func postgres(t *testing.T) Settings {
	t.Helper()
	s := postgresOperator(t)
	require.NoError(t, canvasRole())
	s.User, s.Write = "canvas", false
	return s
}

// postgresOperator has a superuser.
func postgresOperator(t *testing.T) Settings {
	t.Helper()
	u, err := url.Parse(servertest.NeedPostgres(t).URL)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return Settings{
		Kind: "postgres", Host: u.Hostname(), Port: port, Database: "postgres", User: u.User.Username(), Write: true,
	}
}

// postgresScript runs statements as the superuser.
func postgresScript(t *testing.T, statements string) {
	t.Helper()
	require.NoError(t, canvasRole())
	require.NoError(t, script("pgx", servertest.NeedPostgres(t).URL, statements))
}

// maria has an account with all privileges on its database.
func maria(t *testing.T) Settings {
	t.Helper()
	s := mariaOperator(t)
	s.User, s.Password, s.Write = "canvas", "canvas", false
	return s
}

// mariaOperator has an account with all privileges.
func mariaOperator(t *testing.T) Settings {
	t.Helper()
	server, err := startMariaDB()
	if errors.Is(err, servertest.ErrNoMariaDB) {
		t.Skip(err) // the server is not installed
	}
	require.NoError(t, err)
	return Settings{
		Kind: "mariadb", Host: "127.0.0.1", Port: server.Port, Database: "test", User: "easel", Password: "easel",
		Write: true,
	}
}

// mariaScript runs statements as the account with all privileges.
func mariaScript(t *testing.T, statements string) {
	t.Helper()
	s := mariaOperator(t)
	address := fmt.Sprintf("easel:easel@tcp(%s)/test?multiStatements=true", s.address())
	require.NoError(t, script("mysql", address, statements))
}
