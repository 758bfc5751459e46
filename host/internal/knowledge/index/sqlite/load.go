package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
)

// load returns a dataset, which is read into memory at its first use. The caller holds x.writing.
func (x *Index) load(ctx context.Context, key string) (*dataset, error) {
	if d := x.loaded[key]; d != nil { // only changed under x.writing
		return d, nil
	}
	d := &dataset{key: key, tail: newTail(), access: map[int64]access.List{}}
	var settings string
	err := x.write.QueryRowContext(ctx, `SELECT id, settings, dims FROM datasets WHERE key = ?`, key).Scan(&d.id,
		&settings, &d.dims)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w %q", index.ErrNoDataset, key)
	}
	if err == nil {
		err = json.Unmarshal([]byte(settings), &d.settings)
	}
	if err == nil {
		err = x.loadSegments(ctx, d)
	}
	if err == nil {
		err = x.loadTail(ctx, d)
	}
	if err == nil {
		err = x.loadHidden(ctx, d)
	}
	if err == nil {
		err = x.loadAccess(ctx, d)
	}
	if err != nil {
		return nil, index.DatasetError(key, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded[key] = d
	return d, nil
}

func (x *Index) loadSegments(ctx context.Context, d *dataset) error {
	rows, err := x.write.QueryContext(ctx, `SELECT s.id, s.data, c.data, x.data FROM segments s
		LEFT JOIN codes c ON c.segment = s.id LEFT JOIN dead x ON x.segment = s.id
		WHERE s.dataset = ? ORDER BY s.first`, d.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var data, vectors, dead sql.RawBytes
		if err := rows.Scan(&id, &data, &vectors, &dead); err != nil {
			return err
		}
		s, err := decodeSegment(data)
		if err != nil {
			return fmt.Errorf("segment %d: %w", id, err)
		}
		s.id, s.dead = id, decodeBitmap(dead)
		for i := range s.rows.count {
			if s.dead.has(i) {
				s.kill(i)
			}
		}
		if s.codes, err = codes.Decode(vectors, d.dims, s.rows.count); err != nil {
			return fmt.Errorf("segment %d: vectors: %w", id, errCorrupt)
		}
		d.segments = append(d.segments, s)
	}
	return rows.Err()
}

// loadTail makes the postings of the chunks that are in no segment yet.
func (x *Index) loadTail(ctx context.Context, d *dataset) error {
	var flushed int64
	if n := len(d.segments); n > 0 {
		last := d.segments[n-1]
		flushed = last.rows.last()
	}
	a, err := x.appender(d.settings)
	if err != nil {
		return err
	}
	a.trim()
	added := newAdded()
	defer a.release(added)
	rows, err := x.write.QueryContext(ctx,
		`SELECT c.id, c.document, d.name, c.content, c.searched, c.lead, c.keywords, c.questions, c.enabled,
		v.data
		FROM chunks c JOIN documents d ON d.id = c.document LEFT JOIN vectors v ON v.id = c.id
		WHERE c.dataset = ? AND c.id > ? ORDER BY c.id`, d.id, flushed)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row, doc int64
		var name, lead, keywords, questions string
		var chunk index.Chunk
		var enabled bool
		var vector sql.RawBytes
		if err := rows.Scan(&row, &doc, &name, &chunk.Content, &chunk.Text, &lead, &keywords, &questions,
			&enabled, &vector); err != nil {
			return err
		}
		addLead(&chunk, lead)
		chunk.Keywords, chunk.Questions = splitLines(keywords), splitLines(questions)
		var v []float32
		if vector != nil {
			v = codes.DecodeVector(vector)
		}
		chunk.Disabled = !enabled
		a.add(added, row, doc, name, &chunk, v)
	}
	a.extend(d.tail, added)
	return rows.Err()
}

// loadHidden marks the chunks of segments that are not enabled.
func (x *Index) loadHidden(ctx context.Context, d *dataset) error {
	rows, err := x.write.QueryContext(ctx, `SELECT id FROM chunks WHERE dataset = ? AND enabled = 0`, d.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	ids, err := numbers(rows)
	if err != nil {
		return err
	}
	for _, row := range ids {
		for _, s := range d.segments {
			if local := s.local(row); local >= 0 {
				s.hidden = s.hidden.with(local)
			}
		}
	}
	return nil
}

// loadAccess reads the lists of documents.
func (x *Index) loadAccess(ctx context.Context, d *dataset) error {
	rows, err := x.write.QueryContext(ctx, `SELECT id, access FROM documents WHERE dataset = ? AND access <> ''`, d.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var list access.List
		if err := rows.Scan(&id, &list); err != nil {
			return err
		}
		d.access[id] = list
	}
	return rows.Err()
}

// use returns datasets for reading. The caller calls release when it has read them and their rows
// in the file; no change becomes visible before.
func (x *Index) use(ctx context.Context, keys ...string) (_ []*dataset, release func(), err error) {
	for _, key := range keys {
		x.mu.RLock()
		known := x.loaded[key] != nil
		x.mu.RUnlock()
		if known {
			continue
		}
		x.writing.Lock()
		_, err := x.load(ctx, key)
		x.writing.Unlock()
		if err != nil {
			return nil, nil, err
		}
	}
	x.mu.RLock()
	out := make([]*dataset, len(keys))
	for i, key := range keys {
		if out[i] = x.loaded[key]; out[i] == nil { // dropped concurrently
			x.mu.RUnlock()
			return nil, nil, fmt.Errorf("%w %q", index.ErrNoDataset, key)
		}
	}
	return out, x.mu.RUnlock, nil
}
