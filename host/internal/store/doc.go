// Package store persists the records of a host: canvases and their versions, sessions, keys, users,
// run history, secrets and small named items.
//
// A [Store] has one type for each kind of record, over one database: [Canvases], [Sessions],
// [Runs] and so on. Callers take those that they need.
//
// The same SQL runs on two engines. [Open] takes a data directory (SQLite, one file, nothing to
// install) or a PostgreSQL address; every method behaves the same on both, and the same tests run
// on both. For that, placeholders are $1, times are Unix milliseconds, flags are 0 and 1, untrusted
// text of any content is stored as bytes, and text that is sorted or compared without case is
// folded in Go, not by the database.
//
// Writing. On SQLite one goroutine performs all writes and combines waiting ones in one
// transaction, so that a hundred requests share one fsync (committer.go). On PostgreSQL each write
// is its own transaction. A method that returned nil has committed, and with [SyncAlways], the
// default, is on disk.
//
// Concurrency. Canvases and sessions have a revision. [Canvases.Edit] and [Sessions.Save] write
// only over the revision they have read, so hosts cannot overwrite each other's changes; on a
// conflict the writer gets [ErrConflict] or, for edits, is retried on the new state. At most one
// active run owns a session: [Runs.StartTurn] writes run and claim in one commit, [Runs.End] the
// end of both.
//
// Tenants. Every lookup requires a tenant, and the id of another tenant is [ErrNotFound],
// indistinguishable from a missing one. The few lookups by a token, a webhook's canvas id or a
// login are named after it.
//
// Secrets. Keys, tokens and passwords are stored as hashes. Secrets are sealed with the key of a
// file outside the database and listed by name; only [Secrets.Open] and [Secrets.OpenBound] return
// values.
//
// The store never logs and never calls a model.
package store
