package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// origins reads the documents of hits.
func (s *search) origins(ctx context.Context, documents []int64) (map[int64]index.Origin, error) {
	rows, err := s.x.read.QueryContext(ctx, `SELECT d.id, d.dataset, d.key, d.name, d.meta FROM json_each(?) j
		CROSS JOIN documents d ON d.id = j.value`, jsonList(slices.Sorted(slices.Values(documents))))
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
		var meta sql.RawBytes
		if err := rows.Scan(&id, &in, &o.Document, &o.Name, &meta); err != nil {
			return 0, o, err
		}
		o.Dataset, o.Language = byID[in].key, byID[in].settings.Settings
		if err := json.Unmarshal(meta, &o.Meta); err != nil {
			return 0, o, fmt.Errorf("document %q: metadata: %w", o.Document, err)
		}
		return id, o, nil
	})
}

const chunkColumns = `c.id, c.key, c.content, c.searched, c.keywords, c.questions, c.enabled, c.extra,
	c.lead`

// scanChunk reads a row of chunkColumns.
func scanChunk(rows *sql.Rows) (row int64, c index.Chunk, err error) {
	var keywords, questions, lead string
	var enabled bool
	err = rows.Scan(&row, &c.ID, &c.Content, &c.Text, &keywords, &questions, &enabled, &c.Extra, &lead)
	addLead(&c, lead)
	c.Keywords, c.Questions, c.Disabled = splitLines(keywords), splitLines(questions), !enabled
	return row, c, err
}

// addLead completes the text of a chunk that repeats its content.
func addLead(c *index.Chunk, lead string) {
	if lead != "" {
		c.Text = lead + c.Content
	}
}

// chunks reads those of a page by their rows.
func (s *search) chunks(ctx context.Context, keys []int64) (map[int64]index.Chunk, error) {
	rows, err := s.x.read.QueryContext(ctx,
		`SELECT `+chunkColumns+` FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value`, jsonList(keys))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return index.ReadNumbered(rows, func() (int64, index.Chunk, error) { return scanChunk(rows) })
}

// documentIDs returns the rows of documents by their keys.
func (x *Index) documentIDs(ctx context.Context, datasets []*dataset, keys []string) ([]int64, error) {
	rows, err := x.read.QueryContext(ctx, `SELECT d.id FROM json_each(?) s CROSS JOIN json_each(?) k
		CROSS JOIN documents d ON d.dataset = s.value AND d.key = k.value`, datasetIDs(datasets), jsonList(keys))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return numbers(rows)
}

func datasetIDs(datasets []*dataset) string {
	ids := make([]int64, len(datasets))
	for i, d := range datasets {
		ids[i] = d.id
	}
	return jsonList(ids)
}

// documentsByValue returns the documents in the search that have each value of a metadata key,
// ascending.
func (s *search) documentsByValue(ctx context.Context, key string) (map[string][]int64, error) {
	out := map[string][]int64{}
	for _, d := range s.datasets {
		of, err := s.valuesIn(ctx, d, key)
		if err != nil {
			return nil, err
		}
		for value, documents := range of {
			documents = slices.DeleteFunc(documents, func(id int64) bool { return !s.opens(d, id) })
			if len(documents) > 0 {
				out[value] = append(out[value], documents...)
			}
		}
	}
	for _, documents := range out {
		slices.Sort(documents)
	}
	return out, nil
}

func (s *search) valuesIn(ctx context.Context, d *dataset, key string) (map[string][]int64, error) {
	rows, err := s.x.read.QueryContext(ctx,
		`SELECT value, document FROM metadata WHERE dataset = ? AND key = ? ORDER BY value, document`, d.id, key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return index.ReadValues(rows)
}

// Metadata implements [index.Index].
func (x *Index) Metadata(ctx context.Context, keys ...string) (map[string]map[string]int, error) {
	datasets, release, err := x.use(ctx, keys...)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := x.read.QueryContext(ctx, `SELECT m.key, m.value, COUNT(*) FROM json_each(?) s CROSS JOIN metadata m
		ON m.dataset = s.value GROUP BY m.key, m.value`, datasetIDs(datasets))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return index.ReadCounts(rows)
}

// Stats implements [index.Index].
func (x *Index) Stats(ctx context.Context, key string) (index.Stats, error) {
	datasets, release, err := x.use(ctx, key)
	if err != nil {
		return index.Stats{}, err
	}
	defer release()
	d := datasets[0]
	st := index.Stats{Chunks: d.live(), Dims: d.dims}
	err = x.read.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM documents WHERE dataset = ?),
		(SELECT COUNT(*) FROM chunks c JOIN vectors v ON v.id = c.id WHERE c.dataset = ?)`, d.id,
		d.id).Scan(&st.Documents, &st.Vectors)
	return st, index.DatasetError(key, err)
}

// Datasets implements [index.Index].
func (x *Index) Datasets(ctx context.Context) (keys []string, err error) {
	rows, err := x.read.QueryContext(ctx, `SELECT key FROM datasets`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// Versions implements [index.Index].
func (x *Index) Versions(ctx context.Context, key string, documents ...string) (map[string]int64, error) {
	datasets, release, err := x.use(ctx, key)
	if err != nil {
		return nil, err
	}
	defer release()
	query, args := `SELECT key, version FROM documents WHERE dataset = ?`, []any{datasets[0].id}
	if len(documents) > 0 {
		query, args = query+` AND key IN (SELECT value FROM json_each(?))`, append(args, jsonList(documents))
	}
	rows, err := x.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, index.DatasetError(key, err)
	}
	defer rows.Close()
	out, err := index.ReadVersions(rows)
	return out, index.DatasetError(key, err)
}

// Chunks implements [index.Index].
func (x *Index) Chunks(ctx context.Context, l *index.List) (*index.Page, error) {
	datasets, release, err := x.use(ctx, l.Dataset)
	if err != nil {
		return nil, err
	}
	defer release()
	ids, err := x.documentIDs(ctx, datasets, []string{l.Document})
	if err != nil {
		return nil, index.DatasetError(l.Dataset, err)
	}
	if len(ids) == 0 {
		return nil, index.DatasetError(l.Dataset, index.UnknownDocument(l.Document))
	}
	where, args := []string{`c.document = ?`}, []any{ids[0]}
	if l.Words != "" {
		where, args = append(where, `instr(lower(c.content), lower(?)) > 0`), append(args, l.Words)
	}
	if l.IDs != nil {
		where, args = append(where, `c.key IN (SELECT value FROM json_each(?))`), append(args, jsonList(l.IDs))
	}
	if l.Enabled != nil {
		where, args = append(where, `c.enabled = ?`), append(args, *l.Enabled)
	}
	from := ` FROM chunks c WHERE ` + strings.Join(where, " AND ")
	page := &index.Page{}
	if err := x.read.QueryRowContext(ctx, `SELECT COUNT(*)`+from, args...).Scan(&page.Total); err != nil {
		return nil, index.DatasetError(l.Dataset, err)
	}
	columns := chunkColumns
	if l.Keys {
		columns = `c.key`
	}
	rows, err := x.read.QueryContext(ctx, `SELECT `+columns+from+` ORDER BY c.id LIMIT ? OFFSET ?`,
		append(args, cmp.Or(l.Limit, index.DefaultLimit), l.Offset)...)
	if err != nil {
		return nil, index.DatasetError(l.Dataset, err)
	}
	defer rows.Close()
	for rows.Next() {
		var c index.Chunk
		if l.Keys {
			err = rows.Scan(&c.ID)
		} else {
			_, c, err = scanChunk(rows)
		}
		if err != nil {
			return nil, index.DatasetError(l.Dataset, err)
		}
		page.Chunks = append(page.Chunks, c)
	}
	return page, rows.Err()
}
