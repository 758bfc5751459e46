package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// origins reads the documents of hits.
func (s *search) origins(documents []int64) (map[int64]index.Origin, error) {
	rows, err := s.Query(s.ctx, `SELECT id, dataset, key, name, meta FROM documents WHERE id = ANY($1)`, documents)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byID := map[int64]*dataset{}
	for _, d := range s.datasets {
		byID[d.id] = d
	}
	return index.ReadNumbered(rows, func() (id int64, o index.Origin, err error) {
		var in int64
		var meta string
		if err := rows.Scan(&id, &in, &o.Document, &o.Name, &meta); err != nil {
			return 0, o, err
		}
		o.Dataset, o.Language = byID[in].key, byID[in].settings.Settings
		if err := json.Unmarshal([]byte(meta), &o.Meta); err != nil {
			return 0, o, fmt.Errorf("document %q: metadata: %w", o.Document, err)
		}
		return id, o, nil
	})
}

const chunkColumns = `id, key, content, body, enabled, extra`

// scanChunk reads a row of chunkColumns.
func scanChunk(row pgx.CollectableRow) (id int64, c index.Chunk, err error) {
	var text []byte
	var enabled bool
	if err := row.Scan(&id, &c.ID, &c.Content, &text, &enabled, &c.Extra); err != nil {
		return 0, c, err
	}
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return 0, c, fmt.Errorf("chunk %q: %w", c.ID, err)
	}
	if b.Content != "" {
		c.Content = b.Content
	}
	c.Text, c.Keywords, c.Questions, c.Disabled = b.Text, b.Keywords, b.Questions, !enabled
	return id, c, nil
}

// chunks reads those of a page.
func (s *search) chunks(keys []int64) (map[int64]index.Chunk, error) {
	rows, err := s.Query(s.ctx, `SELECT `+chunkColumns+` FROM chunks WHERE id = ANY($1)`, keys)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return index.ReadNumbered(rows, func() (int64, index.Chunk, error) { return scanChunk(rows) })
}

// Chunks implements [index.Index].
func (x *Index) Chunks(ctx context.Context, l *index.List) (page *index.Page, err error) {
	err = index.DatasetError(l.Dataset, x.snapshot(ctx, func(tx pgx.Tx) error {
		page, err = list(ctx, tx, l)
		return err
	}))
	return page, err
}

func list(ctx context.Context, tx pgx.Tx, l *index.List) (*index.Page, error) {
	datasets, err := readDatasets(ctx, tx, l.Dataset)
	if err != nil {
		return nil, err
	}
	var document int64
	const known = `SELECT id FROM documents WHERE dataset = $1 AND key = $2`
	err = tx.QueryRow(ctx, known, datasets[0].id, l.Document).Scan(&document)
	if errors.Is(err, pgx.ErrNoRows) {
		err = index.UnknownDocument(l.Document)
	}
	if err != nil {
		return nil, err
	}
	const where = ` FROM chunks WHERE document = $1 AND ($2 = '' OR strpos(lower(content), lower($2)) > 0)
		AND ($3::text[] IS NULL OR key = ANY($3)) AND ($4::boolean IS NULL OR enabled = $4)`
	args := []any{document, storable(l.Words), l.IDs, l.Enabled}
	page := &index.Page{}
	if err := tx.QueryRow(ctx, `SELECT count(*)`+where, args...).Scan(&page.Total); err != nil {
		return nil, err
	}
	columns := chunkColumns
	if l.Keys {
		columns = `key`
	}
	rows, err := tx.Query(ctx, `SELECT `+columns+where+` ORDER BY id LIMIT $5 OFFSET $6`,
		append(args, cmp.Or(l.Limit, index.DefaultLimit), l.Offset)...)
	if err != nil {
		return nil, err
	}
	page.Chunks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (index.Chunk, error) {
		var c index.Chunk
		if l.Keys {
			return c, row.Scan(&c.ID)
		}
		_, c, err := scanChunk(row)
		return c, err
	})
	return page, err
}

// Metadata implements [index.Index].
func (x *Index) Metadata(ctx context.Context, keys ...string) (map[string]map[string]int, error) {
	var out map[string]map[string]int
	err := x.snapshot(ctx, func(tx pgx.Tx) error {
		datasets, err := readDatasets(ctx, tx, keys...)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT key, value, count(*) FROM metadata
			WHERE dataset = ANY($1) GROUP BY key, value`, ids(datasets))
		if err != nil {
			return err
		}
		defer rows.Close()
		out, err = index.ReadCounts(rows)
		return err
	})
	return out, err
}

// Stats implements [index.Index].
func (x *Index) Stats(ctx context.Context, key string) (st index.Stats, err error) {
	err = index.DatasetError(key, x.snapshot(ctx, func(tx pgx.Tx) error {
		datasets, err := readDatasets(ctx, tx, key)
		if err != nil {
			return err
		}
		d := datasets[0]
		st.Chunks, st.Dims = int(d.chunks), d.dims
		return tx.QueryRow(ctx, `SELECT (SELECT count(*) FROM documents WHERE dataset = $1),
			(SELECT count(*) FROM vectors WHERE dataset = $1)`, d.id).Scan(&st.Documents, &st.Vectors)
	}))
	return st, err
}

// Datasets implements [index.Index].
func (x *Index) Datasets(ctx context.Context) ([]string, error) {
	rows, err := x.pool.Query(ctx, `SELECT key FROM datasets`)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Versions implements [index.Index].
func (x *Index) Versions(ctx context.Context, key string, documents ...string) (map[string]int64, error) {
	var out map[string]int64
	if len(documents) == 0 {
		documents = nil // all
	}
	err := index.DatasetError(key, x.snapshot(ctx, func(tx pgx.Tx) error {
		datasets, err := readDatasets(ctx, tx, key)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT key, version FROM documents
			WHERE dataset = $1 AND ($2::text[] IS NULL OR key = ANY($2))`, datasets[0].id, documents)
		if err != nil {
			return err
		}
		defer rows.Close()
		out, err = index.ReadVersions(rows)
		return err
	}))
	return out, err
}
