package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Replace implements [index.Index].
func (x *Index) Replace(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, func(c *change) error {
		return index.EachDocument(docs, func(d *index.Document) error { return c.replace(ctx, d) })
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
	// Equal pieces of one document have one id and are stored once.
	seen := map[string]bool{}
	for chunk, err := range d.Chunks {
		if err != nil {
			return err
		}
		if seen[chunk.ID] {
			continue
		}
		seen[chunk.ID] = true
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
			c.access[doc] = ""
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
			if err := c.insertRows(ctx); err != nil { // the next chunk may replace this one
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
		rows, err := c.rowsOf(ctx, doc, chunks)
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

// joinLines stores a list of lines.
func joinLines(list []string) string { return strings.Join(list, "\n") }

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
