package folder

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// record is the stored state of a document that was read.
type record struct {
	Dataset  string           `json:"-"` // key
	Path     string           `json:"-"`
	Mark     string           `json:"mark"`    // of the file
	Version  int64            `json:"version"` // of the document in the index
	Hash     string           `json:"hash"`    // of the file and its metadata
	Size     int64            `json:"size"`
	Meta     map[string]any   `json:"meta,omitempty"`
	Chunks   int              `json:"chunks"`
	Tokens   int              `json:"tokens"`
	Failure  document.Failure `json:"failure,omitzero"` // why it could not be read
	Modified int64            `json:"modified"`         // of the file, Unix milliseconds
	Began    int64            `json:"began"`            // of the read, Unix milliseconds
	Took     int64            `json:"took"`             // milliseconds
	Messages string           `json:"messages"`
}

// versionOf returns the version of a document in the index.
func versionOf(v *file) int64 {
	sum := sha256.Sum256([]byte(v.dataset + "\x00" + v.path + "\x00" + v.mark))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// again reports whether a document that could not be read is read again: another version reads it
// differently, or the host that starts may have more memory.
func (r *record) again(start bool) bool {
	return r.Failure.Code != "" && (r.Failure.Err() == nil || start && r.mayBeRaised())
}

// mayBeRaised reports whether the document failed at a limit that an operator may have raised.
func (r *record) mayBeRaised() bool {
	return r.Failure.Limit == document.LimitHost || r.Failure.Limit == document.LimitPages
}

// document returns the record as callers see it.
func (r *record) document() *dataset.Document {
	d := &dataset.Document{
		ID: idOf(r.Dataset, r.Path), Dataset: idOf(r.Dataset), Name: r.Path, Size: r.Size, Hash: r.Hash,
		Kind: kindOf(r.Path), Source: Source, Method: chunking.Structure, Meta: r.Meta, Created: r.Modified,
		Updated: r.Began + r.Took, State: dataset.Done, Progress: 1, Messages: r.Messages, Began: r.Began,
		Duration: max(1, r.Took), Chunks: r.Chunks, Tokens: r.Tokens,
	}
	if r.Failure.Code != "" {
		d.State, d.Progress = dataset.Failed, -1
	}
	return d
}

// records are stored in a SQLite file and held in memory. They are safe for concurrent use.
type records struct {
	db *sql.DB

	mu   sync.RWMutex
	rows map[[2]string]*record // by dataset and path; a record does not change
}

const recordsVersion = 3

// openRecords opens a file; "" holds records in memory. Records made with other settings are
// forgotten.
func openRecords(ctx context.Context, path, settings string) (*records, error) {
	name, pragmas := "file::memory:", url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(OFF)"}}
	if path != "" {
		name = "file:" + (&url.URL{Path: path}).EscapedPath()
		pragmas.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", name+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetConnMaxIdleTime(0) // records in memory end with their connection
	r := &records{db: db, rows: map[[2]string]*record{}}
	if err := r.prepare(ctx, settings); err != nil {
		return nil, errors.Join(fmt.Errorf("records %s: %w", path, err), db.Close())
	}
	return r, nil
}

func (r *records) prepare(ctx context.Context, settings string) error {
	var version, tables int
	if err := r.db.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT COUNT(*) FROM sqlite_master)`).Scan(&version, &tables); err != nil {
		return err
	}
	if version != recordsVersion && tables > 0 {
		return fmt.Errorf("version %d is not %d", version, recordsVersion)
	}
	if tables == 0 {
		_, err := r.db.ExecContext(ctx, fmt.Sprintf(`BEGIN;
CREATE TABLE settings (value TEXT NOT NULL);
CREATE TABLE documents (dataset TEXT NOT NULL, path TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (dataset, path))
	WITHOUT ROWID;
PRAGMA user_version = %d; COMMIT;`, recordsVersion))
		if err != nil {
			return err
		}
		_, err = r.db.ExecContext(ctx, `INSERT INTO settings VALUES (?)`, settings)
		return err
	}
	var made string
	if err := r.db.QueryRowContext(ctx, `SELECT value FROM settings`).Scan(&made); err != nil {
		return err
	}
	if made != settings {
		return fmt.Errorf("settings have changed from %s to %s", made, settings)
	}
	return r.load(ctx)
}

func (r *records) load(ctx context.Context) error {
	rows, err := r.db.QueryContext(ctx, `SELECT dataset, path, record FROM documents`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		v := &record{}
		if err := rows.Scan(&v.Dataset, &v.Path, &text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), v); err != nil {
			return fmt.Errorf("record of %s: %w", v.Path, err)
		}
		r.rows[[2]string{v.Dataset, v.Path}] = v
	}
	return rows.Err()
}

// compare forgets the records of documents that the index does not have as they were read, and
// removes documents from the index that have no record.
func (r *records) compare(ctx context.Context, x index.Index) error {
	keys, err := x.Datasets(ctx)
	if err != nil {
		return err
	}
	have := map[string]map[string]int64{}
	for _, key := range keys {
		if have[key], err = x.Versions(ctx, key); err != nil {
			return err
		}
	}
	for _, v := range r.all() {
		id := idOf(v.Dataset, v.Path)
		if version, there := have[v.Dataset][id]; there && version == v.Version {
			delete(have[v.Dataset], id)
		} else if v.Failure.Code == "" {
			if err := r.delete(ctx, v.Dataset, v.Path); err != nil {
				return err
			}
		}
	}
	for key, others := range have {
		if err := x.Delete(ctx, key, slices.Collect(maps.Keys(others))...); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) get(dataset, path string) (*record, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	v, ok := r.rows[[2]string{dataset, path}]
	if !ok {
		return &record{}, false
	}
	c := *v
	return &c, true
}

// all returns the records, in no order. They must not be changed.
func (r *records) all() []*record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]*record, 0, len(r.rows))
	for _, v := range r.rows {
		out = append(out, v)
	}
	return out
}

func (r *records) put(ctx context.Context, v *record) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = r.db.ExecContext(ctx, `INSERT OR REPLACE INTO documents VALUES (?, ?, ?)`, v.Dataset, v.Path, string(text))
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows[[2]string{v.Dataset, v.Path}] = v
	return nil
}

func (r *records) delete(ctx context.Context, dataset, path string) error {
	_, err := r.db.ExecContext(ctx, `DELETE FROM documents WHERE dataset = ? AND path = ?`, dataset, path)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rows, [2]string{dataset, path})
	return nil
}

func (r *records) close() error { return r.db.Close() }
