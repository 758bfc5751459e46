package store

import "errors"

var (
	// ErrNotFound says that no such row exists for this tenant; answer 404 or
	// the dialect's "not found".
	ErrNotFound = errors.New("not found")

	// ErrExists says that the id or name is taken; ask the caller for another.
	ErrExists = errors.New("already exists")

	// ErrConflict says that the row changed since it was read; read it again
	// and decide anew.
	ErrConflict = errors.New("changed meanwhile")

	// ErrInvalid says that a value cannot be stored; the text names the field.
	ErrInvalid = errors.New("invalid value")

	// ErrFull says that the disk or quota of the database is used up; free
	// space, nothing that was acknowledged is lost.
	ErrFull = errors.New("disk is full")

	// ErrQuota says that what one owner may keep is used up; remove something or
	// allow more.
	ErrQuota = errors.New("quota is used up")

	// ErrReadOnly says that the database cannot be written (read-only disk,
	// standby server); make it writable or point the host elsewhere.
	ErrReadOnly = errors.New("database is read-only")

	// ErrUnavailable says that the database did not answer; try again later.
	ErrUnavailable = errors.New("database is unavailable")

	// ErrCorrupt says that the database file is damaged or is not ours; restore
	// a backup.
	ErrCorrupt = errors.New("database is damaged")

	// ErrNewer says that a newer easel has migrated this database; run that
	// version or restore a backup.
	ErrNewer = errors.New("database belongs to a newer version")

	// ErrOlder says that an older easel made this database and it is not to be
	// changed; start easel serve of this version on it once.
	ErrOlder = errors.New("database belongs to an older version")

	// ErrWrongKey says that the key file does not fit the sealed values; bring
	// back the key file that was used with this database.
	ErrWrongKey = errors.New("key file does not match the database")

	// ErrClosed says that the store has been closed; stop.
	ErrClosed = errors.New("store is closed")
)
