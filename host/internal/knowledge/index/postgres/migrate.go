package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// migrate brings the tables of version 1 up to date. It had a row of terms for each chunk in a
// table words. Hosts of that version fail from here on.
func (x *Index) migrate(ctx context.Context, tx pgx.Tx) error {
	const lengths = `
		ALTER TABLE chunks ADD COLUMN length int NOT NULL DEFAULT 0;
		UPDATE chunks c SET length = w.length FROM words w WHERE w.chunk = c.id;
		ALTER TABLE chunks ALTER COLUMN length DROP DEFAULT;`
	if _, err := tx.Exec(ctx, lengths+segmentSchema); err != nil {
		return fmt.Errorf("from version 1: %w", err)
	}
	datasets, err := numbers(tx.Query(ctx, `SELECT id FROM datasets`))
	for _, id := range datasets {
		c := &change{Tx: tx, ctx: ctx, x: x, d: &dataset{id: id}}
		if err == nil {
			err = c.migrate()
		}
	}
	if err == nil {
		_, err = tx.Exec(ctx, `DROP TABLE words; UPDATE layout SET version = 2`)
	}
	if err != nil {
		return fmt.Errorf("from version 1: %w", err)
	}
	return nil
}

// migrate makes the segments of a dataset.
func (c *change) migrate() error {
	for after := int64(0); ; {
		rows, err := c.Query(c.ctx, `SELECT chunk, document, enabled, length, terms, counts FROM words
			WHERE dataset = $1 AND chunk > $2 ORDER BY chunk LIMIT $3`, c.d.id, after, segmentChunks)
		if err != nil {
			return err
		}
		var a added
		var document int64
		var enabled bool
		var length int
		var terms []int64
		var counts []int32
		_, err = pgx.ForEachRow(rows, []any{&after, &document, &enabled, &length, &terms, &counts}, func() error {
			for i, term := range terms {
				a.list(term).Add(len(a.Rows), int(counts[i]))
			}
			a.Rows, a.Docs = append(a.Rows, after), append(a.Docs, document)
			a.Lengths = append(a.Lengths, uint32(length))
			if !enabled {
				a.hidden = append(a.hidden, after)
			}
			return nil
		})
		if err != nil || len(a.Rows) == 0 {
			return err
		}
		if err := c.storeSegment(&a); err != nil {
			return err
		}
	}
}
