package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// segment holds chunks of a dataset that were written together, as a transaction sees them. Its
// postings refer to them by their position.
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

// errDamaged means that a segment differs from the one written.
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

// hit reports whether a chunk of a segment may be one.
func (s *search) hit(seg *segment, local int) bool {
	return !seg.dead.has(local) && s.counts(seg.Docs[local], !seg.hidden.has(local))
}

// segmentRow holds the changing parts of a segment, and its size.
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
	chunks, err := x.chunks.read(ctx, tx, ids, func(_ int64, data []byte) (*postings.Chunks, int, error) {
		chunks, err := postings.DecodeChunks(data)
		if err != nil {
			return nil, 0, errDamaged
		}
		return chunks, len(chunks.Rows), nil
	})
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

// segmentCodes returns the codes of the vectors of segments by their ids.
func (x *Index) segmentCodes(
	ctx context.Context, tx pgx.Tx, d *dataset, list []*segment,
) (map[int64][]codes.Group, error) {
	ids, sizes := make([]int64, len(list)), make(map[int64]int, len(list))
	for i, s := range list {
		ids[i], sizes[s.id] = s.id, s.size
	}
	return x.codes.read(ctx, tx, ids, func(id int64, data []byte) ([]codes.Group, int, error) {
		groups, err := codes.Decode(data, d.dims, sizes[id])
		if err != nil {
			return nil, 0, errDamaged
		}
		return groups, len(data), nil
	})
}

// segmentCache keeps a column of segments in memory, decoded. It never changes, and no id is used
// again.
type segmentCache[T any] struct {
	column string
	most   int // of total

	mu    sync.Mutex
	byID  map[int64]T
	total int // of the weights of byID
}

const (
	// cachedChunks bounds the chunks in memory, at 20 bytes each.
	cachedChunks = 2 << 20
	// cachedCodes bounds the codes in memory, in bytes: 52 for a chunk of 384 dimensions.
	cachedCodes = 96 << 20
)

// read returns the values of segments. decode returns the value of a segment and its weight.
func (c *segmentCache[T]) read(
	ctx context.Context, tx pgx.Tx, ids []int64, decode func(id int64, data []byte) (T, int, error),
) (map[int64]T, error) {
	out := make(map[int64]T, len(ids))
	var missing []int64
	c.mu.Lock()
	for _, id := range ids {
		if known, ok := c.byID[id]; ok {
			out[id] = known
		} else {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	rows, err := tx.Query(ctx, `SELECT id, `+c.column+` FROM segments WHERE id = ANY($1)`, missing)
	if err != nil {
		return nil, err
	}
	var id int64
	var data []byte
	weights := map[int64]int{}
	_, err = pgx.ForEachRow(rows, []any{&id, (*rawBytes)(&data)}, func() error {
		out[id], weights[id], err = decode(id, data)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range missing {
		value, ok := out[id]
		if _, known := c.byID[id]; known || !ok {
			continue
		}
		if c.byID == nil || c.total > c.most {
			c.byID, c.total = map[int64]T{}, 0
		}
		c.byID[id] = value
		c.total += weights[id]
	}
	return out, nil
}

// added are the chunks of a change that are in no segment yet.
type added struct {
	postings.Chunks
	hidden  []int64 // rows
	size    int     // postings
	lists   map[int64]*postings.List
	vectors [][]float32 // of a change; nil for a chunk without
	floats  int         // in vectors
	codes   []codes.Group
}

// list returns the postings of a term, by its hash.
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

// full reports whether a segment is to be written.
func (a *added) full() bool {
	return len(a.Docs) >= segmentChunks || a.size >= segmentPostings || a.floats >= segmentFloats
}

// add adds the next chunk. Its row is added when the database has given it.
func (a *added) add(c *change, document int64, length int, counts []index.TermCount, vector []float32) {
	a.vectors = append(a.vectors, vector)
	a.floats += len(vector)
	local := len(a.Docs)
	a.Docs, a.Lengths = append(a.Docs, document), append(a.Lengths, uint32(length))
	for _, t := range counts {
		a.list(c.d.hash(c.counter.Term(t.Index))).Add(local, t.Count)
	}
	a.size += len(counts)
}
