package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
)

// change is a transaction on a dataset, which is locked against other changes.
type change struct {
	pgx.Tx
	ctx     context.Context
	x       *Index
	d       *dataset
	counter *index.Counter
	queued  pgx.Batch
	bytes   int // of queued
	added   added
	dead    []int64 // rows of removed chunks
	changed bool    // chunks were added or removed
}

// change runs f in a transaction on a dataset.
func (x *Index) change(ctx context.Context, key string, f func(c *change) error) error {
	return index.DatasetError(key, x.tx(ctx, func(tx pgx.Tx) error {
		d, err := lockDataset(ctx, tx, key)
		if err != nil {
			return err
		}
		c := &change{Tx: tx, ctx: ctx, x: x, d: d}
		if c.counter, err = index.NewCounter(d.settings); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
		if err := c.finish(); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE datasets SET dims = $1, chunks = $2, words = $3 WHERE id = $4`,
			d.dims, d.chunks, d.words, d.id)
		return err
	}))
}

// finish brings the segments up to date.
func (c *change) finish() error {
	if err := c.writeSegment(); err != nil {
		return err
	}
	if err := c.bury(); err != nil || !c.changed {
		return err
	}
	return c.merge()
}

// Replace implements [index.Index].
func (x *Index) Replace(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, func(c *change) error { return index.EachDocument(docs, c.replace) })
}

func (c *change) replace(d *index.Document) error {
	meta, err := json.Marshal(d.Meta)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	var id int64
	err = c.QueryRow(c.ctx, `INSERT INTO documents (dataset, key, name, meta, version, access)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (dataset, key) DO UPDATE SET name = excluded.name, meta = excluded.meta, version = excluded.version,
		access = excluded.access
		RETURNING id`, c.d.id, d.ID, storable(d.Name), storable(string(meta)), d.Version,
		string(d.Access)).Scan(&id)
	if err != nil {
		return err
	}
	if err := c.label(id, d.Meta); err != nil {
		return err
	}
	if _, err := c.clear(id, nil); err != nil || d.Chunks == nil {
		return err
	}
	seen := map[string]bool{}
	for chunk, err := range d.Chunks {
		if err != nil {
			return err
		}
		// Equal pieces of one document have one id and are stored once.
		if seen[chunk.ID] {
			continue
		}
		seen[chunk.ID] = true
		if err := c.insert(id, d.Name, &chunk); err != nil {
			return fmt.Errorf("chunk %q: %w", chunk.ID, err)
		}
	}
	return nil
}

// label replaces the metadata values that filters read.
func (c *change) label(document int64, meta map[string]any) error {
	if _, err := c.Exec(c.ctx, `DELETE FROM metadata WHERE document = $1`, document); err != nil {
		return err
	}
	var keys, values []string
	for key, v := range meta {
		list := slices.Clone(index.MetaValues(v))
		slices.Sort(list)
		for _, value := range slices.Compact(list) {
			keys, values = append(keys, storable(key)), append(values, storable(value))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := c.Exec(c.ctx, `INSERT INTO metadata (dataset, document, key, value)
		SELECT $1, $2, * FROM unnest($3::text[], $4::text[])`, c.d.id, document, keys, values)
	return err
}

// clear removes chunks of a document: those with the given keys, or all when it is nil.
func (c *change) clear(document int64, keys []string) (int, error) {
	rows, err := c.Query(c.ctx, `WITH gone AS (
			DELETE FROM chunks WHERE document = $1 AND ($2::text[] IS NULL OR key = ANY($2)) RETURNING id, length
		), gone_vectors AS (
			DELETE FROM vectors v USING gone WHERE v.chunk = gone.id RETURNING 1
		)
		SELECT id, length FROM gone`, document, keys)
	if err != nil {
		return 0, err
	}
	n := 0
	var id, length int64
	_, err = pgx.ForEachRow(rows, []any{&id, &length}, func() error {
		c.dead = append(c.dead, id)
		c.d.words -= length
		n++
		return nil
	})
	c.d.chunks -= int64(n)
	c.changed = c.changed || n > 0
	return n, err
}

// body holds the fields of a chunk without a column.
type body struct {
	Content   string   `json:"content,omitempty"` // when the column cannot hold it
	Text      string   `json:"text,omitempty"`
	Keywords  []string `json:"keywords,omitempty"`
	Questions []string `json:"questions,omitempty"`
}

// storable returns a text without what PostgreSQL refuses.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// insert stores a chunk; its document has none with its id.
func (c *change) insert(document int64, name string, chunk *index.Chunk) error {
	b := body{Text: chunk.Text, Keywords: chunk.Keywords, Questions: chunk.Questions}
	content := storable(chunk.Content)
	if content != chunk.Content {
		b.Content = chunk.Content
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	vector, err := chunk.UnitVector(&c.d.dims)
	if err != nil {
		return err
	}
	hidden := chunk.Disabled
	c.counter.Trim()
	length, counts := c.counter.Count(name, chunk)
	c.added.add(c, document, length, counts, vector)
	c.queue(len(content)+len(text), `WITH chunk AS (
			INSERT INTO chunks (dataset, document, key, content, body, enabled, extra, length)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
		), vector AS (
			INSERT INTO vectors (chunk, dataset, vector)
			SELECT id, $1, $9`+c.x.cast()+` FROM chunk WHERE $9 IS NOT NULL
		)
		SELECT id FROM chunk`,
		c.d.id, document, chunk.ID, content, text, !chunk.Disabled, chunk.Extra, length, c.x.parameter(vector),
	).QueryRow(func(row pgx.Row) error {
		var id int64
		err := row.Scan(&id)
		c.added.Rows = append(c.added.Rows, id)
		if hidden {
			c.added.hidden = append(c.added.hidden, id)
		}
		return err
	})
	c.d.chunks++
	c.changed = true
	c.d.words += int64(length)
	switch {
	case c.added.full():
		return c.writeSegment()
	case c.bytes > queuedBytes:
		return c.flush()
	}
	return nil
}

// queuedBytes bounds the statements of one round trip.
const queuedBytes = 1 << 20

func (c *change) queue(size int, query string, args ...any) *pgx.QueuedQuery {
	c.bytes += size + 4*c.d.dims
	return c.queued.Queue(query, args...)
}

// flush sends the queued statements.
func (c *change) flush() error {
	if c.queued.Len() == 0 {
		return nil
	}
	err := c.SendBatch(c.ctx, &c.queued).Close()
	c.queued, c.bytes = pgx.Batch{}, 0
	return err
}

// cast follows a vector among the parameters of a statement.
func (x *Index) cast() string {
	if x.pgvector {
		return "::text::vector"
	}
	return "::bytea"
}

// parameter returns a vector as an argument of a statement; nil for none.
func (x *Index) parameter(v []float32) any {
	switch {
	case v == nil:
		return nil
	case !x.pgvector:
		return codes.AppendVector(nil, v)
	}
	out := make([]byte, 0, 12*len(v)+2)
	out = append(out, '[')
	for i, f := range v {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(f), 'g', -1, 32)
	}
	return string(append(out, ']'))
}

// Delete implements [index.Index].
func (x *Index) Delete(ctx context.Context, key string, documents ...string) error {
	return x.change(ctx, key, func(c *change) error {
		for _, document := range documents {
			id, _, err := c.known(document)
			if errors.Is(err, index.ErrNoDocument) {
				continue
			}
			if err == nil {
				_, err = c.clear(id, nil)
			}
			if err == nil {
				_, err = c.Exec(ctx, `DELETE FROM metadata WHERE document = $1`, id)
			}
			if err == nil {
				_, err = c.Exec(ctx, `DELETE FROM documents WHERE id = $1`, id)
			}
			if err != nil {
				return fmt.Errorf("document %q: %w", document, err)
			}
		}
		return nil
	})
}

// known finds a stored document.
func (c *change) known(key string) (id int64, name string, err error) {
	const query = `SELECT id, name FROM documents WHERE dataset = $1 AND key = $2`
	err = c.QueryRow(c.ctx, query, c.d.id, key).Scan(&id, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		err = index.UnknownDocument(key)
	}
	return id, name, err
}

// Describe implements [index.Index].
func (x *Index) Describe(ctx context.Context, key string, docs ...index.Document) error {
	return x.change(ctx, key, func(c *change) error {
		for i := range docs {
			d := &docs[i]
			id, _, err := c.known(d.ID)
			if errors.Is(err, index.ErrNoDocument) {
				continue
			}
			var meta []byte
			if err == nil {
				meta, err = json.Marshal(d.Meta)
			}
			if err == nil {
				_, err = c.Exec(ctx, `UPDATE documents SET meta = $1, version = $2, access = $4 WHERE id = $3`,
					storable(string(meta)), d.Version, id, string(d.Access))
			}
			if err == nil {
				err = c.label(id, d.Meta)
			}
			if err != nil {
				return fmt.Errorf("document %q: %w", d.ID, err)
			}
		}
		return nil
	})
}

// Put implements [index.Index].
func (x *Index) Put(ctx context.Context, key, document string, chunks ...index.Chunk) error {
	return x.change(ctx, key, func(c *change) error {
		id, name, err := c.known(document)
		if err != nil {
			return err
		}
		chunks := index.LastOfEach(chunks)
		keys := make([]string, len(chunks))
		for i := range chunks {
			keys[i] = chunks[i].ID
		}
		if _, err := c.clear(id, keys); err != nil {
			return err
		}
		for i := range chunks {
			if err := c.insert(id, name, &chunks[i]); err != nil {
				return fmt.Errorf("chunk %q: %w", chunks[i].ID, err)
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
		id, _, err := c.known(document)
		if err == nil {
			n, err = c.clear(id, chunks)
		}
		return err
	})
	return n, err
}

// Enable implements [index.Index].
func (x *Index) Enable(ctx context.Context, key, document string, on bool, chunks ...string) (n int, err error) {
	if len(chunks) == 0 {
		chunks = nil // all
	}
	err = x.change(ctx, key, func(c *change) error {
		id, _, err := c.known(document)
		if err != nil {
			return err
		}
		changed, err := numbers(c.Query(ctx, `WITH changed AS (
				UPDATE chunks SET enabled = $3
				WHERE document = $1 AND ($2::text[] IS NULL OR key = ANY($2)) RETURNING id
			)
			SELECT id FROM changed`, id, chunks, on))
		if n = len(changed); err != nil {
			return err
		}
		return c.hide(changed, on)
	})
	return n, err
}
