package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/store/walguard"
)

// Sync is when acknowledged writes are on disk.
type Sync int

const (
	// SyncAlways syncs every commit before it is acknowledged.
	SyncAlways Sync = iota
	// SyncInterval lets the operating system (SQLite) or the server (PostgreSQL) sync later: a
	// killed host loses nothing, a power failure may lose the last moments but does not corrupt the
	// file.
	SyncInterval
)

// Config configures where records are stored. Dir or URL is required.
type Config struct {
	// Dir is the data directory, created if missing. Records are in its file easel.db and, unless
	// KeyFile is set, the key in secret.key.
	Dir string
	// URL is a PostgreSQL address (postgres://user:pass@host/db). If set, records are stored there
	// and Dir has only the key file.
	URL string
	// KeyFile has the key that seals secrets: 32 random bytes, hex. It is created if missing. Empty
	// means secret.key in Dir.
	KeyFile string
	// Name is the display name of the host, reported by [Hosts]; "" hides it.
	Name string
	// AsIs rejects tables of an older version instead of migrating them: a host of that version may
	// be using them.
	AsIs bool
	// Sync defaults to SyncAlways.
	Sync Sync
	// KeepVersions is the number of versions kept per canvas; 0 means 20.
	KeepVersions int
	// AcceptLoss is the code of a loss with which a SQLite database is opened nevertheless; see
	// [ErrLost].
	AcceptLoss string
	// Damaged is called when a part of a large SQLite database is found damaged while it is in use.
	Damaged func(error)
	// Log receives what the operator should know about the files; nil discards it.
	Log *slog.Logger
	// verifyFirst is the number of bytes that are compared with their checksums before the database
	// is opened; 0 means 256 MiB. Tests set it.
	verifyFirst int64
	// Conns bounds open read connections; 0 means four per CPU on SQLite and 16 on PostgreSQL.
	Conns int
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Reserve is space in Dir for writes that must succeed on a full disk; nil has none.
	Reserve *disk.Reserve
}

// Store is an open database of records, with one field for each kind of record. Callers take the
// fields that they need. It is safe for concurrent use.
type Store struct {
	*database
	Tenants    Tenants
	Members    Members
	Users      Users
	Logins     Logins
	Identities Identities
	Groups     Groups
	Readers    Readers
	Audit      Audit
	Keys       Keys
	Betas      Betas
	Secrets    Secrets
	Items      Items
	Tokens     Tokens
	Uses       ModelUses
	Lessons    ModelLessons
	Canvases   Canvases
	Sessions   Sessions
	Runs       Runs
	Traces     Traces
	Waits      Waits
	Datasets   Datasets
	Documents  Documents
	Changes    Changes
	Ingestion  Ingestion
	LooseFiles LooseFiles
	ParseLogs  ParseLogs
	Memories   Memories
	Projects   Projects
}

// newStore returns the records of a database.
func newStore(db *database) *Store {
	return &Store{
		database: db,
		Tenants:  Tenants{db}, Members: Members{db}, Users: Users{db}, Logins: Logins{db},
		Identities: Identities{db}, Groups: Groups{db}, Readers: Readers{db}, Audit: Audit{db},
		Keys: Keys{db}, Betas: Betas{db}, Secrets: Secrets{db}, Items: Items{db}, Tokens: Tokens{db},
		Uses: ModelUses{db}, Lessons: ModelLessons{db},
		Canvases: Canvases{db}, Sessions: Sessions{db}, Runs: Runs{db}, Traces: Traces{db}, Waits: Waits{db},
		Datasets: Datasets{db}, Documents: Documents{db}, Changes: Changes{db}, Ingestion: Ingestion{db},
		LooseFiles: LooseFiles{db}, ParseLogs: ParseLogs{db},
		Memories: Memories{db}, Projects: Projects{db},
	}
}

// database is the handle that all kinds of records share: its connections, the one writer, the
// clock and the key that seals secrets. A transaction may write records of several kinds.
type database struct {
	keep   int
	now    func() time.Time
	seal   *sealer
	dbs    []*sql.DB
	read   querier
	commit committer
	engine string
	dsn    string          // of SQLite, for backups
	dir    string          // of SQLite
	keys   *keyMemory      // of SQLite; nil otherwise
	guard  *walguard.Guard // of SQLite; nil otherwise
	room   *room
	totals totals
}

// Open opens the records, migrates their tables and checks the key file.
//
// Errors: [ErrNewer], [ErrOlder], [ErrCorrupt], [ErrLost], [ErrWrongKey], [ErrReadOnly],
// [ErrUnavailable].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s, err := connect(ctx, cfg)
	if err == nil {
		err = s.prepare(ctx, cfg)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// connect opens the engine. The caller must close the store even after an error.
func connect(ctx context.Context, cfg Config) (*Store, error) {
	s := newStore(&database{keep: cfg.KeepVersions, now: cfg.Now, room: &room{}})
	if s.keep == 0 {
		s.keep = 20
	}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	switch {
	case cfg.URL != "":
		err = s.openPostgres(ctx, cfg)
	case cfg.Dir != "":
		err = s.openSQLite(ctx, cfg)
	default:
		err = errors.New("store: neither a data directory nor a database address is set")
	}
	return s, err
}

// prepare migrates the tables and checks the key of a connected store.
func (s *database) prepare(ctx context.Context, cfg Config) error {
	all, err := schema()
	if err == nil {
		err = s.migrate(ctx, cfg.AsIs, all)
	}
	if err != nil {
		return err
	}
	file := cfg.KeyFile
	if file == "" {
		if cfg.Dir == "" {
			return errors.New("store: no key file: set one, or a data directory to keep it in")
		}
		file = filepath.Join(cfg.Dir, "secret.key")
	}
	if err := s.unlock(ctx, file); err != nil {
		return err
	}
	return s.checkGuard(ctx, cfg.Log)
}

// Engine returns "sqlite" or "postgres".
func (s *Store) Engine() string { return s.engine }

// Ping reports whether the records can be read and, on SQLite, written, for a readiness probe.
func (s *Store) Ping(ctx context.Context) error {
	if s.dir != "" && disk.ReadOnly(s.dir) {
		return fail(ErrReadOnly, "ping")
	}
	var one int
	return fail(s.read.QueryRowContext(ctx, `SELECT 1`).Scan(&one), "ping")
}

// Close closes all connections; pending and later writes return [ErrClosed].
func (s *Store) Close() error {
	var all error
	if s.commit != nil {
		all = errors.Join(all, s.commit.close())
	}
	for _, db := range s.dbs {
		all = errors.Join(all, db.Close())
	}
	if s.guard != nil {
		all = errors.Join(all, s.guard.Close())
		s.guard = nil
	}
	return fail(all, "close")
}

func (s *database) openPostgres(ctx context.Context, cfg Config) error {
	parse := func() (*pgx.ConnConfig, error) {
		c, err := pgx.ParseConfig(cfg.URL)
		if err == nil && cfg.Sync == SyncInterval {
			c.RuntimeParams["synchronous_commit"] = "off"
		}
		return c, err
	}
	conns := cfg.Conns
	if conns == 0 {
		conns = 16
	}
	parsed, err := parse()
	if err != nil {
		return fail(err, "open PostgreSQL")
	}
	options := []stdlib.OptionOpenDB{stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error {
		// A password file may have changed since the last connection.
		again, err := parse()
		if err == nil {
			*c = *again
		}
		return err
	})}
	if cfg.Name != "" {
		options = append(options, stdlib.OptionAfterConnect(sayHost(cfg.Name)))
	}
	db := s.keepPool(stdlib.OpenDB(*parsed, options...), conns)
	if err := db.PingContext(ctx); err != nil {
		// The address may contain a password: the driver hides it in its errors.
		return fail(err, "open PostgreSQL")
	}
	s.engine, s.read, s.commit = "postgres", db, &each{db: db}
	return fail(warnOfServer(ctx, db, cfg.Log), "open PostgreSQL")
}

// protections are the settings of a PostgreSQL server without which damage or a power loss goes
// unnoticed, and what turns them on.
var protections = map[string]string{
	"data_checksums":   "damaged pages are not detected; run pg_checksums --enable on the stopped server",
	"fsync":            "a power loss may damage the database and lose what was acknowledged",
	"full_page_writes": "a power loss may damage pages",
}

// warnOfServer logs which protections of a PostgreSQL server are off.
func warnOfServer(ctx context.Context, q querier, log *slog.Logger) error {
	if log == nil {
		return nil
	}
	off, err := queryAll(ctx, q, scanName, `SELECT name FROM pg_settings WHERE setting = 'off'
		AND name IN ('data_checksums', 'fsync', 'full_page_writes') ORDER BY 1`)
	for _, name := range off {
		log.Warn("PostgreSQL has a protection of its data switched off", "setting", name,
			"consequence", protections[name])
	}
	return err
}

func (s *database) pool(driver, dsn string, conns int) (*sql.DB, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", driver, err)
	}
	return s.keepPool(db, conns), nil
}

// keepPool configures a pool, which is closed with the store.
func (s *database) keepPool(db *sql.DB, conns int) *sql.DB {
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s.dbs = append(s.dbs, db)
	return db
}

// write runs op in a transaction and wraps its error. It is refused while the disk is full.
func (s *database) write(ctx context.Context, what string, op func(context.Context, querier) error) error {
	err := s.room.check(ctx)
	if err == nil {
		with, written := s.audited(ctx, op)
		if err = s.commit.write(ctx, with); err == nil {
			written()
		}
	}
	return fail(err, "%s", what)
}

// writeAlways is write for what must succeed when the disk is full: it frees space, lets somebody
// in, or takes access away.
func (s *database) writeAlways(ctx context.Context, what string, op func(context.Context, querier) error) error {
	with, written := s.audited(ctx, op)
	err := s.commit.write(ctx, with)
	if classify(err) == ErrFull && s.room.reserve.Release() {
		err = s.commit.write(ctx, with)
	}
	if err == nil {
		written()
	}
	return fail(err, "%s", what)
}

// exec is write for one statement; it returns the number of changed rows.
func (s *database) exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	if err := s.room.check(ctx); err != nil {
		return 0, err
	}
	return s.commit.exec(ctx, query, args...)
}

// ms returns the current time in Unix milliseconds.
func (s *database) ms() int64 { return s.now().UnixMilli() }
