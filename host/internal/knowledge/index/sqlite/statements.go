package sqlite

import (
	"context"
	"database/sql"
)

// Statements that each change of a document runs. They are prepared once for the file.
const (
	selectLastRow  = `SELECT seq FROM sqlite_sequence WHERE name = 'chunks'`
	upsertDocument = `INSERT INTO documents (dataset, key, name, meta, version, access) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET name = excluded.name, meta = excluded.meta, version = excluded.version,
		access = excluded.access
		RETURNING id`
	deleteMetadata = `DELETE FROM metadata WHERE document = ?`
	selectChunks   = `SELECT id FROM chunks WHERE document = ?`
)

// prepareChanges prepares the statements of changes. There must be no open change: it has the only
// connection that writes.
func (x *Index) prepareChanges(ctx context.Context) error {
	if x.prepared != nil {
		return nil
	}
	prepared := map[string]*sql.Stmt{} // closed with the file
	queries := []string{selectLastRow, upsertDocument, deleteMetadata, selectChunks}
	for _, r := range []rows{newChunkRows(), newVectorRows(), newPostingRows()} {
		queries = append(queries, r.statement(1), r.statement(rowsAtOnce))
	}
	for _, query := range queries {
		stmt, err := x.write.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		prepared[query] = stmt
	}
	x.prepared = prepared
	return nil
}

// statement returns a prepared statement, of the file or of this change alone.
func (c *change) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := c.statements[query]; stmt != nil {
		return stmt, nil
	}
	var stmt *sql.Stmt
	if prepared := c.x.prepared[query]; prepared != nil {
		stmt = c.StmtContext(ctx, prepared)
	} else {
		var err error
		if stmt, err = c.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	if c.statements == nil {
		c.statements = map[string]*sql.Stmt{}
	}
	c.statements[query] = stmt // closed with the transaction
	return stmt, nil
}

// exec runs a statement that is prepared once for the change. The driver starts a goroutine for
// each statement that can be canceled, which costs more than an insertion: ctx is checked before.
func (c *change) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stmt, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// scanRow runs a query like exec and reads its only row. Errors: [sql.ErrNoRows].
func (c *change) scanRow(ctx context.Context, query string, to any, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	stmt, err := c.statement(ctx, query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(to)
}
