package knowledge

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"strings"

	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/easel-canvas/easel/engine/offline"
	"github.com/easel-canvas/easel/host/internal/document"
)

// schema is that of the index. The number of its version is in the file; another version is made
// anew.
const (
	schemaVersion = 2
	schema        = `
CREATE TABLE documents (
	id      INTEGER PRIMARY KEY,
	dataset TEXT NOT NULL,
	path    TEXT NOT NULL,
	mark    TEXT NOT NULL,
	meta    TEXT NOT NULL,
	failure TEXT NOT NULL DEFAULT '', -- why it could not be read, as JSON; '' when it was
	hash    TEXT NOT NULL DEFAULT '', -- of the content that could not be read
	UNIQUE (dataset, path)
);
CREATE TABLE passages (
	id       INTEGER PRIMARY KEY,
	document INTEGER NOT NULL,
	number   INTEGER NOT NULL,
	text     TEXT NOT NULL,
	terms    TEXT NOT NULL
);
CREATE INDEX passages_document ON passages (document);
CREATE VIRTUAL TABLE words USING fts5(scope, terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE frequency USING fts5vocab(words, row);`
)

// index is where the passages are found by their words. One goroutine writes, many read.
type index struct{ db *sql.DB }

func openIndex(ctx context.Context, file string) (*index, error) {
	ix, err := tryIndex(ctx, file)
	if err == nil || file == "" || ctx.Err() != nil {
		return ix, err
	}
	// Everything in it can be read again from the documents.
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if gone := os.Remove(file + suffix); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			return nil, errors.Join(err, gone)
		}
	}
	return tryIndex(ctx, file)
}

func tryIndex(ctx context.Context, file string) (*index, error) {
	name, conns := "file::memory:", 1
	pragmas := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(OFF)"}}
	if file != "" {
		name, conns = "file:"+(&url.URL{Path: file}).EscapedPath(), 4
		pragmas.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", name+"?"+pragmas.Encode())
	if err != nil {
		return nil, fmt.Errorf("knowledge: index: %w", err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(0) // an index in memory is gone with its connection
	ix := &index{db}
	if err := ix.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge: index %s: %w", file, err), db.Close())
	}
	return ix, nil
}

var errOldIndex = errors.New("it is of another version")

func (ix *index) prepare(ctx context.Context) error {
	var version, tables int
	if err := ix.db.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_master)`).Scan(&version, &tables); err != nil {
		return err
	}
	switch {
	case version == schemaVersion:
		return nil
	case tables > 0:
		return errOldIndex
	}
	_, err := ix.db.ExecContext(ctx, "BEGIN;"+schema+fmt.Sprintf("PRAGMA user_version = %d; COMMIT;", schemaVersion))
	return err
}

func (ix *index) close() error { return ix.db.Close() }

// indexed is what is known about a document.
type indexed struct {
	mark    string
	failure document.Failure // why it could not be read; empty when it was
	hash    string           // of the content that could not be read
}

// again reports whether a document that could not be read is read again: another version reads it
// differently, or the host that starts may have more memory.
func (e *indexed) again(start bool) bool {
	return e.failure.Code != "" && (e.failure.Err() == nil || start && e.failure.Limit == document.LimitHost)
}

// marks is what is known about all documents, by dataset and path.
func (ix *index) marks(ctx context.Context) (map[[2]string]indexed, error) {
	rows, err := ix.db.QueryContext(ctx, `SELECT dataset, path, mark, failure, hash FROM documents`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[[2]string]indexed{}
	for rows.Next() {
		var key [2]string
		var e indexed
		var failure string
		if err := rows.Scan(&key[0], &key[1], &e.mark, &failure, &e.hash); err != nil {
			return nil, err
		}
		if failure != "" {
			if err := json.Unmarshal([]byte(failure), &e.failure); err != nil {
				return nil, fmt.Errorf("failure of %s: %w", key[1], err)
			}
		}
		out[key] = e
	}
	return out, rows.Err()
}

// fail replaces a document by the reason why it cannot be read.
func (ix *index) fail(ctx context.Context, f file, failure document.Failure, hash string) error {
	reason, err := json.Marshal(failure)
	if err != nil {
		return err
	}
	return ix.change(ctx, func(tx *sql.Tx) error {
		if err := drop(ctx, tx, f.dataset, f.path); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO documents (dataset, path, mark, meta, failure, hash) VALUES (?, ?, ?, 'null', ?, ?)`,
			f.dataset, f.path, f.mark, string(reason), hash)
		return err
	})
}

// touch sets the mark of a document whose content did not change.
func (ix *index) touch(ctx context.Context, f file) error {
	return ix.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE documents SET mark = ? WHERE dataset = ? AND path = ?`, f.mark, f.dataset, f.path)
		return err
	})
}

func (ix *index) size(ctx context.Context) (documents, passages int, err error) {
	err = ix.db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM documents), (SELECT COUNT(*) FROM passages)`).Scan(&documents, &passages)
	return documents, passages, err
}

// put replaces a document.
//
// Errors: that of its passages, errIndex.
func (ix *index) put(ctx context.Context, f file, d content) error {
	meta, err := json.Marshal(d.meta)
	if err != nil {
		return err
	}
	return ix.change(ctx, func(tx *sql.Tx) error {
		if err := drop(ctx, tx, f.dataset, f.path); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO documents (dataset, path, mark, meta) VALUES (?, ?, ?, ?)`, f.dataset, f.path, f.mark, string(meta))
		if err != nil {
			return err
		}
		id, err := done.LastInsertId()
		if err != nil {
			return err
		}
		return add(ctx, tx, f, id, d.passages)
	})
}

// add adds the passages of a document. Its name and their headings are words that a passage is
// found by.
func add(ctx context.Context, tx *sql.Tx, f file, document int64, list iter.Seq2[passage, error]) error {
	text, err := tx.PrepareContext(ctx, `INSERT INTO passages (document, number, text, terms) VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer text.Close()
	words, err := tx.PrepareContext(ctx, `INSERT INTO words (rowid, scope, terms) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer words.Close()
	i := 0
	for p, err := range list {
		if err != nil {
			return &passageError{err}
		}
		terms := strings.Join(offline.Words(f.path+"\n"+p.heading+"\n"+p.text), " ")
		done, err := text.ExecContext(ctx, document, i, p.text, terms)
		if err != nil {
			return err
		}
		id, err := done.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := words.ExecContext(ctx, id, scope(f.dataset), terms); err != nil {
			return err
		}
		i++
	}
	return nil
}

// passageError is the error of a document while its passages are read.
type passageError struct{ err error }

func (e *passageError) Error() string { return e.err.Error() }
func (e *passageError) Unwrap() error { return e.err }

// errIndex means that the index failed, not the document.
var errIndex = errors.New("knowledge: index")

// remove forgets a document.
func (ix *index) remove(ctx context.Context, dataset, path string) error {
	return ix.change(ctx, func(tx *sql.Tx) error { return drop(ctx, tx, dataset, path) })
}

func drop(ctx context.Context, tx *sql.Tx, dataset, path string) error {
	const its = `(SELECT id FROM documents WHERE dataset = ?1 AND path = ?2)`
	for _, text := range []string{
		`DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document IN ` + its + `)`,
		`DELETE FROM passages WHERE document IN ` + its,
		`DELETE FROM documents WHERE dataset = ?1 AND path = ?2`,
	} {
		if _, err := tx.ExecContext(ctx, text, dataset, path); err != nil {
			return err
		}
	}
	return nil
}

func (ix *index) change(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := ix.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errIndex, err)
	}
	var content *passageError
	err = f(tx)
	switch {
	case err == nil:
		err = tx.Commit()
	case errors.As(err, &content):
		return errors.Join(err, tx.Rollback())
	default:
		err = errors.Join(err, tx.Rollback())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errIndex, err)
	}
	return nil
}

// scope is a dataset as one word of the index, whatever its name holds.
func scope(dataset string) string { return fmt.Sprintf("d%x", dataset) }
