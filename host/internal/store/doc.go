// Package store keeps what the host looks up: canvases and their versions,
// sessions, keys, people, run history, secrets and small named records.
//
// One SQL text serves two engines. [Open] takes a data directory (SQLite, one
// file, nothing to install) or a PostgreSQL address; every method behaves the
// same on both, and one table of tests runs on both. What makes that hold:
// placeholders are $1, times are Unix milliseconds, flags are 0 and 1, text
// that came from a stranger and may hold anything is stored as bytes, and what
// is sorted or compared without case is folded in Go, not by the database.
//
// Writing. On SQLite all writes pass one goroutine, which puts everything that
// waits into one transaction, so that a hundred requests share one fsync
// (committer.go). On PostgreSQL each write is its own transaction. A method
// that returned nil has committed, and with [SyncAlways], the default, is on
// the disk.
//
// Changing. Canvases and sessions carry a revision. [Store.EditCanvas] and
// [Store.SaveSession] write only over the revision they have read, so two
// hosts cannot lose each other's change; the loser gets [ErrConflict] or, for
// edits, is run again on the new state. A session is held by at most one active
// run: [Store.StartTurn] writes run and claim in one commit, [Store.EndRun] the
// end of both.
//
// Tenants. Every lookup names its tenant, and another tenant's id is
// [ErrNotFound], never a hint that it exists. The few lookups that start from
// a token, a webhook's canvas id or a login say so in their names.
//
// Hiding. Keys, tokens and passwords are stored as hashes. Secrets are sealed
// with a key file beside the data and are listed by name; only
// [Store.OpenSecret], for the place that uses the value, gives it out.
//
// The store never logs and never calls a model.
package store
