// Package servertest runs real servers for tests, each in a process of its own
// that a test may kill, freeze and start again: PostgreSQL as Debian has it,
// NATS built from the version in go.mod, and programs of this repository.
//
// Everything listens on loopback. Whoever starts a server ends it with
// [Process.Kill] (and [Postgres.Remove]); signals go to that one process or its
// group, never to a name. Only tests import this package; it does not import
// testing, so that a TestMain may use it as well.
package servertest
