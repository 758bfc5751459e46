package servertest

import (
	"fmt"
	"os"
	"sync"
)

var shared *Postgres

// SharedPostgres is one server for all tests of a program, started when the
// first of them asks. TestMain calls [RemoveShared] behind them.
//
// Errors: [ErrNoPostgres].
var SharedPostgres = sync.OnceValues(func() (*Postgres, error) {
	server, err := StartPostgres()
	if err == nil {
		shared = server
	}
	return server, err
})

// RemoveShared ends what [SharedPostgres] has started, if it has.
func RemoveShared() {
	if shared == nil {
		return
	}
	if err := shared.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
