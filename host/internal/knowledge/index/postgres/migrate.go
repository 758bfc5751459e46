package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// migrate brings the tables of earlier versions up to date. Hosts of these versions fail from here
// on. Version 1 had a row of terms for each chunk in a table words, version 2 no codes of vectors,
// and version 3 no access.
func (x *Index) migrate(ctx context.Context, tx pgx.Tx, version int) error {
	const lengths = `
		ALTER TABLE chunks ADD COLUMN length int NOT NULL DEFAULT 0;
		UPDATE chunks c SET length = w.length FROM words w WHERE w.chunk = c.id;
		ALTER TABLE chunks ALTER COLUMN length DROP DEFAULT;`
	tables, rest := lengths+segmentSchema, `DROP TABLE IF EXISTS words;
		ALTER TABLE vectors DROP COLUMN document, DROP COLUMN enabled;`
	switch version {
	case 2:
		tables = `ALTER TABLE segments ADD COLUMN codes bytea NOT NULL DEFAULT ''`
	case 3:
		tables, rest = ``, ``
	}
	_, err := tx.Exec(ctx, tables)
	if err == nil && version < 3 {
		err = x.migrateDatasets(ctx, tx, version)
	}
	if err == nil {
		_, err = tx.Exec(ctx, rest+`ALTER TABLE documents ADD COLUMN access text NOT NULL DEFAULT '';
			UPDATE layout SET version = `+strconv.Itoa(schemaVersion))
	}
	if err != nil {
		return fmt.Errorf("from version %d: %w", version, err)
	}
	return nil
}

func (x *Index) migrateDatasets(ctx context.Context, tx pgx.Tx, version int) error {
	rows, err := tx.Query(ctx, `SELECT id, dims FROM datasets`)
	if err != nil {
		return err
	}
	datasets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d dataset, err error) {
		err = row.Scan(&d.id, &d.dims)
		return d, err
	})
	for i := range datasets {
		c := &change{Tx: tx, ctx: ctx, x: x, d: &datasets[i]}
		if err == nil && version == 1 {
			err = c.migrateWords()
		}
		if err == nil && c.d.dims > 0 {
			err = c.migrateVectors()
		}
	}
	return err
}

// migrateWords makes the segments of a dataset.
func (c *change) migrateWords() error {
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

// migrateVectors makes the codes of the vectors of a dataset.
func (c *change) migrateVectors() error {
	segments, err := numbers(c.Query(c.ctx, `SELECT id FROM segments WHERE dataset = $1`, c.d.id))
	for _, id := range segments {
		if err == nil {
			err = c.migrateSegment(id)
		}
	}
	return err
}

// migrateSegment makes the codes of the vectors of a segment.
func (c *change) migrateSegment(id int64) error {
	var data []byte
	err := c.QueryRow(c.ctx, `SELECT data FROM segments WHERE id = $1`, id).Scan(&data)
	if err != nil {
		return err
	}
	chunks, err := postings.DecodeChunks(data)
	if err != nil {
		return errDamaged
	}
	a := added{Chunks: *chunks}
	if err := c.encodeRest(&a); err != nil {
		return err
	}
	_, err = c.Exec(c.ctx, `UPDATE segments SET codes = $1 WHERE id = $2`, codes.Append([]byte{}, a.codes), id)
	return err
}
