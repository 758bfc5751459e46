package servertest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

var shared *Postgres

// SharedPostgres returns one server for all tests of a program and starts it on the first call.
// [Main] removes it afterwards.
//
// Errors: [ErrNoPostgres].
var SharedPostgres = sync.OnceValues(func() (*Postgres, error) {
	server, err := StartPostgres()
	if err == nil {
		shared = server
	}
	return server, err
})

// NeedPostgres returns [SharedPostgres]; without PostgreSQL it skips the test.
func NeedPostgres(t testing.TB) *Postgres {
	t.Helper()
	server, err := SharedPostgres()
	if errors.Is(err, ErrNoPostgres) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return server
}

var schemas atomic.Int64

// NewSchema returns the address of an empty schema of [NeedPostgres].
func NewSchema(t testing.TB) (url string) {
	t.Helper()
	url, err := NeedPostgres(t).Schema(t.Context(), fmt.Sprintf("test%d", schemas.Add(1)))
	require.NoError(t, err)
	return url
}

// Main is the TestMain of packages whose tests share a server: it runs the tests and removes the
// server.
func Main(m *testing.M) {
	code := m.Run()
	RemoveShared()
	os.Exit(code)
}

// RemoveShared removes the server of [SharedPostgres] if it was started.
func RemoveShared() {
	if shared == nil {
		return
	}
	if err := shared.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
