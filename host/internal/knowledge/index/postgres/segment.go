package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// segment is chunks of a dataset that were written together, as a transaction sees them. Their
// numbers in it are those of its postings.
type segment struct {
	*postings.Chunks
	id     int64
	size   int   // in chunks
	dead   marks // chunks that were removed
	hidden marks // chunks that are not enabled
}

// marks has a mark for each chunk of a segment; nil has none.
type marks []bool

func (m marks) has(local int) bool { return m != nil && m[local] }

// errDamaged means that a segment is not what was written.
var errDamaged = errors.New("index in PostgreSQL is damaged; drop its schema, and it is made again")

// mark returns the marks of chunks by their rows.
func (s *segment) mark(rows []int64) (marks, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	out := make(marks, s.size)
	for _, row := range rows {
		local, ok := slices.BinarySearch(s.Rows, row)
		if !ok {
			return nil, errDamaged
		}
		out[local] = true
	}
	return out, nil
}

// segmentRow is what changes of a segment, and its size.
type segmentRow struct {
	ID           int64
	Size         int
	Dead, Hidden []int64 // rows of chunks
}

const segmentColumns = `id, size, dead, hidden`

// segments completes segments with their chunks.
func (x *Index) segments(ctx context.Context, tx pgx.Tx, list []segmentRow) ([]*segment, error) {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	chunks, err := x.cache.read(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*segment, len(list))
	for i, r := range list {
		s := &segment{Chunks: chunks[r.ID], id: r.ID, size: r.Size}
		if s.Chunks == nil || len(s.Rows) != r.Size {
			return nil, errDamaged
		}
		if s.dead, err = s.mark(r.Dead); err != nil {
			return nil, err
		}
		if s.hidden, err = s.mark(r.Hidden); err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// chunkCache keeps the chunks of segments in memory. They never change, and no id is used again.
type chunkCache struct {
	mu    sync.Mutex
	byID  map[int64]*postings.Chunks
	total int // of chunks in byID
}

// cachedChunks bounds a cache, at 20 bytes each.
const cachedChunks = 2 << 20

// read returns the chunks of segments.
func (c *chunkCache) read(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64]*postings.Chunks, error) {
	out := make(map[int64]*postings.Chunks, len(ids))
	var missing []int64
	c.mu.Lock()
	for _, id := range ids {
		if known := c.byID[id]; known != nil {
			out[id] = known
		} else {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	rows, err := tx.Query(ctx, `SELECT id, data FROM segments WHERE id = ANY($1)`, missing)
	if err != nil {
		return nil, err
	}
	var id int64
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&id, (*rawBytes)(&data)}, func() error {
		chunks, err := postings.DecodeChunks(data)
		if err != nil {
			return errDamaged
		}
		out[id] = chunks
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range missing {
		if out[id] == nil || c.byID[id] != nil {
			continue
		}
		if c.byID == nil || c.total > cachedChunks {
			c.byID, c.total = map[int64]*postings.Chunks{}, 0
		}
		c.byID[id] = out[id]
		c.total += len(out[id].Rows)
	}
	return out, nil
}

// added are the chunks of a change that are in no segment yet.
type added struct {
	postings.Chunks
	hidden []int64 // rows
	size   int     // postings
	lists  map[int64]*postings.List
}

// list is that of a term, by its hash.
func (a *added) list(term int64) *postings.List {
	p := a.lists[term]
	if p == nil {
		if a.lists == nil {
			a.lists = map[int64]*postings.List{}
		}
		p = &postings.List{}
		a.lists[term] = p
	}
	return p
}

// count adds the terms of the next chunk. Its row is added when the database has given it.
func (a *added) count(c *change, document int64, length int, counts []index.TermCount) {
	local := len(a.Docs)
	a.Docs, a.Lengths = append(a.Docs, document), append(a.Lengths, uint32(length))
	for _, t := range counts {
		a.list(c.d.hash(c.counter.Term(t.Index))).Add(local, t.Count)
	}
	a.size += len(counts)
}
