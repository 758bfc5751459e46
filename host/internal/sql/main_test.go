package sql

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/servertest"
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
	mariaDB = server
	return server, err
})

// servers returns the settings of real databases, by kind.
func servers(t *testing.T) map[string]Settings {
	t.Helper()
	return map[string]Settings{"postgres": postgres(t), "mariadb": maria(t)}
}

func postgres(t *testing.T) Settings {
	t.Helper()
	server, err := servertest.SharedPostgres()
	if err != nil {
		t.Skip(err) // the server is not installed
	}
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return Settings{Kind: "postgres", Host: u.Hostname(), Port: port, Database: "postgres", User: u.User.Username()}
}

func maria(t *testing.T) Settings {
	t.Helper()
	server, err := startMariaDB()
	if err != nil {
		t.Skip(err) // the server is not installed
	}
	return Settings{
		Kind:     "mariadb",
		Host:     "127.0.0.1",
		Port:     server.Port,
		Database: "test",
		User:     "easel",
		Password: "easel",
	}
}
