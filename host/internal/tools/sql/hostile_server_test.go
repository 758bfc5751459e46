package sql

import (
	"context"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// fake is a network with one server.
type fake struct{ serve func(net.Conn) }

func (f fake) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go f.serve(server)
	return client, nil
}

// A server may answer a list of tables with rows that have no columns.
func TestRowsWithoutColumns(t *testing.T) {
	serve := func(server net.Conn) {
		b := pgproto3.NewBackend(server, server)
		for {
			m, err := b.ReceiveStartupMessage()
			if err != nil {
				return
			}
			if _, ok := m.(*pgproto3.SSLRequest); ok {
				_, _ = server.Write([]byte("N"))
				continue
			}
			break
		}
		b.Send(&pgproto3.AuthenticationOk{})
		b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "16"})
		b.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
		b.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
		b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		_ = b.Flush()
		for {
			m, err := b.Receive()
			if err != nil {
				return
			}
			switch m := m.(type) {
			case *pgproto3.Query:
				b.Send(&pgproto3.CommandComplete{CommandTag: []byte(m.String)})
				b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
			case *pgproto3.Parse:
				b.Send(&pgproto3.ParseComplete{})
			case *pgproto3.Bind:
				b.Send(&pgproto3.BindComplete{})
			case *pgproto3.Describe:
				b.Send(&pgproto3.RowDescription{})
			case *pgproto3.Execute:
				b.Send(&pgproto3.DataRow{})
				b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
			case *pgproto3.Sync:
				b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
			}
			_ = b.Flush()
		}
	}
	r := &Runner{Network: fake{serve}}
	_, err := r.Tables(t.Context(), engine.Object("db_type", "postgres", "host", "h", "port", 5432, "database", "x",
		"username", "u", "password", "p", "read_only", false))
	require.ErrorContains(t, err, "no names of tables")
}
