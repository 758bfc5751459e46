package store

import "errors"

var (
	// ErrNotFound means that no such row exists for this tenant; respond with 404 or the equivalent
	// of the API.
	ErrNotFound = errors.New("not found")

	// ErrExists means that the id or name is taken; choose another.
	ErrExists = errors.New("already exists")

	// ErrConflict means that the row changed since it was read; read it again and retry.
	ErrConflict = errors.New("changed since it was read")

	// ErrAnswered means that the run does not wait for an answer any more; [Waits.Get] has who
	// answered it.
	ErrAnswered = errors.New("run does not wait any more")

	// ErrLastOwner means that a tenant would lose its only owner; make another member an owner
	// first.
	ErrLastOwner = errors.New("last owner of the tenant")

	// ErrLastPassword means that a tenant would lose its only owner with a password; set a password
	// of another owner first.
	ErrLastPassword = errors.New("last owner of the tenant with a password")

	// ErrNoHeir means that who should get what a member leaves is no other member of the tenant.
	ErrNoHeir = errors.New("heir is no other member of the tenant")

	// ErrStronger means that the groups of a provider give a member a stronger role; change the
	// groups.
	ErrStronger = errors.New("groups of a provider give a stronger role")

	// ErrInvalid means that a value cannot be stored; the message names the field.
	ErrInvalid = errors.New("invalid value")

	// ErrFull means that the disk or the quota of the database is used up; free space. No
	// acknowledged write is lost.
	ErrFull = errors.New("disk is full")

	// ErrQuota means that the storage quota of an owner is used up; remove data or raise the quota.
	ErrQuota = errors.New("quota is used up")

	// ErrModel means that the embedding model of a dataset has changed since it was read; make the
	// vectors again.
	ErrModel = errors.New("embedding model of the dataset has changed")

	// ErrReadOnly means that the database cannot be written (read-only disk, standby server); make
	// it writable or use another one.
	ErrReadOnly = errors.New("database is read-only")

	// ErrUnavailable means that the database did not respond; retry later.
	ErrUnavailable = errors.New("database is unavailable")

	// ErrCorrupt means that the database file is damaged or not an easel database; restore a
	// backup.
	ErrCorrupt = errors.New("database is damaged")

	// ErrLost means that acknowledged records are missing from the files of a SQLite database, or
	// that these were changed on the disk. The message has the number of missing commits and a code
	// with which the operator may accept the loss in [Config].AcceptLoss; otherwise restore a
	// backup.
	ErrLost = errors.New("acknowledged records are missing")

	// ErrNewer means that a newer easel has migrated this database; run that version or restore a
	// backup.
	ErrNewer = errors.New("database belongs to a newer version")

	// ErrOlder means that the database needs a migration, which [Config].AsIs forbids; run easel
	// serve of this version on it once. Records from before the first release are not read at all.
	ErrOlder = errors.New("database belongs to an older version")

	// ErrWrongKey means that the key file does not match the sealed values; restore the key file of
	// this database.
	ErrWrongKey = errors.New("key file does not match the database")

	// ErrClosed means that the store has been closed.
	ErrClosed = errors.New("store is closed")
)
