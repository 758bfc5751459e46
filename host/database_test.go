package host

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The form of ExeSQL tests a connection through the host.
func TestDatabaseConnection(t *testing.T) {
	server, err := servertest.StartMariaDB()
	if errors.Is(err, servertest.ErrNoMariaDB) {
		t.Skip(err) // the server is not installed
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Remove()) }()
	require.NoError(t, server.AddAccount("reader", "reader-password"))
	ask := func(url, account, password string) (answer struct {
		Code    int
		Message string
		Data    any
	},
	) {
		call(t, "POST", url+"/v1/canvas/test_db_connect", fmt.Sprintf(`{"db_type":"mysql","database":"test",
			"username":%q,"host":"127.0.0.1","port":"%d","password":%q}`, account, server.Port, password), &answer)
		return answer
	}
	_, url := open(t, Config{AllowPrivate: true})
	require.Equal(t, "Database Connection Successful!", ask(url, "reader", "reader-password").Data)
	require.Contains(t, ask(url, "easel", "easel").Message, `"easel" has ALL PRIVILEGES`)
	refused := ask(url, "reader", "wrong-password")
	require.Equal(t, 100, refused.Code)
	require.Contains(t, refused.Message, "Access denied")
	require.NotContains(t, refused.Message, "wrong-password")

	_, url = open(t, Config{})
	require.Contains(t, ask(url, "reader", "reader-password").Message, "allow-private")
}
