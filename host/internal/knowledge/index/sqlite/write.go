package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Replace implements [index.Index].
func (x *Index) Replace(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, func(c *change) error {
		seen := map[string]bool{}
		for i := range docs {
			d := &docs[i]
			if seen[d.ID] {
				return fmt.Errorf("document %q: it is given twice", d.ID)
			}
			seen[d.ID] = true
			if err := c.replace(ctx, d); err != nil {
				return fmt.Errorf("document %q: %w", d.ID, err)
			}
		}
		return nil
	})
}

func (c *change) replace(ctx context.Context, d *index.Document) error {
	doc, err := c.document(ctx, d)
	if err != nil {
		return err
	}
	if _, err := c.clear(ctx, doc); err != nil {
		return err
	}
	if d.Chunks == nil {
		return nil
	}
	for chunk, err := range d.Chunks {
		if err != nil {
			return err
		}
		if err := c.insert(ctx, doc, d.Name, &chunk); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements [index.Index].
func (x *Index) Delete(ctx context.Context, key string, documents ...string) error {
	return x.change(ctx, key, func(c *change) error {
		rows, err := c.QueryContext(ctx,
			`SELECT id FROM documents WHERE dataset = ? AND key IN (SELECT value FROM json_each(?))`,
			c.d.id, jsonList(documents))
		if err != nil {
			return err
		}
		defer rows.Close()
		ids, err := numbers(rows)
		if err != nil {
			return err
		}
		for _, doc := range ids {
			if _, err := c.clear(ctx, doc); err != nil {
				return err
			}
		}
		for _, statement := range [...]string{
			`DELETE FROM metadata WHERE document IN (SELECT value FROM json_each(?))`,
			`DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))`,
		} {
			if _, err := c.ExecContext(ctx, statement, jsonList(ids)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Describe implements [index.Index].
func (x *Index) Describe(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, func(c *change) error {
		for i := range docs {
			if err := c.describe(ctx, &docs[i]); err != nil {
				return fmt.Errorf("document %q: %w", docs[i].ID, err)
			}
		}
		return nil
	})
}

// Put implements [index.Index].
func (x *Index) Put(ctx context.Context, key, document string, chunks ...index.Chunk) error {
	return x.change(ctx, key, func(c *change) error {
		doc, name, err := c.known(ctx, document)
		if err != nil {
			return err
		}
		for i := range chunks {
			if _, err := c.clear(ctx, doc, chunks[i].ID); err != nil {
				return err
			}
			if err := c.insert(ctx, doc, name, &chunks[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove implements [index.Index].
func (x *Index) Remove(ctx context.Context, key, document string, chunks ...string) (n int, err error) {
	if len(chunks) == 0 {
		return 0, nil
	}
	err = x.change(ctx, key, func(c *change) error {
		doc, _, err := c.known(ctx, document)
		if err == nil {
			n, err = c.clear(ctx, doc, chunks...)
		}
		return err
	})
	return n, err
}

// Enable implements [index.Index].
func (x *Index) Enable(ctx context.Context, key, document string, on bool, chunks ...string) (n int, err error) {
	err = x.change(ctx, key, func(c *change) error {
		doc, _, err := c.known(ctx, document)
		if err != nil {
			return err
		}
		rows, err := chunkRows(ctx, c.Tx, doc, chunks)
		if err != nil {
			return err
		}
		n = len(rows)
		for _, row := range rows {
			c.show(row, on)
		}
		_, err = c.ExecContext(ctx, `UPDATE chunks SET enabled = ? WHERE id IN (SELECT value FROM json_each(?))`,
			on, jsonList(rows))
		return err
	})
	return n, err
}

// insert stores a chunk.
func (c *change) insert(ctx context.Context, doc int64, name string, chunk *index.Chunk) error {
	vector, err := chunk.UnitVector(&c.dims)
	if err != nil {
		return fmt.Errorf("chunk %q: %w", chunk.ID, err)
	}
	res, err := c.exec(ctx,
		`INSERT INTO chunks (dataset, document, key, content, searched, keywords, questions, enabled, extra)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, c.d.id, doc, chunk.ID, chunk.Content, chunk.Text,
		joinLines(chunk.Keywords), joinLines(chunk.Questions), !chunk.Disabled, chunk.Extra)
	if err != nil {
		return err
	}
	// Equal pieces of one document have one id and are stored once.
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	row, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if vector != nil {
		if _, err := c.exec(ctx, `INSERT INTO vectors (id, data) VALUES (?, ?)`, row,
			appendFloats(nil, vector)); err != nil {
			return err
		}
	}
	c.d.appender.add(c.added, row, doc, name, chunk, vector)
	if c.added.tail.size > c.x.flushSize {
		return c.flush(ctx)
	}
	return nil
}

// exec runs a statement that is prepared once for the change. The driver starts a goroutine for
// each statement that can be canceled, which costs more than an insertion: ctx is checked before.
func (c *change) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stmt := c.statements[query]
	if stmt == nil {
		var err error
		if stmt, err = c.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		if c.statements == nil {
			c.statements = map[string]*sql.Stmt{}
		}
		c.statements[query] = stmt // closed with the transaction
	}
	return stmt.ExecContext(ctx, args...)
}

// joinLines stores a list of lines.
func joinLines(list []string) string { return strings.Join(list, "\n") }

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
