// Package servertest runs real servers for tests, each in a separate process that a test may kill,
// freeze and restart: PostgreSQL and MariaDB from Debian, NATS built from the version in go.mod,
// and programs of this repository.
//
// All servers listen on loopback. Stop each with [Process.Kill] (and [Postgres.Remove]); signals go
// to that process or its group, never to a name. Only tests import this package; most of it does
// not need a testing.TB, so that a TestMain can use it as well.
package servertest
