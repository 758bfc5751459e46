package servertest

import (
	"fmt"
	"os"
	"sync"
)

var shared *Postgres

// SharedPostgres returns one server for all tests of a program and starts it on the first call.
// TestMain calls [RemoveShared] afterwards.
//
// Errors: [ErrNoPostgres].
var SharedPostgres = sync.OnceValues(func() (*Postgres, error) {
	server, err := StartPostgres()
	if err == nil {
		shared = server
	}
	return server, err
})

// RemoveShared removes the server of [SharedPostgres] if it was started.
func RemoveShared() {
	if shared == nil {
		return
	}
	if err := shared.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
