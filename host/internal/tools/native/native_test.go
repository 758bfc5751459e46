package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

const password = "pw-0123456789"

// secrets has DB, bound to hosts.
type secrets struct{ hosts []string }

func (s secrets) Secret(_ context.Context, name string) (engine.Secret, error) {
	if name != "DB" {
		return engine.Secret{}, fmt.Errorf("secret %q is unknown", name)
	}
	return engine.Secret{Value: password, Hosts: s.hosts}, nil
}

const mark = "0123456789abcdef"

func exeSQLCall(port int, statement string) *engine.ExternalCall {
	return &engine.ExternalCall{
		Component: "ExeSQL", SecretMark: mark,
		Params: engine.Object("db_type", "mariadb", "host", "127.0.0.1", "port", port, "database", "test",
			"username", "visitor", "password", engine.Placeholder("DB", mark)),
		Arguments: engine.Object("sql", statement),
	}
}

func TestSecretsGoToTheirServerOnly(t *testing.T) {
	server, err := servertest.StartMariaDB()
	if errors.Is(err, servertest.ErrNoMariaDB) {
		t.Skip(err) // the server is not installed
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Remove()) }()
	require.NoError(t, server.AddAccount("visitor", password))
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Port))
	port := &Port{Databases: &sql.Runner{Network: &web.Client{AllowPrivate: true}}, Secrets: secrets{[]string{address}}}

	// A server may send the password back; a node must not show it.
	out, err := port.CallTool(t.Context(), exeSQLCall(server.Port, "SELECT '"+password+"' AS echo"))
	require.NoError(t, err)
	require.Equal(t, `[[{"echo":"{{secret:DB}}"}]]`, out.Get("json").JSON())
	require.NotContains(t, out.JSON(), password)

	port.Secrets = secrets{[]string{"db.example.org"}}
	_, err = port.CallTool(t.Context(), exeSQLCall(server.Port, "SELECT 1"))
	require.ErrorIs(t, err, web.ErrSecretHost)
	require.NotContains(t, err.Error(), password)

	unmarked := exeSQLCall(server.Port, "SELECT 1")
	unmarked.Params = unmarked.Params.With("password", engine.String("{{secret:DB}}"))
	port.Secrets = secrets{}
	_, err = port.CallTool(t.Context(), unmarked)
	require.ErrorContains(t, err, "Access denied", "a placeholder without the mark is plain text")
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	network := &web.Client{}
	port := &Port{Network: network, Databases: &sql.Runner{Network: network}, Secrets: secrets{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	number := listener.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"127.0.0.1", "localhost", "10.0.0.1", "[::1]", "169.254.169.254"} {
		call := exeSQLCall(number, "SELECT 1")
		call.Params = call.Params.With("host", engine.String(strings.Trim(host, "[]")))
		_, err := port.CallTool(t.Context(), call)
		require.ErrorContains(t, err, "allow-private", host)
		mail := &engine.ExternalCall{
			Component: "Email",
			Params:    engine.Object("smtp_server", strings.Trim(host, "[]"), "smtp_port", number, "email", "a@b.c"),
			Arguments: engine.Object("to_email", "d@e.f"),
		}
		_, err = port.CallTool(t.Context(), mail)
		require.ErrorContains(t, err, "allow-private", host)
	}
}

func TestFilesPassBetweenNodes(t *testing.T) {
	dir := t.TempDir()
	given := filepath.Join(dir, "prices.csv")
	require.NoError(t, os.WriteFile(given, []byte("item,price\ntea,2.5\n"), 0o600))
	uploads := new(files.Uploads)
	upload, err := uploads.Add(given)
	require.NoError(t, err)
	run := files.RunFiles{Uploads: uploads, Made: files.Made{Dir: filepath.Join(dir, "made")}}
	port := &Port{Files: run, Documents: new(document.Reader)}
	call := func(component string, params, arguments engine.Value) engine.Value {
		out, err := port.CallTool(
			t.Context(),
			&engine.ExternalCall{Component: component, Params: params, Arguments: arguments},
		)
		require.NoError(t, err)
		return out
	}
	rows := call(
		"ExcelProcessor",
		engine.Null,
		engine.Object("input_files", engine.List(upload)),
	).Get("data").
		Get("prices")
	require.Equal(t, `[{"item":"tea","price":2.5}]`, rows.JSON())
	written := call("ExcelProcessor", engine.Object("operation", "output", "output_filename", "out"),
		engine.Object("transform_data", rows)).Get("attachment")
	again := call("ExcelProcessor", engine.Null, engine.Object("input_files", written))
	require.Equal(t, rows.JSON(), again.Get("data").Get("out").JSON())
	generated := call("DocGenerator", engine.Object("output_format", "md", "add_timestamp", false),
		engine.Object("content", "text", "filename", "out"))
	made, err := os.ReadFile(filepath.FromSlash(generated.Get("doc_id").Text()))
	require.NoError(t, err)
	require.Equal(t, "text", string(made))

	attachment, err := port.attachment(t.Context(), written)
	require.NoError(t, err)
	require.Equal(t, "out.xlsx", attachment.Name)
	require.NotEmpty(t, attachment.Data)

	// Only files that were passed to the run or made by it can be opened.
	folder := filepath.Join(dir, "made")
	for _, id := range []string{"/etc/passwd", folder + "/../prices.csv", "", folder + "/x/y"} {
		_, err := run.Open(t.Context(), engine.Object("doc_id", id))
		require.ErrorIs(t, err, files.ErrNotGiven, id)
	}
	_, err = run.Save(t.Context(), "out.md", "markdown", nil)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "made", "out-2.md"))
}

type others struct{}

func (others) CallTool(_ context.Context, c *engine.ExternalCall) (engine.Value, error) {
	return engine.String(c.Component), nil
}

func TestOtherComponentsAreLeftToOthers(t *testing.T) {
	out, err := (&Port{Others: others{}}).CallTool(t.Context(), &engine.ExternalCall{Component: "TavilySearch"})
	require.NoError(t, err)
	require.Equal(t, "TavilySearch", out.Text())
	_, err = (&Port{}).CallTool(t.Context(), &engine.ExternalCall{Component: "TavilySearch"})
	require.ErrorIs(t, err, engine.ErrNoPort)
	require.True(t, Serves("Email"))
	require.False(t, Serves("TavilySearch"))
}
