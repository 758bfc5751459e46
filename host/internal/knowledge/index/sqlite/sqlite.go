// Package sqlite keeps an index in one SQLite file of this machine.
//
// Words are found by an inverted index of our own inside the file. Its unit is the segment: the
// chunks that were written together, numbered from 0, with a list of postings for each term. The
// newest chunks of a dataset are its tail, whose postings are only in memory and are made from the
// chunks again when the file is opened; a tail that has grown becomes a segment, and neighbouring
// segments of similar size are merged. A search adds up BM25 over all postings of its terms, so its
// scores are exact.
//
// Vectors are one bit for each dimension in memory, which choose candidates, and floats in the
// file, which give their similarities.
//
// One process may open a file at a time. A dataset that was used takes memory: about 4 bytes for
// each chunk, 24 for each document and dims/8 for each vector; the tails of all datasets have a
// bound together. Writes are one at a time and do not disturb searches until they are committed.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Index is an open file. It implements [index.Index].
type Index struct {
	read, write *sql.DB
	temporary   string // the folder of a temporary file; "" for others
	flushSize   int    // up to which a tail grows before it becomes a segment, in bytes

	writing   sync.Mutex                   // held by the one write or load in progress
	prepared  map[string]*sql.Stmt         // of changes; guarded by writing
	appenders map[terms.Settings]*appender // guarded by writing
	mu        sync.RWMutex
	loaded    map[string]*dataset // guarded by mu; each changes only under mu
}

var _ index.Index = (*Index)(nil)

// dataset is the part of a dataset that is in memory.
type dataset struct {
	id       int64
	key      string
	settings index.Settings
	dims     int
	segments []*segment // in the order of their chunks
	tail     *segment   // the newest chunks, with their postings
	// access has the lists of the documents that have one.
	access map[int64]access.List
	views  views
}

// parts returns all segments and the tail.
func (d *dataset) parts() []*segment {
	return append(d.segments[:len(d.segments):len(d.segments)], d.tail)
}

const (
	schemaVersion = 4
	schema        = `
CREATE TABLE datasets (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	key      TEXT NOT NULL UNIQUE,
	settings TEXT NOT NULL,
	dims     INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE documents (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	dataset INTEGER NOT NULL,
	key     TEXT NOT NULL,
	name    TEXT NOT NULL,
	meta    TEXT NOT NULL,
	version INTEGER NOT NULL,
	access  TEXT NOT NULL DEFAULT '', -- who may read it
	UNIQUE (dataset, key)
);
CREATE TABLE metadata (
	dataset  INTEGER NOT NULL,
	key      TEXT NOT NULL,
	value    TEXT NOT NULL,
	document INTEGER NOT NULL,
	PRIMARY KEY (dataset, key, value, document)
) WITHOUT ROWID;
CREATE INDEX metadata_document ON metadata (document);
CREATE TABLE chunks (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	dataset   INTEGER NOT NULL,
	document  INTEGER NOT NULL,
	key       TEXT NOT NULL,
	content   TEXT NOT NULL,
	searched  TEXT NOT NULL, -- '' when it is the content, or lead and content
	keywords  TEXT NOT NULL,
	questions TEXT NOT NULL,
	enabled   INTEGER NOT NULL,
	extra     BLOB,
	lead      TEXT NOT NULL DEFAULT '',
	UNIQUE (document, key)
);
CREATE INDEX chunks_dataset ON chunks (dataset);
CREATE INDEX chunks_hidden ON chunks (dataset) WHERE enabled = 0;
CREATE TABLE vectors (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, dataset INTEGER NOT NULL, first INTEGER NOT NULL,
	data BLOB NOT NULL);
CREATE INDEX segments_dataset ON segments (dataset, first);
CREATE TABLE codes (segment INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE dead (segment INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE postings (
	segment INTEGER NOT NULL,
	term    TEXT NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (segment, term)
) WITHOUT ROWID;`
)

// readers bounds the searches that read the file concurrently.
const readers = 4

// Open opens a file, which is created if missing. "" is a temporary one, removed by Close.
func Open(ctx context.Context, file string) (*Index, error) {
	x := &Index{loaded: map[string]*dataset{}, appenders: map[terms.Settings]*appender{}, flushSize: 16 << 20}
	if file == "" {
		dir, err := os.MkdirTemp("", "easel-index-")
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		x.temporary, file = dir, filepath.Join(dir, "index.db")
	}
	var err error
	if x.write, err = connect(file, 1); err == nil {
		err = x.prepare(ctx)
	}
	if err == nil {
		x.read, err = connect(file, readers)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index %s: %w", file, err), x.Close())
	}
	return x, nil
}

func connect(file string, conns int) (*sql.DB, error) {
	pragmas := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)",
		"cache_size(-8000)",
		"temp_store(MEMORY)",
	}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// ErrVersion means that a file was written by another version of the program; make it again.
var ErrVersion = errors.New("index is of another version")

func (x *Index) prepare(ctx context.Context) error {
	var version, tables int
	err := x.write.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT COUNT(*) FROM sqlite_master)`).Scan(&version, &tables)
	switch {
	case err != nil:
		return err
	case version == schemaVersion:
		return nil
	case tables > 0:
		return fmt.Errorf("%w: %d, want %d", ErrVersion, version, schemaVersion)
	}
	_, err = x.write.ExecContext(ctx, fmt.Sprintf("BEGIN; %s PRAGMA user_version = %d; COMMIT;", schema, schemaVersion))
	return err
}

// String describes the index.
func (x *Index) String() string { return "embedded" }

// Close waits for a write in progress and closes the file.
func (x *Index) Close() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, db := range []*sql.DB{x.read, x.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if x.temporary != "" {
		errs = append(errs, os.RemoveAll(x.temporary))
	}
	return errors.Join(errs...)
}

// Create implements [index.Index].
func (x *Index) Create(ctx context.Context, key string, s index.Settings) error {
	s = s.Normal()
	if _, err := terms.New(s.Settings); err != nil {
		return fmt.Errorf("dataset %q: %w", key, err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("dataset %q: settings: %w", key, err)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	d, err := x.load(ctx, key)
	switch {
	case errors.Is(err, index.ErrNoDataset):
		_, err = x.write.ExecContext(ctx, `INSERT INTO datasets (key, settings) VALUES (?, ?)`, key, string(text))
		return datasetError(key, err)
	case err != nil:
		return err
	case d.settings == s:
		return nil
	case d.live() > 0:
		return fmt.Errorf("dataset %q: it has %d chunks under other settings; drop it first", key, d.live())
	}
	if _, err = x.write.ExecContext(ctx, `UPDATE datasets SET settings = ? WHERE id = ?`, string(text),
		d.id); err != nil {
		return datasetError(key, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	d.settings = s
	return nil
}

// Drop implements [index.Index].
func (x *Index) Drop(ctx context.Context, key string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	d, err := x.load(ctx, key)
	if errors.Is(err, index.ErrNoDataset) {
		return nil
	}
	if err != nil {
		return err
	}
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return datasetError(key, err)
	}
	defer tx.Rollback() // without effect after the commit
	for _, statement := range []string{
		`DELETE FROM postings WHERE segment IN (SELECT id FROM segments WHERE dataset = ?)`,
		`DELETE FROM codes WHERE segment IN (SELECT id FROM segments WHERE dataset = ?)`,
		`DELETE FROM dead WHERE segment IN (SELECT id FROM segments WHERE dataset = ?)`,
		`DELETE FROM segments WHERE dataset = ?`,
		`DELETE FROM vectors WHERE id IN (SELECT id FROM chunks WHERE dataset = ?)`,
		`DELETE FROM chunks WHERE dataset = ?`,
		`DELETE FROM metadata WHERE dataset = ?`,
		`DELETE FROM documents WHERE dataset = ?`,
		`DELETE FROM datasets WHERE id = ?`,
	} {
		if _, err := tx.ExecContext(ctx, statement, d.id); err != nil {
			return datasetError(key, err)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return datasetError(key, err)
	}
	delete(x.loaded, key)
	return nil
}
